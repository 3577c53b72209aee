package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

func agreeRule() AgreeRule { return AgreeRule{Confidence: 0.95, Margin: 0.03, Power: 0.8} }

// judged is the verdict of one figure by itself.
func judged(origin, here []float64, rule AgreeRule) Agreement {
	a := Agree("f", Sample{"o", origin}, Sample{"h", here}, boundOfMeans, rule)
	JudgeAgreements([]*Agreement{&a}, rule)
	return a
}

func TestAgree(t *testing.T) {
	stated := agreeRule()
	stated.Spread = 0.005
	tests := []struct {
		name         string
		origin, here []float64
		rule         AgreeRule
		want         Closeness
		basis        Basis
	}{
		{
			"close repeats",
			[]float64{100, 100.2, 99.9, 100.1},
			[]float64{100.3, 100.1, 99.8, 100},
			agreeRule(),
			Agrees, onLives,
		},
		{"half as fast", []float64{100, 101, 99}, []float64{50, 50.5, 49.5}, agreeRule(), Differs, onLives},
		{"twice as slow", []float64{100, 101, 99}, []float64{200, 202, 198}, agreeRule(), Differs, onLives},
		{"wide", []float64{100, 120, 80}, []float64{100, 119, 82}, agreeRule(), Undecided, onLives},
		{
			"beyond the margin, but not surely",
			[]float64{100, 101, 99},
			[]float64{104, 105, 103},
			agreeRule(),
			Undecided, onLives,
		},
		{"the very same, no spread", []float64{7, 7}, []float64{7, 7}, agreeRule(), Agrees, OnPooled},
		{"no spread, another value", []float64{7, 7}, []float64{8, 8}, agreeRule(), Differs, OnPooled},
		{"one life here", []float64{100, 100.1, 99.9, 100}, []float64{100.1}, agreeRule(), Agrees, OnOneSide},
		{"one life here, far off", []float64{100, 100.1, 99.9, 100}, []float64{80}, agreeRule(), Differs, OnOneSide},
		{"one life there", []float64{100.1}, []float64{100, 100.1, 99.9, 100}, agreeRule(), Agrees, OnOneSide},
		{"one life each, equal", []float64{100}, []float64{100}, agreeRule(), Undecided, OnBound},
		{"one life each, 20 % off", []float64{100}, []float64{80}, agreeRule(), Undecided, OnBound},
		{"one life each, half", []float64{100}, []float64{50}, agreeRule(), Undecided, OnBound},
		{"one life each, a tenth", []float64{100}, []float64{10}, agreeRule(), Undecided, OnBound},
		{"one life each, spread stated, near", []float64{100}, []float64{100.5}, stated, Agrees, OnStated},
		{"one life each, spread stated, far", []float64{100}, []float64{90}, stated, Differs, OnStated},
		{"one side has none", []float64{100}, nil, agreeRule(), NotComparable, ""},
		{"nothing there", []float64{0, 0}, []float64{1, 1}, agreeRule(), NotComparable, ""},
	}
	for _, test := range tests {
		got := judged(test.origin, test.here, test.rule)
		if got.Verdict != test.want || got.Basis != test.basis {
			t.Errorf("%s: %q on %q, want %q on %q (interval %v to %v)", test.name, got.Verdict, got.Basis, test.want,
				test.basis, shown(got.Low), shown(got.High))
		}
	}
}

func shown(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// The standard error and degrees of freedom by the formulas of Welch and of the
// delta method, computed in Python from the same ten values.
func TestAgreeInterval(t *testing.T) {
	a := judged([]float64{99, 101, 100, 100.5, 100}, []float64{100, 101.5, 99.5, 101, 100}, agreeRule())
	const se, df, delta = 0.004951461844996018, 7.922230938229104, 0.0029970029970030065
	if math.Abs(a.se-se) > 1e-12 || math.Abs(a.df-df) > 1e-9 || math.Abs(*a.Delta-delta) > 1e-12 {
		t.Errorf("se, df, delta = %v, %v, %v, want %v, %v, %v", a.se, a.df, *a.Delta, se, df, delta)
	}
	if got, want := *a.High-*a.Delta, TQuantile(0.95, df)*se; math.Abs(got-want) > 1e-9 {
		t.Errorf("half-width = %v, want %v", got, want)
	}
}

// simulate judges many reproductions of so many figures whose true change is
// shift, and counts those with a verdict among their figures, and the figures
// with it.
func simulate(t *testing.T, rounds, figures, origin, here int, spread, shift float64, want Closeness) (runs,
	all float64,
) {
	t.Helper()
	rule := agreeRule()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, mean float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = mean * (1 + spread*random.NormFloat64())
		}
		return values
	}
	for range rounds {
		set := make([]*Agreement, figures)
		for i := range set {
			a := Agree("f", Sample{"o", draw(origin, 100)}, Sample{"h", draw(here, 100*(1+shift))}, boundOfMeans, rule)
			set[i] = &a
		}
		JudgeAgreements(set, rule)
		any := 0.0
		for _, a := range set {
			if a.Verdict == want {
				any = 1
				all++
			}
		}
		runs += any
	}
	return runs / float64(rounds), all / float64(rounds*figures)
}

// A reproduction whose true changes do not matter has a figure that differs in
// at most 5 % of all tries, however many figures there are; also where the
// change is as large as it may be.
func TestAgreeFalseAlarms(t *testing.T) {
	t.Parallel()
	const rounds, limit = 60, 0.05 + 3*0.0281 // three standard errors of the simulation
	for _, test := range []struct {
		figures, origin, here int
		spread, shift         float64
	}{
		{1, 3, 3, 0.01, 0.03},
		{8, 3, 3, 0.01, 0.03},
		{8, 5, 2, 0.05, -0.03},
		{8, 5, 1, 0.02, 0.03},
		{8, 2, 2, 0.1, 0.03},
	} {
		got, _ := simulate(t, rounds, test.figures, test.origin, test.here, test.spread, test.shift, Differs)
		if got > limit {
			t.Errorf("%+v: %.3f of the reproductions differ, want at most %.3f", test, got, limit)
		}
	}
}

// A figure whose true change is at the margin, or beyond it, agrees in at most
// 2.5 % of all tries.
func TestAgreeFalseAgreement(t *testing.T) {
	t.Parallel()
	const rounds, limit = 300, 0.025 + 3*0.009
	for _, test := range []struct {
		origin, here  int
		spread, shift float64
	}{{3, 3, 0.005, 0.03}, {5, 5, 0.02, -0.03}, {4, 1, 0.005, 0.03}, {3, 3, 0.01, 0.06}} {
		_, got := simulate(t, rounds, 1, test.origin, test.here, test.spread, test.shift, Agrees)
		if got > limit {
			t.Errorf("%+v: %.3f agree, want at most %.3f", test, got, limit)
		}
	}
}

// True agreement and true differences are found at useful spreads.
func TestAgreePower(t *testing.T) {
	const rounds = 40
	for _, test := range []struct {
		origin, here  int
		spread, shift float64
		want          Closeness
		least         float64
	}{
		{5, 5, 0.01, 0, Agrees, 0.95},
		{3, 3, 0.005, 0, Agrees, 0.9},
		{5, 5, 0.01, 0.10, Differs, 0.95},
		{3, 3, 0.01, -0.5, Differs, 0.95},
		{5, 1, 0.01, -0.5, Differs, 0.95},
	} {
		if _, got := simulate(t, rounds, 10, test.origin, test.here, test.spread, test.shift,
			test.want); got < test.least {
			t.Errorf("%+v: found in %.3f, want %.2f", test, got, test.least)
		}
	}
}

// The repeats that are said to tell do, about as often as Power says.
func TestAgreeMoreRepeats(t *testing.T) {
	a := judged([]float64{98, 102, 100, 101, 99, 100, 103, 97, 100, 100}, []float64{100, 104, 97}, agreeRule())
	if a.Verdict != Undecided || a.MoreHere == 0 || a.MoreOrigin != 0 {
		t.Fatalf("verdict %q, more here %d, at the origin %d", a.Verdict, a.MoreHere, a.MoreOrigin)
	}
	random := rand.New(rand.NewPCG(1, 2))
	told := 0
	const rounds = 200
	for range rounds {
		var origin, here []float64
		for range a.Origin.N {
			origin = append(origin, 100*(1+relative(a.Origin)*random.NormFloat64()))
		}
		for range a.Here.N + a.MoreHere {
			here = append(here, 100*(1+*a.Delta)*(1+relative(a.Here)*random.NormFloat64()))
		}
		if judged(origin, here, agreeRule()).Verdict == Agrees {
			told++
		}
	}
	if told < rounds*7/10 {
		t.Errorf("%d more repeats tell in %d of %d, want 80 %%", a.MoreHere, told, rounds)
	}
	wide := judged([]float64{90, 110}, []float64{100, 101, 99}, agreeRule())
	if wide.Verdict != Undecided || wide.MoreOrigin == 0 || wide.MoreHere != wide.MoreOrigin {
		t.Errorf("origin of two lives far apart: %q, more here %d, at the origin %d", wide.Verdict, wide.MoreHere,
			wide.MoreOrigin)
	}
	single := judged([]float64{100}, []float64{101}, agreeRule())
	if single.MoreHere != 2 {
		t.Errorf("one life each: more here %d, want 2", single.MoreHere)
	}
}

// One start against another decides nothing, in a report as in a reproduction.
func TestOneRuleForSingleStarts(t *testing.T) {
	usual := Rule{Confidence: 0.95, Margin: 0.03, Power: 0.8, Rounds: 1}
	for _, change := range []float64{0.1, 0.5, 0.9, 1, 1.1, 2, 10} {
		origin, here := []float64{100}, []float64{100 * change}
		if got := judged(origin, here, agreeRule()); got.Verdict != Undecided || got.MoreHere < 1 {
			t.Errorf("reproduction at %g: %q, %d more repeats; want %q and a number", change, got.Verdict, got.MoreHere,
				Undecided)
		}
		d := []Difference{Compare("x", true, Sample{Values: origin}, Sample{Values: here}, usual)}
		Judge(d, usual)
		if d[0].Verdict != CannotTell {
			t.Errorf("report at %g: %q, want %q", change, d[0].Verdict, CannotTell)
		}
	}
}
