package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

// behaviour says what becomes of the matches of a split.
type behaviour string

const (
	removed            behaviour = "Removed"
	isolated           behaviour = "Isolated"
	mergedWithPrevious behaviour = "MergedWithPrevious"
	mergedWithNext     behaviour = "MergedWithNext"
	contiguous         behaviour = "Contiguous"
)

// patternSplit cuts where a pattern matches.
type patternSplit struct {
	pattern   pattern.Pattern
	behaviour behaviour
	invert    bool // what is between the matches is taken as the matches
}

func newPatternSplit(raw json.RawMessage) (splitter, error) {
	var f struct {
		Type      string          `json:"type"`
		Pattern   json.RawMessage `json:"pattern"`
		Behaviour behaviour       `json:"behavior"`
		Invert    bool            `json:"invert"`
	}

	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}

	switch f.Behaviour {
	case removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
	default:
		return nil, fmt.Errorf("behavior %q is not implemented", f.Behaviour)
	}

	p, err := newPattern(f.Pattern)
	if err != nil {
		return nil, err
	}

	return patternSplit{pattern: p, behaviour: f.Behaviour, invert: f.Invert}, nil
}

func (s patternSplit) split(dst []piece, p piece) ([]piece, error) {
	spans, err := s.pattern.Spans(p.text)
	if err != nil {
		return nil, err
	}
	if s.invert {
		for i := range spans {
			spans[i].Match = !spans[i].Match
		}
	}

	for _, sp := range s.behaviour.apply(spans) {
		if sp.Start < sp.End {
			dst = append(dst, piece{text: p.text[sp.Start:sp.End], first: p.first && sp.Start == 0})
		}
	}

	return dst, nil
}

// apply says which parts remain, in order.
func (b behaviour) apply(spans []pattern.Span) []pattern.Span {
	switch b {
	case removed:
		return slices.DeleteFunc(spans, func(s pattern.Span) bool { return s.Match })
	case contiguous:
		return join(spans, func(match, previous bool) bool { return match == previous })
	case mergedWithPrevious:
		return join(spans, func(match, previous bool) bool { return match && !previous })
	case mergedWithNext:
		slices.Reverse(spans)
		joined := join(spans, func(match, previous bool) bool { return match && !previous })
		slices.Reverse(joined)
		return joined
	case isolated:
	}

	return spans
}

// join takes a span together with the one before it in the list where attach
// says so. A list begins as if a span between matches came before.
func join(spans []pattern.Span, attach func(match, previous bool) bool) []pattern.Span {
	var out []pattern.Span
	previous := false
	for _, s := range spans {
		if n := len(out); n > 0 && attach(s.Match, previous) {
			out[n-1].Start = min(out[n-1].Start, s.Start)
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
		previous = s.Match
	}
	return out
}

// patternJSON is {"String": ...} or {"Regex": ...}.
type patternJSON struct {
	String *string
	Regex  *string
}

func newPattern(raw json.RawMessage) (pattern.Pattern, error) {
	var p patternJSON
	if err := decodeStrict(raw, &p); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	switch {
	case p.String != nil && p.Regex == nil && *p.String != "":
		return pattern.Literal(*p.String), nil
	case p.Regex != nil && p.String == nil && *p.Regex != "":
		return pattern.NewRegex(*p.Regex)
	}
	return nil, fmt.Errorf("pattern %s: want a String or a Regex that is not empty", raw)
}
