// Package moments reads of the records of requests what charts are drawn from, and
// that fast: for those who draw millions of requests.
//
// What goes in: the folder of a step. What comes out: records with positions, times,
// chunks, token counts and failures. It reads nothing else of a record.
package moments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Read is store.ReadRecords for those who draw millions of requests: of each
// record of the load it reads the position, the times, the chunks, the token
// counts and the failure, and leaves the rest at its zero value. The record itself
// and ChunkS are good until the sequence continues; what its pointers lead to is
// not reused. A file of more than most lines ends with store.ErrTooMany.
func Read(dir string, most int) iter.Seq2[*results.Record, error] {
	return func(yield func(*results.Record, error) bool) {
		in, err := store.OpenLines(filepath.Join(dir, results.RequestsName))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, fmt.Errorf("read records: %w", err))
			return
		}
		defer func() { _ = in.Close() }()
		decode(in, most, yield)
	}
}

func decode(r io.Reader, most int, yield func(*results.Record, error) bool) {
	in := inside.NewLines(r, 256<<10)
	m := &decoder{}

	for line := 1; ; line++ {
		raw, readErr := in.Next()
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			yield(nil, fmt.Errorf("read records: line %d: %w", line, readErr))
			return
		}
		if len(raw) > 0 && line > most {
			yield(nil, fmt.Errorf("read records: %w", store.ErrTooMany))
			return
		}
		if len(raw) > 0 {
			record, err := m.decode(raw)
			switch {
			case err == nil && record.Probe:
			case err == nil:
				if !yield(record, nil) {
					return
				}
			case readErr != nil: // cut by a kill
			case !yield(nil, fmt.Errorf("read records: line %d: %w", line, err)):
				return
			}
		}
		if readErr != nil {
			return
		}
	}
}

// decoder decodes one record after the other into the same memory.
type decoder struct {
	skipped []float64
	record  results.Record
	chunks  []float64
	kinds   string // of the record before: most have the same
	*known
}

// known are the values of one record that can be null.
type known struct {
	sent, header, done float64
	counts             [4]int
}

// decode reads a line as our writer makes it, and leaves any other to package
// json.
func (m *decoder) decode(raw []byte) (*results.Record, error) {
	m.record, m.known = results.Record{}, &known{}
	s := scan{rest: bytes.TrimRight(raw, "\r\n")}
	if m.fields(&s) {
		return &m.record, nil
	}
	m.record = results.Record{}
	if err := json.Unmarshal(raw, &m.record); err != nil {
		return nil, err
	}
	return &m.record, nil
}

// fields reads the members of the object; false: this is not for us.
func (m *decoder) fields(s *scan) bool {
	if !s.take('{') {
		return false
	}

	for {
		name, ok := s.plainString()
		if !ok || !s.take(':') || !m.field(string(name), s) {
			return false
		}
		if s.take('}') {
			return len(s.rest) == 0
		}
		if !s.take(',') {
			return false
		}
	}
}

func (m *decoder) field(name string, s *scan) bool {
	r := &m.record
	switch name {
	case "index":
		return s.integer(&r.Index)
	case "replica":
		return s.integer(&r.Replica)
	case "intended_s":
		return s.number(&r.IntendedS)
	case "end_s":
		return s.number(&r.EndS)
	case "sent_s":
		return s.numberOrNull(&r.SentS, &m.sent)
	case "header_s":
		return s.numberOrNull(&r.HeaderS, &m.header)
	case "done_s":
		return s.numberOrNull(&r.DoneS, &m.done)
	case "chunk_s":
		return m.readChunks(s)
	case "chunk_kinds":
		kinds, ok := s.plainString()
		if string(kinds) != m.kinds {
			m.kinds = string(kinds)
		}
		r.ChunkKinds = m.kinds
		return ok
	case "asked_output_tokens":
		return s.integer(&r.AskedOutputTokens)
	case "local_input_tokens":
		return s.integerOrNull(&r.LocalInputTokens, &m.counts[0])
	case "input_tokens":
		return s.integerOrNull(&r.InputTokens, &m.counts[1])
	case "output_tokens":
		return s.integerOrNull(&r.OutputTokens, &m.counts[2])
	case "cached_tokens":
		return s.integerOrNull(&r.CachedTokens, &m.counts[3])
	}

	return m.skip(name, s)
}

// skip passes over a field that is not for us.
func (m *decoder) skip(name string, s *scan) bool {
	switch name {
	case "written_s":
		var unused float64
		return s.null() || s.number(&unused)
	case "chunk_late_s":
		return m.skipNumbers(s)
	case "request_id", "finish_reason", "output_tokens_source", "text", "content", "text_sha256",
		"text_trail":
		_, ok := s.plainString()
		return ok
	case "text_tokens", "content_tokens", "draft_tokens", "accepted_tokens", "drafts", "conversation", "turn":
		n := 0
		return s.null() || s.integer(&n)
	}
	return s.null() // a failure, say
}

func (m *decoder) readChunks(s *scan) bool {
	if s.null() {
		return true
	}
	var ok bool
	if m.chunks, ok = readNumbers(s, m.chunks[:0]); ok {
		m.record.ChunkS = m.chunks
	}
	return ok
}

// skipNumbers passes over a list of numbers.
func (m *decoder) skipNumbers(s *scan) (ok bool) {
	m.skipped, ok = readNumbers(s, m.skipped[:0])
	return ok
}

// readNumbers appends the numbers of a list.
func readNumbers(s *scan, to []float64) ([]float64, bool) {
	if !s.take('[') {
		return to, false
	}
	for !s.take(']') {
		if len(to) > 0 && !s.take(',') {
			return to, false
		}
		var v float64
		if !s.number(&v) {
			return to, false
		}
		to = append(to, v)
	}
	return to, true
}
