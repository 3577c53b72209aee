package compare

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// repeatsOf are steps of one variant and point, one per repeat and server life.
func repeatsOf(variant string, throughputs ...float64) []*results.Result {
	var steps []*results.Result
	for i, v := range throughputs {
		steps = append(steps, &results.Result{
			Step:    results.StepRef{ID: fmt.Sprint(variant, i), Variant: variant, Point: "c8", Repeat: i + 1},
			Verdict: results.OK,
			Figures: &results.Figures{OutputThroughput: new(v)},
		})
	}
	return steps
}

func TestWidest(t *testing.T) {
	policy := results.RepeatsPolicy{Min: 3, Max: 10, Until: 0.02, Confidence: 0.95}
	failed := repeatsOf("b", 50, 60, 70)
	for _, s := range failed {
		s.Verdict, s.Figures, s.Failure = results.Failed, nil, results.Failf(results.FailExited, "ended")
	}
	for _, tt := range []struct {
		name   string
		steps  []*results.Result
		want   string // "": nothing can change
		narrow bool
	}{
		{"nothing", nil, "", false},
		{"one life", repeatsOf("a", 100), "a null", false},
		{"narrow", repeatsOf("a", 100, 100.5, 99.5), "a 0.0124", true}, // t of 2 degrees 4.303, sd 0.5
		{
			"the widest counts", append(repeatsOf("a", 100, 100.5, 99.5), repeatsOf("b", 100, 110, 90)...),
			"b 0.2484", false,
		},
		{"all the same", repeatsOf("a", 100, 100, 100), "a 0.0000", true},
		{"one that was left out in the last round cannot change", append(repeatsOf("a", 100, 100.5, 99.5),
			repeatsOf("b", 100, 110)...), "a 0.0124", true},
		{"one that always fails cannot change", append(repeatsOf("a", 100, 100.5, 99.5), failed...), "a 0.0124", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, ok := Widest(policy, tt.steps)
			got := ""
			if ok {
				got = w.Variant + " null"
			}
			if w.Relative != nil {
				got = fmt.Sprintf("%s %.4f", w.Variant, *w.Relative)
			}
			if got != tt.want || w.Narrow(policy) != tt.narrow {
				t.Errorf("Widest = %q, narrow %v, want %q, %v", got, w.Narrow(policy), tt.want, tt.narrow)
			}
		})
	}
}

// TestCoverageAfterStopping is a simulation: how often the 95 % interval holds
// the true mean when repeats end as soon as it is narrow. It is what
// docs/search.md says.
func TestCoverageAfterStopping(t *testing.T) {
	t.Parallel()
	const runs, mean = 4000, 100.0
	for _, tt := range []struct {
		sd, until   float64
		low, high   float64 // coverage
		meanRepeats float64 // about
	}{
		{1, 0.02, 0.90, 0.96, 3.7},
		{2, 0.02, 0.88, 0.95, 6},
		{1, 0.01, 0.88, 0.95, 6},
		{1, 0.10, 0.94, 0.96, 3},
	} {
		policy := results.RepeatsPolicy{Min: 3, Max: 10, Until: tt.until, Confidence: 0.95}
		random := rand.New(rand.NewPCG(11, 0))
		covered, repeats, bias := 0, 0, 0.0
		for range runs {
			var values []float64
			for len(values) < policy.Max {
				values = append(values, mean+tt.sd*random.NormFloat64())
				if s := (Sample{Values: values}).Summarize(0.95); len(values) >= policy.Min &&
					*s.High-*s.Mean <= policy.Until**s.Mean {
					break
				}
			}
			s := Sample{Values: values}.Summarize(0.95)
			repeats += len(values)
			bias += (*s.Mean - mean) / runs
			if *s.Low <= mean && mean <= *s.High {
				covered++
			}
		}
		share, each := float64(covered)/runs, float64(repeats)/runs
		t.Logf("sd %.0f %%, until %.0f %%: coverage %.3f, %.2f repeats, bias %.4f", tt.sd, 100*tt.until,
			share, each, bias)
		if share < tt.low || share > tt.high {
			t.Errorf("coverage with sd %g until %g = %.3f, want %g to %g", tt.sd, tt.until, share, tt.low, tt.high)
		}
		if each < tt.meanRepeats-0.5 || each > tt.meanRepeats+0.5 {
			t.Errorf("repeats with sd %g until %g = %.2f, want about %g", tt.sd, tt.until, each, tt.meanRepeats)
		}
		if bias < -0.05 || bias > 0.05 {
			t.Errorf("the mean is off by %.4f, want nothing", bias)
		}
	}
}

func TestFigureNamed(t *testing.T) {
	f := &results.Figures{
		Completed: 90, Failed: 10, DurationS: 10, RequestThroughput: new(9.0),
		RequestGoodput: new(4.5),
	}
	f.TTFT = results.Dist{N: 3, Mean: new(0.2), Percentiles: []results.PercentileFigure{{P: 99.9, Value: new(0.5)}}}
	r := &results.Result{Figures: f}
	for name, want := range map[string]string{
		"mean_ttft_ms": "200", "mean_ttft_s": "0.2", "p99.9_ttft_ms": "500", "p99_ttft_ms": "null",
		"median_tpot_s":      "null",
		"request_throughput": "9", "success_share": "0.9", "goodput_share": "0.45", "output_throughput": "null",
		"p101_ttft_s": "no", "ttft": "no", "p99_ttft": "no", "": "no",
	} {
		got := "no"
		if figure, err := catalog.Named(name); err == nil {
			got = "null"
			if v := figure.Of(r); v != nil {
				got = fmt.Sprintf("%.4g", *v)
			}
		}
		if got != want {
			t.Errorf("FigureNamed(%q) of a step = %s, want %s", name, got, want)
		}
	}
}
