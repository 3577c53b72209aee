package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// span is a part of a text in bytes.
type span struct {
	start, end int
	match      bool // found by the pattern, not between two findings
}

// pattern finds its matches in a text.
type pattern interface {
	// spans covers text from start to end without gaps.
	spans(text string) ([]span, error)
}

// patternJSON is {"String": ...} or {"Regex": ...}.
type patternJSON struct {
	String *string
	Regex  *string
}

func newPattern(raw json.RawMessage) (pattern, error) {
	var p patternJSON
	if err := decodeStrict(raw, &p); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	switch {
	case p.String != nil && p.Regex == nil && *p.String != "":
		return literal(*p.String), nil
	case p.Regex != nil && p.String == nil && *p.Regex != "":
		return newRegex(*p.Regex)
	}
	return nil, fmt.Errorf("pattern %s: want a String or a Regex that is not empty", raw)
}

// literal is a pattern without meaning of its own.
type literal string

func (l literal) spans(text string) ([]span, error) {
	var out []span
	done := 0
	for {
		at := strings.Index(text[done:], string(l))
		if at < 0 {
			break
		}
		start, end := done+at, done+at+len(l)
		if start > done {
			out = append(out, span{done, start, false})
		}
		out = append(out, span{start, end, true})
		done = end
	}

	if done < len(text) {
		out = append(out, span{done, len(text), false})
	}

	return out, nil
}

// regex is a regular expression with look-ahead.
type regex struct{ re *regexp2.Regexp }

// matchLimit is how long the search for one match may take. No tokenizer's own pattern
// comes near it; one made to backtrack without end does.
const matchLimit = 5 * time.Second

func newRegex(expr string) (*regex, error) {
	if err := checkExpression(expr); err != nil {
		return nil, fmt.Errorf("regex %q: %w", expr, err)
	}
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("regex %q: %w", expr, err)
	}
	re.MatchTimeout = matchLimit
	return &regex{re}, nil
}

func (r *regex) spans(text string) ([]span, error) {
	runes := []rune(text)
	out := make([]span, 0, len(text)/4+1)
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
			out = append(out, span{done, start, false})
		}
		out = append(out, span{start, end, true})
		done = end
		return true
	})
	if err != nil {
		// The library's words repeat the whole text.
		return nil, fmt.Errorf("regex %q: no match after %v in a text of %d bytes, at byte %d; the pattern "+
			"backtracks without end on it", r.re, r.re.MatchTimeout, len(text), done)
	}

	if done < len(text) {
		out = append(out, span{done, len(text), false})
	}

	return out, nil
}

// each is a pattern that matches single characters.
type each func(rune) bool

func (f each) spans(text string) ([]span, error) {
	var out []span
	done := 0
	for at, r := range text {
		if !f(r) {
			continue
		}
		if at > done {
			out = append(out, span{done, at, false})
		}
		done = at + utf8.RuneLen(r)
		out = append(out, span{at, done, true})
	}

	if done < len(text) {
		out = append(out, span{done, len(text), false})
	}

	return out, nil
}

// replaceAll puts content in place of each match.
func replaceAll(p pattern, text, content string) (string, error) {
	if l, ok := p.(literal); ok {
		return strings.ReplaceAll(text, string(l), content), nil
	}

	spans, err := p.spans(text)
	if err != nil {
		return "", err
	}

	var out strings.Builder
	for _, s := range spans {
		if s.match {
			out.WriteString(content)
		} else {
			out.WriteString(text[s.start:s.end])
		}
	}

	return out.String(), nil
}
