package sessions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/benchrig/bench/dataset/table"
)

// cacheTrace is a session as the KV cache tester's traces have it (WEKA's, and
// SemiAnalysis' collections of coding agents): requests in order, and among
// them sub-agents with requests of their own. Times are in seconds.
type cacheTrace struct {
	ID       string         `json:"id"`
	Block    int            `json:"block_size"`
	Requests []cacheRequest `json:"requests"`
}

type cacheRequest struct {
	At       float64        `json:"t"`
	Kind     string         `json:"type"` // "n": not streamed; "s": streamed; "subagent": Requests
	Input    int            `json:"in"`
	Output   int            `json:"out"`
	Hashes   []uint64       `json:"hash_ids"`
	TookS    *float64       `json:"api_time"`
	Requests []cacheRequest `json:"requests"`
}

// readCacheTrace reads one session. Block hashes are the session's own: the
// same number in another session is another block.
func readCacheTrace(value json.RawMessage) ([]call, int, error) {
	var t cacheTrace
	if err := json.Unmarshal(value, &t); err != nil {
		return nil, 0, table.JSONError(err)
	}
	if t.Block < 1 || t.Block > maxTokens {
		return nil, 0, fmt.Errorf("session %q: block_size %d, want 1 to %d tokens", t.ID, t.Block, maxTokens)
	}

	var calls []call
	var add func([]cacheRequest) error
	add = func(list []cacheRequest) error {
		for _, r := range list {
			if r.Kind == "subagent" {
				if err := add(r.Requests); err != nil {
					return err
				}
				continue
			}
			c := call{
				session: t.ID, startS: r.At, input: r.Input, output: r.Output, hashes: own(t.ID, r.Hashes), whole: true,
			}
			if r.TookS != nil {
				c.endS = new(r.At + *r.TookS)
			}
			if err := c.check(); err != nil {
				return fmt.Errorf("session %q: request %d: %w", t.ID, len(calls)+1, err)
			}
			calls = append(calls, c)
		}
		return nil
	}

	return calls, t.Block, add(t.Requests)
}

// own makes the numbers of blocks those of one session.
func own(session string, hashes []uint64) []uint64 {
	out := make([]uint64, len(hashes))
	for i, h := range hashes {
		out[i] = spread(session, h)
	}
	return out
}

// spread hashes the session's name and a number.
func spread(session string, number uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(session), number)) // a hash takes everything
	return h.Sum64()
}
