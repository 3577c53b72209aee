package metrics

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// TestUpperBoundsHold draws samples of a distribution whose percentiles are
// known: the bound is below the truth in at most 5 % of the passes, up to chance.
func TestUpperBoundsHold(t *testing.T) {
	const passes = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		p float64
		n int
	}{{90, 29}, {90, 200}, {95, 59}, {99, 299}, {99, 700}} {
		below := 0
		for range passes {
			sample := make([]float64, tt.n)
			for i := range sample {
				sample[i] = rng.Float64()
			}
			b := upperBounds("ttft", sample, []float64{tt.p}, tt.n)
			if b[0].AtMostS == nil || b[0].MoreRequests != 0 {
				t.Fatalf("p%v of %d samples: %+v, want a bound", tt.p, tt.n, b[0])
			}
			if *b[0].AtMostS < tt.p/100 {
				below++
			}
		}
		if share := float64(below) / passes; share > 0.066 { // 0.05 and more than three deviations
			t.Errorf("p%v of %d samples: %.3f of the bounds are below the truth, want at most 0.05", tt.p, tt.n, share)
		}
	}
}

func TestUpperBoundsSayWhatIsMissing(t *testing.T) {
	records := parseRecords(t, strings.Repeat("sent=0 t1 t2 t3 out=3\n", 200))
	f := Summarize(records, Params{DurationS: 1, Percentiles: []float64{50, 90, 99, 100}})
	want := []results.UpperBound{
		{Latency: "ttft", P: 90, AtMostS: new(1.0)},
		{Latency: "ttft", P: 99, MoreRequests: 99},
		{Latency: "tpot", P: 90, AtMostS: new(1.0)},
		{Latency: "tpot", P: 99, MoreRequests: 99},
		{Latency: "itl", P: 90, AtMostS: new(1.0)},
		{Latency: "itl", P: 99, AtMostS: new(1.0)}, // 400 gaps
		{Latency: "e2el", P: 90, AtMostS: new(3.0)},
		{Latency: "e2el", P: 99, MoreRequests: 99},
	}
	if !slices.EqualFunc(f.UpperBounds, want, sameBound) {
		t.Errorf("bounds = %+v", f.UpperBounds)
	}
	got := unknownPercentiles(f.UpperBounds)
	if !slices.Equal(got, []string{"p99 TTFT, TPOT, E2EL (99 more requests)"}) {
		t.Errorf("unknown percentiles: %q", got)
	}

	// Gaps come three a request: 299 need 100 requests, of which there are 10.
	f = Summarize(parseRecords(t, strings.Repeat("sent=0 t1 t2 t3 t4 out=4\n", 10)), Params{DurationS: 1})
	at := slices.IndexFunc(f.UpperBounds, func(b results.UpperBound) bool { return b.Latency == "itl" && b.P == 99 })
	if f.UpperBounds[at].MoreRequests != 90 {
		t.Errorf("p99 ITL needs %d more requests, want 90", f.UpperBounds[at].MoreRequests)
	}
	if f := Summarize(nil, Params{}); f.UpperBounds != nil {
		t.Errorf("bounds of nothing: %+v", f.UpperBounds)
	}
}

func sameBound(a, b results.UpperBound) bool {
	equal := a.AtMostS == nil && b.AtMostS == nil || a.AtMostS != nil && b.AtMostS != nil && *a.AtMostS == *b.AtMostS
	return equal && a.Latency == b.Latency && a.P == b.P && a.MoreRequests == b.MoreRequests
}
