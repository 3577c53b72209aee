package compare

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
)

func compared(baseline, candidate []float64) Difference {
	d := []Difference{Compare("figure", true, Sample{"a", baseline}, Sample{"b", candidate}, DefaultRule())}
	Judge(d, DefaultRule())
	return d[0]
}

// The values are those of the worked example of Welch's test in the article
// "Student's t-test" of Wikipedia (t 1.959, 7.03 degrees of freedom, p 0.0908).
func TestWelch(t *testing.T) {
	d := compared([]float64{29.89, 29.93, 29.72, 29.98, 30.02, 29.98}, []float64{
		30.02, 29.99, 30.11, 29.97,
		30.01, 29.99,
	})
	numtest.Near(t, "p", d.PWelch, 0.09077, 5e-5)
	numtest.Near(t, "delta", d.Delta, 0.095/29.92, 1e-9)
	// 0.095 -+ t(0.975; 7.03) x 0.04850, by the baseline's mean; its own spread changes the fourth digit
	numtest.Near(t, "low", d.Low, (0.095-2.363*0.0485)/29.92, 2e-5)
	numtest.Near(t, "high", d.High, (0.095+2.363*0.0485)/29.92, 2e-5)
	if d.Verdict != NoDifference {
		t.Errorf("verdict = %q: within 3 %%, want %q", d.Verdict, NoDifference)
	}
}

// The values are those of SciPy's documentation of mannwhitneyu: exact p 0.1111.
func TestRank(t *testing.T) {
	d := compared([]float64{20, 11, 17, 12}, []float64{19, 22, 16, 29, 24})
	numtest.Near(t, "p", d.PRank, 1.0/9, 1e-9)
	if d.Verdict != CannotTell || d.MoreRepeats < 10 {
		t.Errorf("verdict = %q, %d more repeats: want %q and many", d.Verdict, d.MoreRepeats, CannotTell)
	}
}

func TestHolm(t *testing.T) {
	all := []Difference{{PWelch: new(0.01)}, {PWelch: new(0.04)}, {}, {PWelch: new(0.03)}, {PWelch: new(0.005)}}
	holm(all)
	// R: p.adjust(c(.01,.04,.03,.005), "holm")
	for i, want := range map[int]float64{0: 0.03, 1: 0.06, 3: 0.06, 4: 0.02} {
		numtest.Near(t, "p", all[i].PHolm, want, 1e-12)
	}
	if all[2].PHolm != nil {
		t.Errorf("p of what was not tested = %v", *all[2].PHolm)
	}
}

func TestCompareEdges(t *testing.T) {
	tests := []struct {
		name                string
		baseline, candidate []float64
		want                Verdict
		more                bool
	}{
		{"nothing", nil, nil, CannotTell, true},
		{"one each", []float64{1}, []float64{2}, CannotTell, true},
		{"one arm empty", []float64{1, 2, 3}, nil, CannotTell, true},
		{"all the same", []float64{5, 5, 5}, []float64{5, 5, 5}, NoDifference, false},
		{"two constants", []float64{5, 5, 5}, []float64{6, 6, 6}, Better, false},
		{"zero baseline", []float64{0, 0, 0}, []float64{6, 6, 6}, CannotTell, true},
		{"clearly worse", []float64{10, 10.1, 9.9}, []float64{8, 8.1, 7.9}, Worse, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := compared(tt.baseline, tt.candidate)
			if d.Verdict != tt.want || (d.MoreRepeats > 0) != tt.more {
				t.Errorf("verdict = %q, %d more; want %q", d.Verdict, d.MoreRepeats, tt.want)
			}
		})
	}
}

// night draws repeats of an arm with a spread of 1 %.
func night(random *rand.Rand, n int, mean float64) []float64 {
	const spread = 0.01
	values := make([]float64, n)
	for i := range values {
		values[i] = mean * (1 + spread*random.NormFloat64())
	}
	return values
}

// nights counts verdicts over simulated nights of ten figures, all with the
// same true difference.
func nights(delta float64, figures int) map[Verdict]int {
	const repeats, many = 5, 1000
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[Verdict]int{}
	rule := DefaultRule()
	for range many {
		all := make([]Difference, figures)
		for i := range all {
			baseline, candidate := Sample{"a", night(random, repeats, 100)},
				Sample{"b", night(random, repeats, 100*(1+delta))}
			d := Difference{
				Higher: true, Baseline: baseline.Summarize(rule.Confidence),
				Candidate: candidate.Summarize(rule.Confidence),
			}
			d.Delta, d.Verdict = new(*d.Candidate.Mean / *d.Baseline.Mean - 1), CannotTell
			d.interval(rule.Confidence, 0)
			d.test(baseline.Values, candidate.Values, 0)
			all[i] = d
		}
		Judge(all, rule)
		worst := NoDifference
		for _, d := range all {
			if d.Verdict != NoDifference {
				worst = d.Verdict
			}
		}
		counts[worst]++
	}
	return counts
}

func TestFalseAlarmsAndPower(t *testing.T) {
	t.Parallel()
	for _, figures := range []int{1, 6} {
		same := nights(0, figures)
		if alarms := same[Better] + same[Worse]; alarms > 65 { // 50 expected of 1000, 2 sd above
			t.Errorf("%d figures: %d of 1000 nights with two equal arms gave an alarm, want at most 50",
				figures, alarms)
		}
	}
	if same := nights(0, 1); same[NoDifference] < 930 {
		t.Errorf("no difference in %d of 1000 nights with two equal arms", same[NoDifference])
	}
	if found := nights(0.03, 1); found[Better] < 950 {
		t.Errorf("a difference of 3 %% was found in %d of 1000 nights", found[Better])
	}
}

// The share of intervals that hold the truth must be the stated one.
func TestIntervalCovers(t *testing.T) {
	const many = 2000
	random := rand.New(rand.NewPCG(3, 4))
	holds, meanHolds := 0, 0
	for range many {
		d := Compare("f", true, Sample{"a", night(random, 4, 100)}, Sample{"b", night(random, 4, 110)},
			Rule{Confidence: 0.95, Margin: 0.03, Power: 0.8, Rounds: 1})
		if *d.Low <= 0.1 && 0.1 <= *d.High {
			holds++
		}
		if *d.Baseline.Low <= 100 && 100 <= *d.Baseline.High {
			meanHolds++
		}
	}
	for what, n := range map[string]int{"delta": holds, "mean": meanHolds} {
		if share := float64(n) / many; share < 0.935 || share > 0.975 {
			t.Errorf("%.1f %% of the 95 %% intervals of the %s hold the truth", 100*share, what)
		}
	}
}

// The number of further repeats must give the stated power.
func TestMoreRepeats(t *testing.T) {
	d := compared([]float64{100, 104, 96, 101}, []float64{102, 98, 105, 97})
	if d.Verdict != CannotTell {
		t.Fatalf("verdict = %q", d.Verdict)
	}
	n := 4 + d.MoreRepeats
	spread := d.pooledSD() / 100
	random := rand.New(rand.NewPCG(5, 6))
	found := 0
	const many = 1000
	for range many {
		var a, b []float64
		for range n {
			a = append(a, 1+spread*random.NormFloat64())
			b = append(b, 1.03*(1+spread*random.NormFloat64()))
		}
		var again Difference
		again.Baseline, again.Candidate = Sample{Values: a}.Summarize(0.95), Sample{Values: b}.Summarize(0.95)
		again.Delta = new(0.0)
		again.test(a, b, 0)
		if *again.PWelch < 0.05 {
			found++
		}
	}
	if share := float64(found) / many; share < 0.76 || share > 0.88 {
		t.Errorf("with %d repeats 3 %% is found in %.0f %% of the nights, want about 80 %%", n, 100*share)
	}
}

// The document of the environment-switch A/B: its seven rows, and what was
// derived from them.
func TestSwizzleRows(t *testing.T) {
	baseline := map[string][]float64{
		"qps": {1.49, 1.49, 1.49}, "mean_ttft": {2403.47, 2570.94, 2866.32}, "p99_ttft": {17902.17, 17642.33, 17957.88},
		"mean_tpot": {40.31, 40.16, 39.83}, "median_itl": {29.04, 29.06, 28.98},
	}
	swizzle := map[string][]float64{
		"qps": {1.56, 1.50, 1.50, 1.50}, "mean_ttft": {3227.89, 2625.89, 2545.97, 2865.06},
		"p99_ttft": {11802.83, 17578.28, 18200.78, 18510.94}, "mean_tpot": {37.20, 39.79, 39.84, 39.59},
		"median_itl": {28.70, 28.73, 28.67, 28.69},
	}
	rule := DefaultRule()
	all := map[string]Difference{}
	var list []Difference
	for _, name := range slices.Sorted(maps.Keys(baseline)) {
		list = append(list, Compare(name, name == "qps", Sample{"baseline", baseline[name]},
			Sample{"swizzle", swizzle[name]}, rule))
	}
	Judge(list, rule)
	for _, d := range list {
		all[d.Figure] = d
	}
	numtest.Near(t, "baseline mean TTFT", all["mean_ttft"].Baseline.Mean, 2613.58, 0.005)
	numtest.Near(t, "baseline mean TTFT sd", all["mean_ttft"].Baseline.SD, 234.35, 0.005)
	numtest.Near(t, "baseline p99 TTFT sd", all["p99_ttft"].Baseline.SD, 168.42, 0.005)
	numtest.Near(t, "swizzle p99 TTFT", all["p99_ttft"].Candidate.Mean, 16523.21, 0.005)
	numtest.Near(t, "swizzle p99 TTFT sd", all["p99_ttft"].Candidate.SD, 3170.72, 0.005)
	numtest.Near(t, "swizzle mean TPOT sd", all["mean_tpot"].Candidate.SD, 1.275, 0.0005)
	numtest.Near(t, "qps delta", all["qps"].Delta, 0.0168, 5e-5)
	numtest.Near(t, "TPOT delta", all["mean_tpot"].Delta, -0.0248, 5e-5)
	numtest.Near(t, "median ITL delta", all["median_itl"].Delta, -0.0113, 5e-5)
	if got := all["p99_ttft"].Candidate.Outliers; !slices.Equal(got, []int{0}) {
		t.Errorf("outliers of the swizzle arm's p99 TTFT = %v, want its first run", got)
	}
	for figure, want := range map[string]Verdict{
		"qps": CannotTell, "mean_ttft": CannotTell, "p99_ttft": CannotTell,
		"mean_tpot": CannotTell, "median_itl": Better,
	} {
		if all[figure].Verdict != want {
			t.Errorf("%s: %q (p %v, holm %v), want %q", figure, all[figure].Verdict, numtest.Deref(all[figure].PWelch),
				numtest.Deref(all[figure].PHolm), want)
		}
	}
}

func TestDrift(t *testing.T) {
	tests := []struct {
		name    string
		values  []float64
		tau, p  float64
		drifted bool
	}{
		{"rising", []float64{1, 2, 3, 4, 5}, 1, 2.0 / 120, true},
		{"falling", []float64{5, 4, 3, 2, 1}, -1, 2.0 / 120, true},
		{"four rising", []float64{1, 2, 3, 4}, 1, 2.0 / 24, false},
		// 4 orders with one inversion, and the mirror image, and the two above
		{"one swap", []float64{1, 2, 3, 5, 4}, 0.8, 10.0 / 120, false},
		{"constant", []float64{1, 1, 1, 1}, 0, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := driftOf(Sample{Values: tt.values}, 0.05)
			numtest.Near(t, "tau", d.Tau, tt.tau, 1e-12)
			numtest.Near(t, "p", d.P, tt.p, 1e-12)
			if d.Drifted != tt.drifted {
				t.Errorf("drifted = %v, want %v", d.Drifted, tt.drifted)
			}
		})
	}
	if d := driftOf(Sample{Values: []float64{1, 2, 3}}, 0.05); d.Tau != nil || d.P != nil {
		t.Errorf("three values: tau %v, p %v; want null", numtest.Deref(d.Tau), numtest.Deref(d.P))
	}
	// where the normal approximation takes over, it differs little from counting
	const score = 200
	variance := float64(mostExact*(mostExact-1)*(2*mostExact+5)) / 18
	if exact, normal := kendallP(mostExact, score),
		math.Erfc(score/math.Sqrt(2*variance)); math.Abs(exact-normal) > 0.002 {
		t.Errorf("p of %d values: counted %v, approximated %v", mostExact, exact, normal)
	}
}
