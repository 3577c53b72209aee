package early_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics/early"
	"github.com/benchrig/bench/results"
)

// record is a request that was sent at once and got its tokens after ttft.
func record(index int, ttft float64) results.Record {
	sent, tokens := 0.0, 2
	return results.Record{
		Index: index, SentS: &sent, EndS: ttft + 1, ChunkS: []float64{ttft, ttft + 1}, ChunkKinds: "tt",
		OutputTokens: &tokens,
	}
}

// TestMarginHoldsTheTruth ends passes as soon as a percentile is known to 10 %,
// and counts how often the true one is within that of the one found: the many looks are
// paid for.
func TestMarginHoldsTheTruth(t *testing.T) {
	const passes, requests, share = 300, 6000, 0.10
	margin, err := spec.ParseMargin("p90_ttft", share)
	if err != nil {
		t.Fatal(err)
	}

	truth := -math.Log(1 - 0.9) // of an exponential distribution
	rng := rand.New(rand.NewPCG(5, 5))
	ended, held := 0, 0
	for range passes {
		w := early.New(spec.Early{Until: []spec.Margin{margin}}, nil)
		var values []float64
		for i := range requests {
			values = append(values, rng.ExpFloat64())
			r := record(i, values[i])
			if w.Ended(&r) {
				break
			}
		}
		end := w.Decision()
		if end == nil {
			continue
		}
		ended++
		if end.Rule != results.EarlyMargin || end.Ended != len(values) || end.Margins[0].N != len(values) {
			t.Fatalf("decided on %+v after %d requests", end, len(values))
		}
		if found := percentileOf(values, 0.9); math.Abs(truth-found) <= share*found {
			held++
		}
	}
	t.Logf("%d of %d passes ended early; the true percentile was within the margin in %d", ended, passes, held)
	if ended < passes*9/10 || float64(held) < 0.95*float64(ended) {
		t.Errorf("%d of %d passes ended early, %d with the truth within the margin", ended, passes, held)
	}
}

func percentileOf(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1))]
}

// TestMarginOfEqualValues knows a percentile at the first look, and not before.
func TestMarginOfEqualValues(t *testing.T) {
	const first = 100
	w := early.New(spec.Early{Until: []spec.Margin{{Latency: "ttft", Percentile: 50, Share: 0.01}}}, nil)
	for i := range 120 {
		r := record(i, 0.25)
		if done := w.Ended(&r); done != (i >= first-1) {
			t.Errorf("after %d requests the pass is over: %v", i+1, done)
		}
	}
	if got := w.Decision(); got == nil || got.Ended != first || *got.Margins[0].Share != 0 || w.Missed() != nil {
		t.Errorf("decided on %+v, missed %v", got, w.Missed())
	}
}

// TestMarginWaitsForTheSlow looks at the first requests sent, not at the first
// that ended: those are the short ones.
func TestMarginWaitsForTheSlow(t *testing.T) {
	w := early.New(spec.Early{Until: []spec.Margin{{Latency: "ttft", Percentile: 50, Share: 0.01}}}, nil)
	for i := 1; i < 100; i++ {
		if r := record(i, 0.25); w.Ended(&r) {
			t.Fatalf("the pass is over after request %d, while the first one sent has not ended", i)
		}
	}
	if r := record(0, 9); !w.Ended(&r) {
		t.Error("all requests have ended, and the pass is not over")
	}
}

// TestMarginOfADrift knows nothing while latencies grow from request to request,
// however close together they are.
func TestMarginOfADrift(t *testing.T) {
	w := early.New(spec.Early{Until: []spec.Margin{{Latency: "ttft", Percentile: 50, Share: 0.5}}}, nil)
	for i := range 2000 {
		if r := record(i, 10+float64(i)/1000); w.Ended(&r) {
			t.Fatalf("the pass is over after %d requests", i+1)
		}
	}
	if missed := w.Missed(); len(missed) != 1 || !missed[0].Reached() {
		t.Errorf("missed %+v, want an interval that is narrow, of values that drift", missed)
	}
}

// TestMarginMissed says what was known where it was not enough.
func TestMarginMissed(t *testing.T) {
	asked := spec.Early{Until: []spec.Margin{{Latency: "e2el", Percentile: 50, Share: 0.001}}}
	w := early.New(asked, nil)
	for i := range 120 {
		r := record(i, float64(i))
		w.Ended(&r)
	}
	missed := w.Missed()
	if len(missed) != 1 || missed[0].Figure != "p50_e2el" || missed[0].Reached() || missed[0].N != 100 {
		t.Errorf("missed %+v", missed)
	}
	if missed := early.New(asked, nil).Missed(); len(missed) != 1 || missed[0].Share != nil || missed[0].N != 0 ||
		missed[0].First != 100 {
		t.Errorf("without requests: missed %+v", missed)
	}
}
