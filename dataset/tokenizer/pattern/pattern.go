// Package pattern finds the places in a text at which a tokenizer cuts it.
//
// What goes in: a literal, a predicate of characters, or a regular expression. What
// comes out: spans that cover a text without gaps. It refuses expressions that
// engines read in different ways.
package pattern

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Span is a part of a text in bytes.
type Span struct {
	Start, End int
	Match      bool // found by the pattern, not between two findings
}

// Pattern finds its matches in a text.
type Pattern interface {
	// Spans covers text from start to end without gaps.
	Spans(text string) ([]Span, error)
}

// findings are the spans of a text up to the last match.
type findings struct {
	spans []Span
	done  int // end of the last match
}

// add adds a match, and what lies between it and the one before.
func (f *findings) add(start, end int) {
	if start > f.done {
		f.spans = append(f.spans, Span{f.done, start, false})
	}
	f.spans = append(f.spans, Span{start, end, true})
	f.done = end
}

// upTo are the spans with what follows the last match.
func (f *findings) upTo(end int) []Span {
	if f.done < end {
		f.spans = append(f.spans, Span{f.done, end, false})
	}
	return f.spans
}

// Literal is a pattern without meaning of its own.
type Literal string

// Spans finds the places of the literal.
func (l Literal) Spans(text string) ([]Span, error) {
	var found findings
	for {
		at := strings.Index(text[found.done:], string(l))
		if at < 0 {
			break
		}
		start := found.done + at
		found.add(start, start+len(l))
	}

	return found.upTo(len(text)), nil
}

// Regex is a regular expression with look-ahead.
type Regex struct{ re *regexp2.Regexp }

// matchLimit is how long the search for one match may take. No tokenizer's own pattern
// comes near it; one made to backtrack without end does.
const matchLimit = 5 * time.Second

// NewRegex compiles an expression of the part of the language that checkExpression
// accepts.
func NewRegex(expr string) (*Regex, error) {
	if err := checkExpression(expr); err != nil {
		return nil, fmt.Errorf("regex %q: %w", expr, err)
	}
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("regex %q: %w", expr, err)
	}
	re.MatchTimeout = matchLimit
	return &Regex{re}, nil
}

// Spans finds the matches of the expression.
func (r *Regex) Spans(text string) ([]Span, error) {
	runes := []rune(text)
	found := findings{spans: make([]Span, 0, len(text)/4+1)}
	atRune, atByte := 0, 0
	byteAt := func(runeIndex int) int {
		for ; atRune < runeIndex; atRune++ {
			atByte += utf8.RuneLen(runes[atRune])
		}
		return atByte
	}

	err := r.re.FindRunesMatches(runes, 0, func(m regexp2.MatchView) bool {
		index, length, _ := m.GroupRange(0)
		start := byteAt(index)
		found.add(start, byteAt(index+length))
		return true
	})
	if err != nil {
		// The library's words repeat the whole text.
		return nil, fmt.Errorf("regex %q: no match after %v in a text of %d bytes, at byte %d; the pattern "+
			"backtracks without end on it", r.re, r.re.MatchTimeout, len(text), found.done)
	}

	return found.upTo(len(text)), nil
}

// Each is a pattern that matches single characters.
type Each func(rune) bool

// Spans finds the characters.
func (f Each) Spans(text string) ([]Span, error) {
	var found findings
	for at, r := range text {
		if f(r) {
			found.add(at, at+utf8.RuneLen(r))
		}
	}
	return found.upTo(len(text)), nil
}

// ReplaceAll puts content in place of each match.
func ReplaceAll(p Pattern, text, content string) (string, error) {
	if l, ok := p.(Literal); ok {
		return strings.ReplaceAll(text, string(l), content), nil
	}

	spans, err := p.Spans(text)
	if err != nil {
		return "", err
	}

	var out strings.Builder
	for _, s := range spans {
		if s.Match {
			out.WriteString(content)
		} else {
			out.WriteString(text[s.Start:s.End])
		}
	}

	return out.String(), nil
}
