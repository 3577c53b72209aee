package curves

import (
	"fmt"
	"slices"
	"testing"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// wanted is a request that was wanted at i, and took so long.
func wanted(i int, took float64, failure results.FailureClass) RequestSpan {
	at := float64(i)
	return RequestSpan{Index: i, IntendedS: at, SentS: &at, EndS: at + took, Failure: failure}
}

func TestWaterfallOfFewIsAll(t *testing.T) {
	var w Waterfall
	for i := range MaxRequestRows {
		w.AddSpan(wanted(MaxRequestRows-1-i, 1, ""))
	}
	rows := w.Rows()
	if len(rows) != MaxRequestRows || w.Total() != MaxRequestRows {
		t.Fatalf("%d rows of %d, want all", len(rows), w.Total())
	}
	for i, r := range rows {
		if r.Index != i || r.Worst {
			t.Fatalf("row %d is request %d (worst: %t), want the order wanted", i, r.Index, r.Worst)
		}
	}
}

func TestWaterfallOfMany(t *testing.T) {
	for _, n := range []int{MaxRequestRows + 1, 801, 5000, 300_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var w Waterfall
			slowest, failed := n/3, n/2
			for i := range n {
				span := wanted(i, 1+float64(i%7)/100, "")
				if i == slowest {
					span.EndS += 500
				}
				if i == failed {
					span.Failure = results.FailStall
				}
				w.AddSpan(span)
			}
			rows := w.Rows()
			if len(rows) > MaxRequestRows || len(rows) < MaxRequestRows*3/4 || w.Total() != n {
				t.Errorf("%d rows of %d, want about %d", len(rows), w.Total(), MaxRequestRows)
			}
			if len(w.even) > 2*MaxRequestRows {
				t.Errorf("%d spans are held", len(w.even))
			}
			for _, must := range []int{slowest, failed} {
				if i := slices.IndexFunc(rows, func(r RequestSpan) bool { return r.Index == must }); i < 0 ||
					!rows[i].Worst {
					t.Errorf("request %d is not among the worst rows", must)
				}
			}
			evenlySpread(t, rows, n)
		})
	}
}

// evenlySpread checks that no long stretch of the pass is left out.
func evenlySpread(t *testing.T, rows []RequestSpan, n int) {
	t.Helper()
	last := 0
	for _, r := range rows {
		if r.Worst {
			continue
		}
		if gap := r.Index - last; gap > max(n/60, 30) {
			t.Errorf("no request between %d and %d of %d is drawn", last, r.Index, n)
		}
		last = r.Index
	}
}

func TestSpanOf(t *testing.T) {
	r := stream(1, 5, 7, 3, 2, 3, 4)
	got := spanOfRecord(&r)
	if *got.SentS != 1 || *got.FirstS != 2 || *got.LastS != 4 || got.EndS != 5 || *got.InputTokens != 7 ||
		got.Failure != "" {
		t.Errorf("spanOf(stream) = %+v", got)
	}
	whole := results.Record{
		SentS: new(1.0), EndS: 3, ChunkS: []float64{2.5},
		ChunkKinds: string(byte(results.ChunkWhole)), LocalInputTokens: new(9),
	}
	got = spanOfRecord(&whole)
	if got.FirstS != nil || *got.LastS != 2.5 || *got.InputTokens != 9 {
		t.Errorf("spanOf(not streamed) = %+v", got)
	}
	empty := results.Record{SentS: new(1.0), EndS: 3}
	if got = spanOfRecord(&empty); got.Failure != results.FailNoTokens {
		t.Errorf("spanOf(no token).Failure = %q", got.Failure)
	}
}

func TestTraces(t *testing.T) {
	traces := NewTraces(10)
	for i := range 50 {
		at := float64(i) / 10
		r := stream(at, at+2, 10, 3, at+0.5, at+1, at+1.5)
		r.Index = i
		if i == 7 {
			r.Failure = results.Failf(results.FailStall, "no byte")
		}
		traces.Add(&r)
	}
	for name, c := range map[string]struct {
		sketch *Sketch
		n      int
		median float64
	}{
		"TTFT": {&traces.TTFT, 49, 0.5}, "TPOT": {&traces.TPOT, 49, 0.5}, "E2EL": {&traces.E2EL, 49, 1.5},
		"ICL": {&traces.ICL, 98, 0.5},
	} {
		got := c.sketch.Quantile(0.5)
		if c.sketch.N() != c.n || got < c.median*(1-SketchError) || got > c.median*(1+SketchError) {
			t.Errorf("%s: n %d, median %g, want %d, %g", name, c.sketch.N(), got, c.n, c.median)
		}
	}
	if traces.Requests.Total() != 50 || len(traces.InFlight.Requests()) < 3 {
		t.Errorf("%d requests, levels %v", traces.Requests.Total(), traces.InFlight.Requests())
	}
}

func BenchmarkTraces(b *testing.B) {
	chunks := make([]float64, 200)
	for i := range chunks {
		chunks[i] = 0.3 + float64(i)*0.01
	}
	r := stream(0, 2.5, 512, 200, chunks...)
	traces := NewTraces(600)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Index, r.IntendedS = i, float64(i%600)
		traces.Add(&r)
	}
}

func spanOfRecord(r *results.Record) RequestSpan { return spanOf(metrics.Observe(r, metrics.IsToken)) }
