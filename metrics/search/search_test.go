package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func rateSearch(from, to float64) results.SearchPolicy {
	return results.SearchPolicy{
		Metric: results.SearchRate, From: from, To: to, Steps: 15, Tolerance: 0.05,
		Targets: []results.Condition{{Figure: "p99_ttft_ms", Op: "<=", Value: 500}},
	}
}

// A rate at which the targets of a class were met, while the server fell behind.
func TestBacklog(t *testing.T) {
	step := func(rate, served float64, n int) *results.Result {
		f := &results.Figures{Completed: 100, Steady: &results.SteadyState{N: n, RequestThroughput: served}}
		return &results.Result{Asked: results.Asked{RequestRate: &rate}, Figures: f}
	}
	for _, tt := range []struct {
		name    string
		steps   []*results.Result
		outcome ProbeOutcome
		want    *float64
	}{
		{"keeps up", []*results.Result{step(50, 49, 100)}, ProbeMet, nil},
		{"falls behind", []*results.Result{step(50, 30, 100)}, ProbeMet, new(30.0)},
		{"the worst of two", []*results.Result{step(50, 30, 100), step(50, 25, 100)}, ProbeMet, new(25.0)},
		{"missed", []*results.Result{step(50, 30, 100)}, ProbeMissed, nil},
		{"another load", []*results.Result{step(60, 30, 100)}, ProbeMet, nil},
		{"few requests", []*results.Result{step(50, 30, 10)}, ProbeMet, nil},
		{"no figures", []*results.Result{{}}, ProbeMet, nil},
	} {
		s := Run{End: NextLoad{Met: new(50.0)}, Steps: tt.steps}
		for _, r := range tt.steps {
			load := 0.0
			if r.Asked.RequestRate != nil {
				load = *r.Asked.RequestRate
			}
			s.Probes = append(s.Probes, Probe{Load: load, Outcome: tt.outcome})
		}
		if got := s.Backlog(); (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if (Run{}).Backlog() != nil {
		t.Error("a search without a limit has a backlog")
	}
}

// response is a latency in ms over a load.
type response func(load float64) float64

// queue is a server that answers in base ms when idle and waits without end at
// its capacity.
func queue(base, capacity float64) response {
	return func(load float64) float64 {
		if load >= capacity {
			return math.Inf(1)
		}
		return base / (1 - load/capacity)
	}
}

// limit is the load at which a curve reaches 500 ms.
func limit(c response, from, to float64) float64 {
	for range 200 {
		if mid := math.Sqrt(from * to); c(mid) <= 500 {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}

// probeAt is a measurement of a curve, off by a factor of e^noise.
func probeAt(policy results.SearchPolicy, load, ms float64) Probe {
	figures := &results.Figures{Completed: 100, DurationS: 10}
	figures.TTFT.Percentiles = []results.PercentileFigure{{P: 99, Value: new(ms / 1000)}}
	asked := results.Asked{RequestRate: &load}
	if policy.Metric == results.SearchConcurrency {
		asked = results.Asked{MaxConcurrency: new(int(load))}
	}
	return ProbeOf(policy, &results.Result{Verdict: results.OK, Asked: asked, Figures: figures})
}

// drive runs a search over a curve whose measurements have a noise of sigma, as
// a factor.
func drive(policy results.SearchPolicy, estimate float64, c response, sigma float64,
	random *rand.Rand,
) (NextLoad, []Probe) {
	var probes []Probe
	for {
		next := NextOf(policy, estimate, probes)
		if next.Done {
			return next, probes
		}
		noise := 1.0
		if sigma > 0 {
			noise = math.Exp(sigma * random.NormFloat64())
		}
		probes = append(probes, probeAt(policy, next.Load, c(next.Load)*noise))
	}
}

func loadsOf(probes []Probe) string {
	var words []string
	for _, p := range probes {
		words = append(words, LoadText(p.Load)+" "+string(p.Outcome))
	}
	return strings.Join(words, ", ")
}

func TestSearchFindsLimit(t *testing.T) {
	whole := rateSearch(1, 512)
	whole.Metric = results.SearchConcurrency
	started := rateSearch(1, 64)
	started.Start = new(20.0)
	for _, tt := range []struct {
		name     string
		policy   results.SearchPolicy
		estimate float64
		curve    response
		most     int // steps
	}{
		{"steep, in the middle", rateSearch(1, 64), 0, queue(100, 12), 10},
		{"flat", rateSearch(1, 64), 0, func(load float64) float64 { return 100 * math.Sqrt(load) }, 12},
		{"cliff", rateSearch(1, 64), 0, func(load float64) float64 {
			return map[bool]float64{true: 50, false: 9000}[load < 33.3]
		}, 9},
		{"cliff by the start", rateSearch(1, 64), 0, func(load float64) float64 {
			return map[bool]float64{true: 50, false: 9000}[load < 1.1]
		}, 9},
		{"cliff by the end", rateSearch(1, 64), 0, func(load float64) float64 {
			return map[bool]float64{true: 50, false: 9000}[load < 62]
		}, 9},
		{"wide range", rateSearch(0.1, 1000), 0, queue(50, 300), 14},
		{"narrow range", rateSearch(8, 16), 0, queue(100, 15), 9},
		{"estimate of the scenario", started, 0, queue(100, 24), 7},
		{"estimate that is far off", rateSearch(1, 64), 40, queue(100, 4), 14},
		{"estimate of an earlier repeat", rateSearch(1, 64), 9.5, queue(100, 12), 7},
		{"whole numbers", whole, 0, func(load float64) float64 { return 4 * load }, 13},
		{"small whole numbers", whole, 0, func(load float64) float64 { return 150 * load }, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, probes := drive(tt.policy, tt.estimate, tt.curve, 0, nil)
			want := limit(tt.curve, tt.policy.From, tt.policy.To)
			if !got.Within || got.Met == nil || got.Missed == nil {
				t.Fatalf("NextOf after %s = %+v, want a limit of %g", loadsOf(probes), got, want)
			}
			ok := *got.Met <= want && want <= *got.Missed
			narrow := *got.Missed <= *got.Met*1.05*(1+1e-9) || tt.policy.Metric == results.SearchConcurrency &&
				*got.Missed == *got.Met+1
			if !ok || !narrow || len(got.Doubts) > 0 {
				t.Errorf("NextOf after %s: met %g, missed %g, doubts %q, want them around %g", loadsOf(probes),
					*got.Met, *got.Missed, got.Doubts, want)
			}
			if len(probes) > tt.most {
				t.Errorf("NextOf took %d steps (%s), want at most %d", len(probes), loadsOf(probes), tt.most)
			}
		})
	}
}

func TestSearchEnds(t *testing.T) {
	few := rateSearch(1, 64)
	few.Steps = 4
	for _, tt := range []struct {
		name   string
		policy results.SearchPolicy
		curve  response
		want   string
	}{
		{
			"all met", rateSearch(1, 64), func(float64) float64 { return 50 },
			"the highest load, 64, met the targets: the limit is above",
		},
		{
			"all met, not by far", rateSearch(1, 64), func(float64) float64 { return 450 },
			"the highest load, 64, met the targets: the limit is above",
		},
		{
			"all missed", rateSearch(1, 64), func(float64) float64 { return 5000 },
			"the lowest load, 1, missed the targets",
		},
		{
			"all missed, not by far", rateSearch(1, 64), func(float64) float64 { return 510 },
			"the lowest load, 1, missed the targets",
		},
		{"too few steps", few, queue(100, 12), "the limit of 4 steps is reached; the next load would have been"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, probes := drive(tt.policy, 0, tt.curve, 0, nil)
			if !strings.HasPrefix(got.Why, tt.want) || got.Within {
				t.Errorf("NextOf after %s = %q, within %v, want %q", loadsOf(probes), got.Why, got.Within, tt.want)
			}
		})
	}
}

// TestSearchDoubts gives the search outcomes that do not fit.
func TestSearchDoubts(t *testing.T) {
	policy := rateSearch(1, 64)
	probe := func(load, ms float64) Probe { return probeAt(policy, load, ms) }
	unknown := Probe{Load: 4, Outcome: ProbeUnknown, Why: "port-in-use: 8000"}
	for _, tt := range []struct {
		name     string
		probes   []Probe
		wantLoad float64 // 0: done
		wantText string  // in the reason or the doubts
	}{
		{
			"near the target",
			[]Probe{probe(1, 50), probe(4, 490), probe(4.1, 5000)},
			4,
			"once more before it counts: it met",
		},
		{
			"two that disagree",
			[]Probe{probe(1, 50), probe(4, 490), probe(4.1, 5000), probe(4, 510)},
			4,
			"4: 1 of 2 measurements met",
		},
		{
			"two to one",
			[]Probe{probe(1, 50), probe(4, 490), probe(4.1, 5000), probe(4, 510), probe(4, 480)},
			0,
			"4: 2 of 3 measurements met",
		},
		{
			"a hiccup is mended",
			[]Probe{probe(1, 50), probe(4, 600), probe(3.9, 90), probe(4, 90), probe(4, 90)},
			16,
			"all loads so far met",
		},
		{
			"not monotone",
			[]Probe{probe(1, 50), probe(4, 5000), probe(16, 60)},
			2,
			"16 met the targets although the lower 4 missed them",
		},
		{"a step without a word", []Probe{probe(1, 50), unknown}, 4, "port-in-use"},
		{"two in a row", []Probe{probe(1, 50), unknown, unknown}, 0, "two steps in a row gave no result: port-in-use"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := NextOf(policy, 0, tt.probes)
			if got.Done != (tt.wantLoad == 0) || !got.Done && got.Load != tt.wantLoad {
				t.Errorf("NextOf(%s) = %+v, want load %g", loadsOf(tt.probes), got, tt.wantLoad)
			}
			if text := got.Why + "; " + strings.Join(got.Doubts, "; "); !strings.Contains(text, tt.wantText) {
				t.Errorf("NextOf(%s) says %q, want %q", loadsOf(tt.probes), text, tt.wantText)
			}
		})
	}
}

// TestSearchUnderNoise is a simulation: how far the result is from the limit
// when every p99 is off by a log-normal factor.
func TestSearchUnderNoise(t *testing.T) {
	t.Parallel()
	const runs = 2000
	for _, tt := range []struct {
		name  string
		curve response
		sigma float64
		off   float64 // share of searches whose result may be further off than 10 %
		mean  float64 // steps
	}{
		{"steep, 10 %", queue(100, 12), 0.1, 0.01, 11.5},
		{"steep, 30 %", queue(100, 12), 0.3, 0.2, 11.5},
		{"proportional, 10 %", func(load float64) float64 { return 40 * load }, 0.1, 0.28, 12.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 1))
			want := limit(tt.curve, 1, 64)
			off, steps, ended := 0, 0, 0
			for range runs {
				got, probes := drive(rateSearch(1, 64), 0, tt.curve, tt.sigma, random)
				steps += len(probes)
				if got.Met == nil || math.Abs(math.Log(*got.Met/want)) > math.Log(1.1) {
					off++
				}
				if got.Within {
					ended++
				}
			}
			t.Logf("off by more than 10 %%: %.3f; steps %.2f; within the tolerance %.3f", float64(off)/runs,
				float64(steps)/runs, float64(ended)/runs)
			if share := float64(off) / runs; share > tt.off {
				t.Errorf("%.3f of the searches are off by more than 10 %%, want at most %.2f", share, tt.off)
			}
			if mean := float64(steps) / runs; mean > tt.mean {
				t.Errorf("%.2f steps on average, want at most %.1f", mean, tt.mean)
			}
		})
	}
}

// TestSearchIsPure asks again at every prefix: a run that was cut off continues
// with the same load.
func TestSearchIsPure(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	policy := rateSearch(1, 64)
	_, probes := drive(policy, 0, queue(100, 12), 0.2, random)
	for i, p := range probes {
		if got := NextOf(policy, 0, slices.Clone(probes[:i])); got.Done || got.Load != p.Load {
			t.Errorf("NextOf after %d steps = %g, done %v, want %g", i, got.Load, got.Done, p.Load)
		}
	}
}

// FuzzNextOf: every search ends, asks for loads of its range alone, and never
// returns a bracket upside down.
func FuzzNextOf(f *testing.F) {
	f.Add(uint64(1), 1.0, 64.0, false)
	f.Add(uint64(9), 1.0, 3.0, true)
	f.Fuzz(func(t *testing.T, seed uint64, from, to float64, whole bool) {
		if !(from > 1e-3 && to > from && to < 1e6) {
			t.Skip()
		}
		policy := rateSearch(from, to)
		if whole {
			policy = rateSearch(math.Ceil(from), math.Ceil(from)+math.Ceil(to))
			policy.Metric = results.SearchConcurrency
		}
		random := rand.New(rand.NewPCG(seed, 0))
		_, probes := drive(policy, 0, func(float64) float64 { return 500 * math.Exp(random.NormFloat64()) }, 0, nil)
		for _, p := range probes {
			if p.Load < policy.From || p.Load > policy.To || whole && p.Load != math.Round(p.Load) {
				t.Fatalf("NextOf asked for %g of %g to %g", p.Load, policy.From, policy.To)
			}
		}
		if got := NextOf(policy, 0, probes); len(probes) > policy.Steps || got.Met != nil && got.Missed != nil &&
			*got.Met >= *got.Missed {
			t.Fatalf("NextOf after %d steps: %+v", len(probes), got)
		}
	})
}

func TestProbeOf(t *testing.T) {
	policy := rateSearch(1, 64)
	policy.Targets = append(policy.Targets, results.Condition{Figure: "success_share", Op: ">=", Value: 0.99})
	asked := results.Asked{RequestRate: new(4.0)}
	figures := func(ms float64, completed int) *results.Figures {
		f := &results.Figures{
			Completed: completed, Failed: 100 - completed, DurationS: 10,
			RequestThroughput: new(float64(completed) / 10),
		}
		f.TTFT.Percentiles = []results.PercentileFigure{{P: 99, Value: new(ms / 1000)}}
		return f
	}
	failed := func(class results.FailureClass, client *results.ClientReport) *results.Result {
		return &results.Result{Verdict: results.Failed, Failure: results.Failf(class, "why"), Client: client}
	}
	for _, tt := range []struct {
		name   string
		result *results.Result
		want   string
	}{
		{"met by far", &results.Result{Verdict: results.OK, Figures: figures(100, 100)}, "met clear"},
		{"met, near", &results.Result{Verdict: results.OK, Figures: figures(480, 100)}, "met"},
		{
			"missed one", &results.Result{Verdict: results.Suspect, Figures: figures(480, 90)},
			"missed success_share 0.9",
		},
		{"missed, near", &results.Result{Verdict: results.OK, Figures: figures(510, 100)}, "missed p99_ttft_ms 510"},
		{
			"a target without a figure", &results.Result{Verdict: results.OK, Figures: &results.Figures{}},
			"unknown p99_ttft_ms is not known",
		},
		{"requests failed", failed(results.FailRequests, &results.ClientReport{}), "missed clear requests-failed: why"},
		{"server ended under load", failed(results.FailExited, &results.ClientReport{}), "missed server-exited: why"},
		{"server ended before", failed(results.FailExited, nil), "unknown server-exited: why"},
		{"ended by us", failed(results.FailInterrupted, &results.ClientReport{}), "unknown interrupted: why"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.result.Asked = asked
			p := ProbeOf(policy, tt.result)
			got := string(p.Outcome)
			if p.Clear {
				got += " clear"
			}
			if got = strings.TrimSpace(fmt.Sprint(got, " ", p.Why)); got != tt.want || p.Load != 4 {
				t.Errorf("ProbeOf = %q at %g, want %q at 4", got, p.Load, tt.want)
			}
		})
	}
}

// A pass that ended because the server did not keep up missed its targets, and
// clearly, whatever its percentiles had come to by then.
func TestProbeOfAnOverloadedPass(t *testing.T) {
	policy := rateSearch(1, 64)
	figures := &results.Figures{Completed: 100, DurationS: 10}
	figures.TTFT.Percentiles = []results.PercentileFigure{{P: 99, Value: new(0.1)}}
	r := &results.Result{
		Verdict: results.Suspect, Asked: results.Asked{RequestRate: new(8.0)}, Figures: figures,
		Early: &results.EarlyEnd{Rule: results.EarlyOverload, Growth: new(0.5)},
	}
	if p := ProbeOf(policy, r); p.Outcome != ProbeMissed || !p.Clear {
		t.Errorf("ProbeOf = %+v, want a clear miss", p)
	}

	r.Early.Rule = results.EarlyMargin
	if p := ProbeOf(policy, r); p.Outcome != ProbeMet {
		t.Errorf("ProbeOf of a pass whose percentiles were known = %+v, want that it met the targets", p)
	}
}
