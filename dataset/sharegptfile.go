package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/benchrig/bench/dataset/table"
)

// place is where a conversation stands in its file.
type place struct {
	number     int   // of the conversation, from 1
	start, end int64 // bytes; a separator may come first
}

// shareGPT reads conversations from a file whose places are known.
type shareGPT struct {
	file   io.ReaderAt
	places []place
}

// conversation is the part of an entry that is used. Turns after the second are
// never decoded.
type conversation struct {
	Turns []json.RawMessage `json:"conversations"`
}

// indexShareGPT finds the conversations of two turns or more. The file is one
// JSON array; other entries are passed over.
func indexShareGPT(ctx context.Context, r io.Reader) ([]place, error) {
	decoder := json.NewDecoder(r)
	opening, err := decoder.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, table.JSONError(err)
	case opening != json.Delim('['):
		return nil, errors.New("the file is not one JSON array of conversations")
	}

	var places []place
	for number := 1; decoder.More(); number++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := decoder.InputOffset()
		var c conversation
		if err := decoder.Decode(&c); err != nil {
			return nil, fmt.Errorf("conversation %d (from byte %d): %w", number, start, table.JSONError(err))
		}
		if len(c.Turns) >= 2 {
			places = append(places, place{number, start, decoder.InputOffset()})
		}
	}

	return places, table.EndOfArray(decoder)
}

// said is all of a conversation.
func (s shareGPT) said(at place) ([]table.Utterance, error) {
	c, err := s.read(at)
	if err != nil {
		return nil, err
	}
	var out []table.Utterance
	for i, raw := range c.Turns {
		var m table.JSONMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, table.JSONError(err))
		}
		out = append(out, m.Utterance())
	}
	return out, nil
}

// read reads a conversation of two turns or more again.
func (s shareGPT) read(at place) (c conversation, err error) {
	raw := make([]byte, at.end-at.start)
	if _, err := s.file.ReadAt(raw, at.start); err != nil && !errors.Is(err, io.EOF) {
		return c, err
	}
	raw = bytes.TrimLeft(raw, ", \t\r\n")
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, table.JSONError(err)
	}
	if len(c.Turns) < 2 {
		return c, errors.New("the file changed while it was read")
	}
	return c, nil
}

// turns returns the texts of a conversation's first two turns. A turn without
// a value has an empty text.
func (s shareGPT) turns(at place) (question, answer string, err error) {
	c, err := s.read(at)
	if err != nil {
		return "", "", err
	}

	var texts [2]string
	for i := range texts {
		var turn struct {
			Value string `json:"value"`
		}
		if err := json.Unmarshal(c.Turns[i], &turn); err != nil {
			return "", "", fmt.Errorf("turn %d: %w", i+1, table.JSONError(err))
		}
		texts[i] = turn.Value
	}

	return texts[0], texts[1], nil
}
