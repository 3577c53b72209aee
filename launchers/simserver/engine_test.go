package simserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// newTestSequence asks for n tokens.
func newTestSequence(i, prompt, n int) *simengine.Sequence {
	return &simengine.Sequence{
		Key: uint64(i), Prompt: promptTokens(i, prompt), Spoken: []int32{400}, Answer: n,
		Target: n, Out: simengine.NewStream(),
	}
}

// collect reads a sequence's events until the last one.
func collect(s *simengine.Sequence) (events []simengine.Event, at []time.Time) {
	for {
		<-s.Out.Ready
		events = s.Out.Take(events)
		for len(at) < len(events) {
			at = append(at, time.Now())
		}
		if n := len(events); n > 0 && events[n-1].Finish != simengine.FinishNone {
			return events, at
		}
	}
}

// In virtual time tokens come exactly when the cost model says, and steps
// follow each other without gaps.
func TestEngineKeepsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, speed := range []float64{1, 10} {
			cfg := mustResolve(t, simengine.Config{Model: "Llama-70B", TensorParallelSize: 8, Speed: speed})
			ctx, cancel := context.WithCancel(t.Context())
			e := simengine.NewEngine(cfg, func(simengine.FaultKind) {})
			done := make(chan struct{})
			go func() { defer close(done); e.Run(ctx) }()
			s := newTestSequence(1, 100, 200)
			begin := time.Now()
			e.Submit(s)
			events, at := collect(s)
			want, context := 0.0, 100.0
			for i, ev := range events {
				w := simengine.Work{Tokens: 1, Seqs: 1, Context: context, Attention: context}
				if i == 0 {
					w.Tokens, w.Attention = 100, context*context
				}
				want += simengine.NewCosts(cfg).Step(w) / speed
				context++
				if got := at[i].Sub(begin).Seconds(); !near(got, want) || !at[i].Equal(ev.At) {
					t.Fatalf("speed %v: token %d at %.9f s, want %.9f", speed, i, got, want)
				}
			}
			if g := e.Gauges(); g.SlippedS != 0 || g.OutputTokens != 200 {
				t.Errorf("gauges = %+v, want 200 tokens and no slip", g)
			}
			cancel()
			<-done
		}
	})
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// Requests that come while the engine is idle, late or busy all get the whole
// answer; one that is aborted gets nothing more.
func TestEngineArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := mustResolve(t, simengine.Config{Model: "Llama-8B"})
		ctx, cancel := context.WithCancel(t.Context())
		e := simengine.NewEngine(cfg, func(simengine.FaultKind) {})
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		wait := func(d time.Duration) { <-time.After(d) }

		var all []*simengine.Sequence
		for i := range 5 {
			s := newTestSequence(i, 50, 30)
			e.Submit(s)
			all = append(all, s)
			wait(time.Duration(i) * 100 * time.Millisecond)
		}
		left := newTestSequence(9, 50, 1000)
		e.Submit(left)
		wait(50 * time.Millisecond)
		e.Abort(left)
		for i, s := range all {
			if events, _ := collect(s); len(events) != 30 {
				t.Errorf("request %d has %d events, want 30", i, len(events))
			}
		}
		before := len(left.Out.Take(nil))
		wait(time.Second)
		if after := len(left.Out.Take(nil)); before == 0 || after != 0 {
			t.Errorf("aborted request has %d events before and %d after, want some and none", before, after)
		}
		if g := e.Gauges(); g.Running != 0 || g.KVUsage != 0 || g.Finished[simengine.FinishAbort] != 1 {
			t.Errorf("gauges = %+v, want nothing running and one abort", g)
		}
		cancel()
		<-done
	})
}

// Hours of load pass in no time, and the schedule has not drifted.
func TestEngineForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := mustResolve(t, simengine.Config{
			Model: "Llama-405B", Device: "mi300x", TensorParallelSize: 8,
			Noise: 0.02, MaxModelLen: 32768,
		})
		ctx, cancel := context.WithCancel(t.Context())
		e := simengine.NewEngine(cfg, func(simengine.FaultKind) {})
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		begin := time.Now()
		for i := range 20 {
			s := newTestSequence(i, 1000, 5000)
			e.Submit(s)
			collect(s)
		}
		if hours := time.Since(begin).Hours(); hours < 0.75 || hours > 3 {
			t.Errorf("20 answers of 5,000 tokens took %.1f h, want 0.75 to 3", hours)
		}
		if g := e.Gauges(); g.SlippedS != 0 {
			t.Errorf("schedule slipped by %v s in virtual time", g.SlippedS)
		}
		cancel()
		<-done
	})
}
