package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// frame is what a post-processor puts around the ids of one sequence.
type frame struct{ before, after []int }

// newFrame reads a post-processor; null puts nothing. Those of a sequence put theirs
// around what the ones before have put.
func newFrame(raw json.RawMessage) (frame, error) {
	inner, err := partsOf(raw, "processors", 0, simpleFrame)
	var whole frame
	for _, f := range inner {
		whole.before = append(f.before, whole.before...)
		whole.after = append(whole.after, f.after...)
	}
	return whole, err
}

func simpleFrame(kind string, raw json.RawMessage) (frame, error) {
	switch kind {
	case "ByteLevel": // moves offsets, never ids
		_, err := newByteLevel(raw)
		return frame{}, err
	case "TemplateProcessing":
		return newTemplate(raw)
	}
	return frame{}, errNotImplemented
}

// templatePart is {"SpecialToken": {...}} or {"Sequence": {...}}.
type templatePart struct {
	SpecialToken, Sequence *struct {
		ID     string `json:"id"`
		TypeID int    `json:"type_id"`
	}
}

func newTemplate(raw json.RawMessage) (frame, error) {
	var f struct {
		Type    string          `json:"type"`
		Single  []templatePart  `json:"single"`
		Pair    json.RawMessage `json:"pair"` // for two sequences; here is one
		Special map[string]struct {
			ID     string   `json:"id"`
			IDs    []int    `json:"ids"`
			Tokens []string `json:"tokens"`
		} `json:"special_tokens"`
	}

	if err := decodeStrict(raw, &f); err != nil {
		return frame{}, err
	}

	var out frame
	seen := false
	for _, part := range f.Single {
		switch {
		case part.Sequence != nil && part.SpecialToken == nil && part.Sequence.ID == "A" && !seen:
			seen = true
		case part.SpecialToken != nil && part.Sequence == nil:
			special, known := f.Special[part.SpecialToken.ID]
			if !known {
				return frame{}, fmt.Errorf("special token %q has no ids", part.SpecialToken.ID)
			}
			if seen {
				out.after = append(out.after, special.IDs...)
			} else {
				out.before = append(out.before, special.IDs...)
			}
		default:
			return frame{}, errors.New("single: want special tokens and the sequence A once")
		}
	}

	if !seen {
		return frame{}, errors.New("single: the sequence A is missing")
	}

	return out, nil
}
