package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// maxDepth bounds sequences of sequences.
const maxDepth = 8

// errNotImplemented refuses a file that needs what this package lacks.
var errNotImplemented = errors.New("not implemented; use the server's own tokenizer")

// decodeStrict reads one JSON value and refuses keys that v does not know.
func decodeStrict(raw json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// kindOf reads the type of a part of the pipeline.
func kindOf(raw json.RawMessage, depth int) (string, error) {
	if depth > maxDepth {
		return "", fmt.Errorf("sequences more than %d deep", maxDepth)
	}
	var f struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return "", err
	}
	if f.Type == "" {
		return "", fmt.Errorf("no type in %.80s", raw)
	}
	return f.Type, nil
}

// partsOf reads a part of the pipeline, and of a sequence the parts in their order, those
// of sequences within it included; null has none. list is the key of a sequence's parts.
func partsOf[T any](
	raw json.RawMessage, list string, depth int, read func(kind string, raw json.RawMessage) (T, error),
) ([]T, error) {
	if isNull(raw) {
		return nil, nil
	}
	kind, err := kindOf(raw, depth)
	if err != nil {
		return nil, err
	}
	if kind != "Sequence" {
		part, err := read(kind, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		return []T{part}, nil
	}

	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if key != "type" && key != list {
			return nil, fmt.Errorf("unknown field %q", key)
		}
	}
	var parts []json.RawMessage
	if own := members[list]; own != nil {
		if err := json.Unmarshal(own, &parts); err != nil {
			return nil, err
		}
	}

	var all []T
	for _, part := range parts {
		some, err := partsOf(part, list, depth+1, read)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// onlyType refuses any key but the type.
func onlyType(raw json.RawMessage) error {
	var f struct {
		Type string `json:"type"`
	}
	return decodeStrict(raw, &f)
}

// maxGrowth is how many times longer the Replace rules of a file may make a text
// in all. Real ones put three bytes in the place of a blank.
const maxGrowth = 64

// prependFree is how many bytes a rule may prepend to each text as if they were none.
const prependFree = 1 << 10

// checkGrowth refuses a normalizer or decoder whose Replace rules multiply a text:
// a file of a few lines could ask for any amount of memory.
func checkGrowth(raw json.RawMessage) error {
	if growth := growthOf(raw, 0); growth > maxGrowth {
		return fmt.Errorf("its Replace rules make a text up to %.3g times longer; %d times is the limit", growth,
			maxGrowth)
	}
	return nil
}

// growthOf is the factor by which the Replace rules in raw may lengthen a text, one
// after the other. What it cannot read, others refuse.
func growthOf(raw json.RawMessage, depth int) float64 {
	var f struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Prepend string `json:"prepend"`
		Pattern struct {
			String string `json:"String"`
		} `json:"pattern"`
		Normalizers []json.RawMessage `json:"normalizers"`
		Decoders    []json.RawMessage `json:"decoders"`
	}
	if depth > maxDepth || json.Unmarshal(raw, &f) != nil {
		return 1
	}

	growth := 1 + float64(len(f.Prepend)/prependFree)
	if f.Type == "Replace" {
		growth = max(1, float64(len(f.Content))/float64(max(1, len(f.Pattern.String))))
		if f.Pattern.String == "" { // a Regex may match nothing, between any two characters
			growth = float64(len(f.Content)) + 1
		}
	}
	for _, part := range append(f.Normalizers, f.Decoders...) {
		growth *= growthOf(part, depth+1)
	}

	return growth
}
