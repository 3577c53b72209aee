package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
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
	pattern   pattern
	behaviour behaviour
	invert    bool // what lies between the matches is taken as the matches
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
	spans, err := s.pattern.spans(p.text)
	if err != nil {
		return nil, err
	}
	if s.invert {
		for i := range spans {
			spans[i].match = !spans[i].match
		}
	}

	for _, sp := range s.behaviour.apply(spans) {
		if sp.start < sp.end {
			dst = append(dst, piece{text: p.text[sp.start:sp.end], first: p.first && sp.start == 0})
		}
	}

	return dst, nil
}

// apply says which parts remain, in order.
func (b behaviour) apply(spans []span) []span {
	switch b {
	case removed:
		return slices.DeleteFunc(spans, func(s span) bool { return s.match })
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
func join(spans []span, attach func(match, previous bool) bool) []span {
	var out []span
	previous := false
	for _, s := range spans {
		if n := len(out); n > 0 && attach(s.match, previous) {
			out[n-1].start = min(out[n-1].start, s.start)
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
		previous = s.match
	}
	return out
}
