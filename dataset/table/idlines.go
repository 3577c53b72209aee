package table

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// idLines is a file with a prompt a line: {"tok_inputs": [1, 2, 3]}, or the
// bare list. Only places are kept.
type idLines struct {
	file   io.ReaderAt
	closer io.Closer
	field  string
	places []Span
}

func openIDLines(ctx context.Context, file *os.File, field string) (IDs, error) {
	t := &idLines{file: file, closer: file, field: field}
	err := EachLine(ctx, file, func(_ int, at Span, _ []byte) error {
		t.places = append(t.places, at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *idLines) Rows() int    { return len(t.places) }
func (t *idLines) Close() error { return t.closer.Close() }

func (t *idLines) IDs(ctx context.Context, picked []int) ([][]int, error) {
	out := make([][]int, len(picked))
	for i, row := range picked {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := t.places[row].Read(t.file)
		if err != nil {
			return nil, err
		}
		if out[i], err = parseIDs(bytes.TrimSpace(line), t.field); err != nil {
			return nil, fmt.Errorf("row %d: %w", row+1, err)
		}
	}

	return out, nil
}

// parseIDs reads one line.
func parseIDs(line []byte, field string) ([]int, error) {
	if !bytes.HasPrefix(line, []byte("[")) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, JSONError(err)
		}
		list, ok := row[field]
		if !ok {
			return nil, fmt.Errorf("no %q; it has %q", field, slices.Sorted(maps.Keys(row)))
		}
		line = list
	}

	var items []*int // a null in the list would read as 0
	if err := json.Unmarshal(line, &items); err != nil {
		return nil, JSONError(err)
	}

	ids := make([]int, len(items))
	for i, item := range items {
		if item == nil {
			return nil, fmt.Errorf("token id %d is null", i+1)
		}
		ids[i] = *item
	}

	return ids, nil
}
