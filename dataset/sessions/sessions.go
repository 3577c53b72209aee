// Package sessions reads what agents and users asked of a server, session by
// session: how long each request and its answer were, which blocks of text it
// shared with others, and which answers it waited for.
//
// What goes in: a file of request rows (as Mooncake, Dynamo and "bench record"
// write them), of traces of the KV cache tester, or of OpenTelemetry spans.
// What comes out: sessions in the order of their starts. It makes no prompts
// and never looks at texts.
package sessions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/benchrig/bench/dataset/table"
)

// Session is a row of requests, some of which wait for the answers of others.
type Session struct {
	ID       string
	StartS   float64 // seconds after the first session of the file
	Requests []Request
}

// Request is one request of a session. The first of a session waits for none.
type Request struct {
	Input, Output int      // tokens, at least 1
	Hashes        []uint64 // of the prompt's blocks, in order; none: not known
	Whole         bool     // Input is the whole prompt; otherwise it is what is added to what was said before
	After         []int    // indices of requests whose answers it waits for, the one that it goes on from first
	WaitS         *float64 // seconds from the last of those answers, or from the session's start; nil: not known
}

// Limits of what is read.
const (
	maxBytes    = 1 << 30 // of a file
	maxRequests = 10_000  // of a session
	maxTokens   = 1 << 24 // of a request
	maxSeconds  = 1e9     // of a time
)

// call is a request as a file has it, before its place in the session is known.
type call struct {
	session string
	startS  float64  // seconds, from any moment
	endS    *float64 // nil: not known
	waitS   *float64 // given, from the answer before it
	untimed bool     // startS is not known: it follows the row before it

	input, output int
	hashes        []uint64
	whole         bool // the prompt as a whole, whatever came before
	grown         bool // input counts all that was said before, but which part that is, is not known
}

// Read reads up to n sessions, and the tokens of a hashed block where the file
// says how many, else 0. An error says what is wrong and where.
func Read(ctx context.Context, r io.Reader, n int) (list []Session, block int, err error) {
	in := bufio.NewReader(io.LimitReader(r, maxBytes+1))
	if err := skipToValues(in); err != nil {
		return nil, 0, err
	}

	var calls []call
	decoder := json.NewDecoder(in)
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			list, err := group(calls, n)
			return list, block, err
		case err != nil:
			return nil, 0, fmt.Errorf("value %d: %w", number, table.JSONError(err))
		case decoder.InputOffset() > maxBytes:
			return nil, 0, fmt.Errorf("the file has more than %d MiB", maxBytes>>20)
		}

		more, tokens, err := callsOf(value)
		if err != nil {
			return nil, 0, fmt.Errorf("value %d: %w", number, err)
		}
		if tokens > 0 && block > 0 && tokens != block {
			return nil, 0, fmt.Errorf("value %d has blocks of %d tokens, others have %d", number, tokens, block)
		}
		block = cmp.Or(tokens, block)
		if calls = append(calls, more...); len(calls) > table.MaxRows {
			return nil, 0, fmt.Errorf("more than %d requests", table.MaxRows)
		}
	}
}

// skipToValues skips a byte order mark and blanks, and refuses what holds no JSON objects.
func skipToValues(in *bufio.Reader) error {
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\uFEFF")) {
		_, _ = in.Discard(len(head))
	}
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the file is empty")
		case err != nil:
			return table.Cause(err)
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c != '{':
			return fmt.Errorf("it begins with %q, want JSON objects", c)
		}
		return in.UnreadByte()
	}
}

// format is one form of file. A new one is a new file with a read function and
// a line in formats.
type format struct {
	key  string // that an object of this form has
	read func(json.RawMessage) (calls []call, blockTokens int, err error)
}

func formats() []format {
	return []format{
		{"input_length", readRow},
		{"requests", readCacheTrace},
		{"resourceSpans", readSpans},
	}
}

func callsOf(value json.RawMessage) ([]call, int, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, 0, table.JSONError(err)
	}
	for _, f := range formats() {
		if _, ok := fields[f.key]; ok {
			return f.read(value)
		}
	}
	return nil, 0, errors.New(`no session: want a row with "input_length", a trace with "requests", or ` +
		`OpenTelemetry's "resourceSpans"`)
}

// check refuses numbers that no server has seen.
func (c *call) check() error {
	switch {
	case c.input < 1 || c.input > maxTokens:
		return fmt.Errorf("%d input tokens: want 1 to %d", c.input, maxTokens)
	case c.output < 0 || c.output > maxTokens:
		return fmt.Errorf("%d output tokens: want 0 to %d", c.output, maxTokens)
	case math.IsNaN(c.startS) || math.Abs(c.startS) > 1e12:
		return fmt.Errorf("a start at %v s", c.startS)
	case c.endS != nil && !(*c.endS >= c.startS && *c.endS <= c.startS+maxSeconds):
		return fmt.Errorf("an end at %v s, after a start at %v s", *c.endS, c.startS)
	case c.waitS != nil && !(*c.waitS >= 0 && *c.waitS <= maxSeconds):
		return fmt.Errorf("a wait of %v s: want 0 or more", *c.waitS)
	}
	c.output = max(1, c.output)
	return nil
}

// group makes sessions of calls, the first n of them by their starts.
func group(calls []call, n int) ([]Session, error) {
	if len(calls) == 0 {
		return nil, errors.New("the file has no requests")
	}

	var order []string
	bySession := map[string][]call{}
	for i, c := range calls {
		id := c.session
		if id == "" {
			id = fmt.Sprintf("row %d", i+1) // alone
		}
		if _, known := bySession[id]; !known {
			order = append(order, id)
		}
		bySession[id] = append(bySession[id], c)
	}

	list := make([]Session, 0, len(order))
	for _, id := range order {
		own := bySession[id]
		if len(own) > maxRequests {
			return nil, fmt.Errorf("session %q has %d requests: at most %d are read", id, len(own), maxRequests)
		}
		requests := link(own) // sorts own
		list = append(list, Session{ID: id, StartS: own[0].startS, Requests: requests})
	}

	slices.SortStableFunc(list, func(a, b Session) int { return cmp.Compare(a.StartS, b.StartS) })
	list = list[:min(n, len(list))]
	first := list[0].StartS
	for i := range list {
		list[i].StartS -= first
	}

	return list, nil
}
