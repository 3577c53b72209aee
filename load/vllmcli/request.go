package vllmcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/load/spec"
)

// HeaderMap are the headers of --header.
func (r *RequestFlags) HeaderMap() (map[string]string, error) {
	headers, err := pairs("header", r.Headers)
	if err != nil {
		return nil, err
	}
	if headers, err = spec.CanonicalHeaders(headers); err != nil {
		return nil, fmt.Errorf("--header: %w", err)
	}
	return headers, nil
}

// MetadataPairs are the fields of --metadata, in order.
func (f *Flags) MetadataPairs() ([][2]string, error) {
	var out [][2]string
	for _, text := range f.Metadata {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--metadata %q: want KEY=VALUE", text)
		}
		out = append(out, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return out, nil
}

func pairs(flag string, texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("--%s %q: want KEY=VALUE", flag, text)
		}
		name = strings.TrimSpace(name)
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("--%s %q: %s is given twice", flag, text, name)
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

// Extra are the body fields of --extra-body, numbers as they are written.
func (r *RequestFlags) Extra() (map[string]any, error) {
	if r.ExtraBody == "" {
		return nil, nil
	}
	var fields map[string]any
	if err := decodeObject(r.ExtraBody, &fields); err != nil {
		return nil, fmt.Errorf("--extra-body %q: %w", r.ExtraBody, err)
	}
	return fields, nil
}

// decodeObject reads one JSON object, numbers as they are written.
func decodeObject(text string, into *map[string]any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("want a JSON object: %w", err)
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); decoder.More() || len(bytes.TrimSpace(rest)) > 0 {
		return fmt.Errorf("text follows the JSON object: %q", bytes.TrimSpace(rest))
	}
	return nil
}
