package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
)

// jsonTable is a file of JSON lines or one JSON array of objects. Only places
// are kept.
type jsonTable struct {
	file   io.ReaderAt
	closer io.Closer
	places []Span
	names  []string
}

func openJSONTable(ctx context.Context, file *os.File) (Chats, error) {
	t, err := indexJSON(ctx, file)
	if err != nil {
		return nil, err
	}
	t.closer = file
	return t, nil
}

// readerAtReader is a file as this package reads it.
type readerAtReader interface {
	io.Reader
	io.ReaderAt
}

// indexJSON finds the rows and the columns of the first one.
func indexJSON(ctx context.Context, file readerAtReader) (*jsonTable, error) {
	begin, err := Begin(file)
	if err != nil {
		return nil, err
	}

	text := io.NewSectionReader(file, begin, math.MaxInt64-begin)
	t := &jsonTable{file: text}
	var first [1]byte
	if _, err := text.ReadAt(first[:], 0); err != nil {
		return nil, errors.New("the file is empty")
	}
	if first[0] == '[' {
		err = t.indexArray(ctx, text)
	} else {
		err = EachLine(ctx, text, func(_ int, at Span, _ []byte) error {
			t.places = append(t.places, at)
			return nil
		})
	}

	if err != nil {
		return nil, err
	}
	if len(t.places) == 0 {
		return nil, errors.New("the file has no rows")
	}

	row, err := t.row(0)
	t.names = slices.Sorted(maps.Keys(row))
	return t, err
}

func (t *jsonTable) indexArray(ctx context.Context, r io.Reader) error {
	decoder := json.NewDecoder(r)
	if _, err := decoder.Token(); err != nil {
		return JSONError(err)
	}

	for number := 1; decoder.More(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := decoder.InputOffset()
		var skipped struct{}
		if err := decoder.Decode(&skipped); err != nil {
			return fmt.Errorf("row %d: %w", number, JSONError(err))
		}
		t.places = append(t.places, Span{start, decoder.InputOffset()})
	}

	return EndOfArray(decoder)
}

func (t *jsonTable) Rows() int         { return len(t.places) }
func (t *jsonTable) Columns() []string { return t.names }
func (t *jsonTable) Close() error      { return t.closer.Close() }

func (t *jsonTable) row(number int) (map[string]json.RawMessage, error) {
	raw, err := t.places[number].Read(t.file)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimLeft(raw, ", \t\r\n")
	var row map[string]json.RawMessage
	if err := json.Unmarshal(raw, &row); err != nil {
		return nil, fmt.Errorf("row %d: %w", number+1, JSONError(err))
	}
	return row, nil
}

func (t *jsonTable) Each(ctx context.Context, field string, picked []int, use func(int, []Utterance) error) error {
	for _, number := range picked {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := t.row(number)
		if err != nil {
			return err
		}
		said, err := jsonUtterances(row[field])
		if err != nil {
			return fmt.Errorf("row %d: %q: %w", number+1, field, err)
		}
		if err := use(number, said); err != nil {
			return err
		}
	}

	return nil
}
