package simserver

import (
	"maps"
	"slices"
	"time"
)

// counters are the totals behind /metrics and the statistics lines.
type counters struct {
	promptTokens   int64 // of prompts whose first token came, cached ones included
	promptComputed int64 // prompt tokens computed
	promptSeconds  float64
	outputTokens   int64
	outputSeconds  float64
	prefixQueries  int64
	prefixHits     int64
	preemptions    int64
	steps          int64
	stepSeqs       int64
	longest        int // tokens of the longest sequence
	finished       map[finish]int64
	drafts         int64
	draftTokens    int64
	accepted       int64   // before V1 those behind a rejected one too
	emitted        int64   // by steps with drafts
	acceptedAt     []int64 // by position
	ttft           histogram
	e2e            histogram
	tokenLatency   histogram
	queueTime      histogram
}

func newCounters(draftLength int) counters {
	return counters{
		finished:   map[finish]int64{finishStop: 0, finishLength: 0, finishAbort: 0},
		acceptedAt: make([]int64, draftLength),
		ttft: newHistogram(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5,
			10, 20, 40, 80, 160, 640, 2560),
		e2e: newHistogram(0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
		tokenLatency: newHistogram(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5,
			10, 20, 40, 80),
		queueTime: newHistogram(0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
	}
}

// produced notes n new tokens of a request.
func (c *counters) produced(s *sequence, n int, now time.Time) {
	c.outputTokens += int64(n)
	if s.first.IsZero() {
		s.first = now
		c.promptTokens += int64(len(s.prompt))
		c.promptSeconds += now.Sub(s.started).Seconds()
		c.ttft.observe(now.Sub(s.arrival).Seconds())
		c.queueTime.observe(max(0, s.started.Sub(s.arrival).Seconds())) // one that fits the step under way starts with it, before it came
	} else {
		gap := now.Sub(s.last).Seconds()
		c.outputSeconds += gap
		c.tokenLatency.observe(gap)
	}
	s.last = now
	c.longest = max(c.longest, s.total())
}

func (c *counters) finish(s *sequence, f finish, now time.Time) {
	if f == finishTruncate {
		f = finishAbort
	}
	c.finished[f]++
	c.e2e.observe(now.Sub(s.arrival).Seconds())
}

// drafted notes a draft of k tokens: how many were kept, and how many the
// version calls accepted.
func (c *counters) drafted(k, kept, accepted int) {
	c.drafts++
	c.draftTokens += int64(k)
	c.accepted += int64(accepted)
	for i := range kept {
		c.acceptedAt[i]++
	}
}

// snapshot returns a copy that the engine no longer changes.
func (c *counters) snapshot() counters {
	s := *c
	s.finished = make(map[finish]int64, len(c.finished))
	maps.Copy(s.finished, c.finished)
	s.acceptedAt = slices.Clone(c.acceptedAt)
	for _, h := range []*histogram{&s.ttft, &s.e2e, &s.tokenLatency, &s.queueTime} {
		h.counts = slices.Clone(h.counts)
	}
	return s
}

// histogram counts observations up to each bound, and all.
type histogram struct {
	bounds []float64
	counts []int64 // not cumulative; the last one is above all bounds
	sum    float64
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]int64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.counts[i]++
	h.sum += v
}
