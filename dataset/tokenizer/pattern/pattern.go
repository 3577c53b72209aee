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

// Literal is a pattern without meaning of its own.
type Literal string

// Spans finds the places of the literal.
func (l Literal) Spans(text string) ([]Span, error) {
	var out []Span
	done := 0
	for {
		at := strings.Index(text[done:], string(l))
		if at < 0 {
			break
		}
		start, end := done+at, done+at+len(l)
		if start > done {
			out = append(out, Span{done, start, false})
		}
		out = append(out, Span{start, end, true})
		done = end
	}

	if done < len(text) {
		out = append(out, Span{done, len(text), false})
	}

	return out, nil
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
	out := make([]Span, 0, len(text)/4+1)
	atRune, atByte, done := 0, 0, 0
	byteAt := func(runeIndex int) int {
		for ; atRune < runeIndex; atRune++ {
			atByte += utf8.RuneLen(runes[atRune])
		}
		return atByte
	}

	err := r.re.FindRunesMatches(runes, 0, func(m regexp2.MatchView) bool {
		index, length, _ := m.GroupRange(0)
		start := byteAt(index)
		end := byteAt(index + length)
		if start > done {
			out = append(out, Span{done, start, false})
		}
		out = append(out, Span{start, end, true})
		done = end
		return true
	})
	if err != nil {
		// The library's words repeat the whole text.
		return nil, fmt.Errorf("regex %q: no match after %v in a text of %d bytes, at byte %d; the pattern "+
			"backtracks without end on it", r.re, r.re.MatchTimeout, len(text), done)
	}

	if done < len(text) {
		out = append(out, Span{done, len(text), false})
	}

	return out, nil
}

// Each is a pattern that matches single characters.
type Each func(rune) bool

// Spans finds the characters.
func (f Each) Spans(text string) ([]Span, error) {
	var out []Span
	done := 0
	for at, r := range text {
		if !f(r) {
			continue
		}
		if at > done {
			out = append(out, Span{done, at, false})
		}
		done = at + utf8.RuneLen(r)
		out = append(out, Span{at, done, true})
	}

	if done < len(text) {
		out = append(out, Span{done, len(text), false})
	}

	return out, nil
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
