package simserver

import (
	"net/http"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// truth keeps what really happened to the last requests, for checks of a
// client's figures.
type truth struct {
	mu   sync.Mutex // guards the fields below
	ring []truthRecord
	next int
	full bool
}

// truthRecord is one request. Times are seconds since its arrival.
type truthRecord struct {
	ID           string    `json:"id"`         // as in the answer
	RequestID    string    `json:"request_id"` // the X-Request-Id header, or made up
	ArrivalUnixS float64   `json:"arrival_unix_s"`
	InputTokens  int       `json:"input_tokens"`
	CachedTokens int       `json:"cached_tokens"`
	StepS        []float64 `json:"step_s"`  // when the engine had each chunk
	WriteS       []float64 `json:"write_s"` // right before each chunk was written
	Tokens       []int     `json:"tokens"`  // in each chunk
	FinishReason string    `json:"finish_reason"`

	arrival time.Time
}

func newTruth(n int) *truth { return &truth{ring: make([]truthRecord, n)} }

// start begins a record; nil when none are kept.
func (t *truth) start(a *answer, requestID string, now time.Time) *truthRecord {
	if len(t.ring) == 0 {
		return nil
	}
	n := min(a.seq.Answer, 4096)
	return &truthRecord{
		ID: a.id, RequestID: requestID, ArrivalUnixS: float64(now.UnixNano()) / 1e9, InputTokens: len(a.prompt),
		StepS: make([]float64, 0, n), WriteS: make([]float64, 0, n), Tokens: make([]int, 0, n), arrival: now,
	}
}

func (r *truthRecord) add(e simengine.Event) {
	if r == nil {
		return
	}
	r.StepS = append(r.StepS, e.At.Sub(r.arrival).Seconds())
	r.WriteS = append(r.WriteS, time.Since(r.arrival).Seconds())
	r.Tokens = append(r.Tokens, e.N)
}

// finish stores a request's record.
func (t *truth) finish(a *answer) {
	if a.record == nil {
		return
	}
	a.record.CachedTokens = a.seq.Out.CachedTokens()
	a.record.FinishReason = string(a.end)
	if a.end == simengine.FinishNone {
		a.record.FinishReason = string(simengine.FinishAbort)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.next] = *a.record
	t.next = (t.next + 1) % len(t.ring)
	t.full = t.full || t.next == 0
}

// serve answers GET /sim/truth, oldest request first.
func (t *truth) serve(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	list := append([]truthRecord{}, t.ring[:t.next]...)
	if t.full {
		list = append(append([]truthRecord{}, t.ring[t.next:]...), list...)
	}
	t.mu.Unlock()
	writeJSON(w, map[string]any{"simulated": true, "requests": list})
}
