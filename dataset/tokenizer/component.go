package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

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

// onlyType refuses any key but the type.
func onlyType(raw json.RawMessage) error {
	var f struct {
		Type string `json:"type"`
	}
	return decodeStrict(raw, &f)
}
