package simengine

import (
	"maps"
	"slices"
	"time"
)

// Counters are the totals behind /metrics and the statistics lines.
type Counters struct {
	PromptTokens   int64 // of prompts whose first token came, cached ones included
	PromptComputed int64 // prompt tokens computed
	PromptSeconds  float64
	OutputTokens   int64
	OutputSeconds  float64
	PrefixQueries  int64
	PrefixHits     int64
	Preemptions    int64
	Steps          int64
	StepSeqs       int64
	Longest        int // tokens of the longest sequence
	Finished       map[Finish]int64
	Drafts         int64
	DraftTokens    int64
	Accepted       int64   // before V1 those behind a rejected one too
	Emitted        int64   // by steps with drafts
	AcceptedAt     []int64 // by position
	Ttft           Histogram
	E2e            Histogram
	TokenLatency   Histogram
	QueueTime      Histogram
}

// NewCounters makes counters at zero for a server that drafts draftLength tokens a step.
func NewCounters(draftLength int) Counters {
	return Counters{
		Finished:   map[Finish]int64{finishStop: 0, FinishLength: 0, FinishAbort: 0},
		AcceptedAt: make([]int64, draftLength),
		Ttft: newHistogram(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5,
			10, 20, 40, 80, 160, 640, 2560),
		E2e: newHistogram(0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
		TokenLatency: newHistogram(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5,
			10, 20, 40, 80),
		QueueTime: newHistogram(0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920,
			7680),
	}
}

// produced notes n new tokens of a request.
func (c *Counters) produced(s *Sequence, n int, now time.Time) {
	c.OutputTokens += int64(n)
	if s.First.IsZero() {
		s.First = now
		c.PromptTokens += int64(len(s.Prompt))
		c.PromptSeconds += now.Sub(s.started).Seconds()
		c.Ttft.observe(now.Sub(s.Arrival).Seconds())
		// one that fits the step under way starts with it, before it came
		c.QueueTime.observe(max(0, s.started.Sub(s.Arrival).Seconds()))
	} else {
		gap := now.Sub(s.Last).Seconds()
		c.OutputSeconds += gap
		c.TokenLatency.observe(gap)
	}

	s.Last = now
	c.Longest = max(c.Longest, s.total())
}

func (c *Counters) finish(s *Sequence, f Finish, now time.Time) {
	if f == FinishTruncate {
		f = FinishAbort
	}
	c.Finished[f]++
	c.E2e.observe(now.Sub(s.Arrival).Seconds())
}

// drafted notes a draft of k tokens: how many were kept, and how many the
// version calls accepted.
func (c *Counters) drafted(k, kept, accepted int) {
	c.Drafts++
	c.DraftTokens += int64(k)
	c.Accepted += int64(accepted)
	for i := range kept {
		c.AcceptedAt[i]++
	}
}

// snapshot returns a copy that the engine no longer changes.
func (c *Counters) snapshot() Counters {
	s := *c
	s.Finished = make(map[Finish]int64, len(c.Finished))
	maps.Copy(s.Finished, c.Finished)
	s.AcceptedAt = slices.Clone(c.AcceptedAt)
	for _, h := range []*Histogram{&s.Ttft, &s.E2e, &s.TokenLatency, &s.QueueTime} {
		h.Counts = slices.Clone(h.Counts)
	}
	return s
}

// Histogram counts observations up to each bound, and all.
type Histogram struct {
	Bounds []float64
	Counts []int64 // not cumulative; the last one is above all bounds
	Sum    float64
}

func newHistogram(bounds ...float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]int64, len(bounds)+1)}
}

func (h *Histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.Bounds, v)
	h.Counts[i]++
	h.Sum += v
}
