package blame

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// world is a server whose settings have known effects.
type world struct {
	runs    [][]bool // of the design
	effects []float64
	both    map[[2]int]float64 // extra effect of two settings together
	noise   float64            // standard deviation of the logarithm
	drift   float64            // of a repeat's level
	repeats int
	fails   func(levels []bool) bool
	random  *rand.Rand
}

func newWorld(runs [][]bool, effects ...float64) *world {
	return &world{runs: runs, effects: effects, repeats: 3, random: rand.New(rand.NewPCG(1, 2))}
}

// full are all combinations of factors.
func full(factors int) [][]bool {
	var runs [][]bool
	for bits := range 1 << factors {
		levels := make([]bool, factors)
		for i := range levels {
			levels[i] = bits&(1<<i) != 0
		}
		runs = append(runs, levels)
	}
	return runs
}

// half is the half of four factors in which the fourth is the product of the others.
func half() [][]bool {
	runs := full(3)
	for i, r := range runs {
		runs[i] = append(r, r[0] != r[1] != r[2])
	}
	return runs
}

func (w *world) run() *results.Run {
	run := &results.Run{}
	run.Manifest.Points = []string{"all"}
	policy := &results.BlamePolicy{Figure: "output_throughput", Levels: map[string][]bool{}}
	for i := range w.effects {
		policy.Factors = append(policy.Factors, results.Factor{Name: fmt.Sprintf("f%d", i)})
	}
	run.Manifest.Blame = policy
	for i, levels := range w.runs {
		name := fmt.Sprintf("v%02d", i)
		policy.Levels[name] = levels
		run.Manifest.Variants = append(run.Manifest.Variants, name)
	}

	for repeat := 1; repeat <= w.repeats; repeat++ {
		level := w.drift * w.random.NormFloat64()
		for i, levels := range w.runs {
			run.Steps = append(run.Steps, results.Step{
				State:  results.StepDone,
				Result: w.step(run.Manifest.Variants[i], repeat, levels, level),
			})
		}
	}
	return run
}

func (w *world) step(name string, repeat int, levels []bool, log float64) *results.Result {
	r := &results.Result{Verdict: results.OK, Step: results.StepRef{
		ID: fmt.Sprintf("%s_r%d", name, repeat), Variant: name, Point: "all", Repeat: repeat,
	}}
	if w.fails != nil && w.fails(levels) {
		r.Verdict, r.Failure = results.Failed, results.Failf(results.FailOutOfMemory, "no room")
		return r
	}
	for i, set := range levels {
		if set {
			log += math.Log1p(w.effects[i])
		}
	}
	for pair, extra := range w.both {
		if levels[pair[0]] && levels[pair[1]] {
			log += math.Log1p(extra)
		}
	}
	log += w.noise * w.random.NormFloat64()
	r.Figures = &results.Figures{OutputThroughput: new(1000 * math.Exp(log))}
	return r
}

func (w *world) outcome() Outcome { return Of(w.run(), compare.DefaultRule()) }

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9 {
		t.Errorf("%s = %v, want %g", what, deref(got), want)
	}
}

func deref(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// TestEffectsOfKnownTruth: without noise every effect is exact, and verdicts follow.
func TestEffectsOfKnownTruth(t *testing.T) {
	w := newWorld(full(3), 0.2, -0.1, 0)
	w.drift = 0.3 // between repeats, which the model takes out
	p := w.outcome().Points[0]
	near(t, "f0", p.Effects[0].Change, 0.2)
	near(t, "f1", p.Effects[1].Change, -0.1)
	near(t, "f2", p.Effects[2].Change, 0)
	near(t, "all", p.All.Change, 1.2*0.9-1)
	want := []compare.Verdict{compare.Better, compare.Worse, compare.NoDifference}
	for i, e := range p.Effects {
		if e.Verdict != want[i] || e.With != 12 || e.Without != 12 || e.More != 0 {
			t.Errorf("f%d: %+v, want verdict %s", i, e, want[i])
		}
	}
	if len(p.Interactions) != 3 || p.Starts != 24 || p.Freedom != 24-3-6 {
		t.Errorf("%d interactions, %d starts, %d degrees of freedom", len(p.Interactions), p.Starts, p.Freedom)
	}
}

// TestLowerIsBetter: of a latency, a lower one is better.
func TestLowerIsBetter(t *testing.T) {
	run := newWorld(full(1), 0.2).run()
	run.Manifest.Blame.Figure = "median_e2el_s"
	for _, s := range run.Steps {
		s.Result.Figures.E2EL.Median = s.Result.Figures.OutputThroughput
	}
	if e := Of(run, compare.DefaultRule()).Points[0].Effects[0]; e.Verdict != compare.Worse {
		t.Errorf("a latency that rises is %s, want worse", e.Verdict)
	}
}

// TestInteractions: a full design tells them apart, half of one names the aliases.
func TestInteractions(t *testing.T) {
	w := newWorld(full(3), 0.1, 0.05, 0)
	w.both = map[[2]int]float64{{0, 2}: 0.3}
	for _, e := range w.outcome().Points[0].Interactions {
		want := 0.0
		if slices.Equal(e.Factors, []int{0, 2}) {
			want = 0.3
		}
		near(t, fmt.Sprint(e.Factors), e.Change, want)
		if e.Aliases != nil {
			t.Errorf("%v has aliases %v in a full design", e.Factors, e.Aliases)
		}
	}

	w = newWorld(half(), 0.1, 0.05, 0, 0)
	p := w.outcome().Points[0]
	got := fmt.Sprint(p.Interactions[0].Factors, p.Interactions[0].Aliases, len(p.Interactions))
	if got != "[0 1] [[2 3]] 3" {
		t.Errorf("interactions %s, want [0 1] [[2 3]] 3", got)
	}
	for i, e := range p.Effects {
		near(t, fmt.Sprint("f", i), e.Change, w.effects[i])
		if e.Aliases != nil {
			t.Errorf("f%d is aliased with %v in a design of resolution IV", i, e.Aliases)
		}
	}
}

// TestFailedStarts: a setting that no server starts with is named; of the others
// the effects are still known, from the half that served.
func TestFailedStarts(t *testing.T) {
	w := newWorld(half(), 0.1, 0.2, 0.3, 0)
	w.fails = func(levels []bool) bool { return levels[3] }
	o := w.outcome()
	if o.Never == nil || fmt.Sprint(o.Never.With) != "[{3 true}]" || o.Failed != 12 || o.Starts != 24 ||
		o.Never.Starts != 12 || o.Never.Why != "out-of-memory: no room" {
		t.Fatalf("failures %+v", o)
	}
	p := o.Points[0]
	for i := range 3 {
		near(t, fmt.Sprint("f", i), p.Effects[i].Change, w.effects[i])
		if p.Effects[i].Aliases == nil {
			t.Errorf("f%d: the half that served confuses it with an interaction, and no alias is named", i)
		}
	}
	if e := p.Effects[3]; e.Change != nil || e.Verdict != compare.CannotTell || p.All.Change != nil {
		t.Errorf("f3 is %+v, want nothing known", e)
	}

	w.fails = func(levels []bool) bool { return levels[0] && !levels[1] }
	if o = w.outcome(); fmt.Sprint(o.Never.With) != "[{0 true} {1 false}]" {
		t.Errorf("failures with %v, want f0 without f1", o.Never.With)
	}
	w.fails = func([]bool) bool { return true }
	if o = w.outcome(); o.Never.With != nil || o.Points[0].Effects[0].Change != nil {
		t.Errorf("nothing served: %+v", o)
	}
}

// TestStepsThatSayNothingOfTheirVariant: neither a step that ended with the run nor
// one that the user skipped is a failed start.
func TestStepsThatSayNothingOfTheirVariant(t *testing.T) {
	for _, class := range []results.FailureClass{results.FailInterrupted, results.FailDisk, results.FailSkipped} {
		run := newWorld(half(), 0.1, 0.2, 0.3, 0).run()
		for i, s := range run.Steps[1:] {
			s.Result.Verdict, s.Result.Figures = results.NotRun, nil
			s.Result.Failure = results.Failf(results.FailInterrupted, "stopped by SIGINT")
			if i == 0 {
				s.Result.Verdict, s.Result.Failure = results.Failed, results.Failf(class, "ended")
			}
		}
		if o := Of(run, compare.DefaultRule()); o.Never != nil || o.Failed != 0 || o.Starts != 1 {
			t.Errorf("%s: never %+v, %d of %d starts failed, want none of 1", class, o.Never, o.Failed, o.Starts)
		}
	}
}

// TestOneRepeat: without a second start of a variant, the noise is not known.
func TestOneRepeat(t *testing.T) {
	w := newWorld(half(), 0.5, 0, 0, 0)
	w.repeats = 1
	if e := w.outcome().Points[0].Effects[0]; e.Low != nil || e.Verdict != compare.CannotTell {
		t.Errorf("one start of each: %+v, want no interval", e)
	}
}

// TestBlameUnderNoise is a simulation. Where the two variants are alike, at most
// 5 % of the runs call any effect; where settings have effects, the intervals of
// all of them hold in at least 95 %, and an effect well above the noise is found.
func TestBlameUnderNoise(t *testing.T) {
	t.Parallel()
	const rounds = 300
	for _, tt := range []struct {
		name    string
		runs    [][]bool
		effects []float64
		found   float64 // least share of runs that find the first effect
	}{
		{"two, alike", full(2), []float64{0, 0}, 0},
		{"three, alike", full(3), []float64{0, 0, 0}, 0},
		{"four, alike", half(), []float64{0, 0, 0, 0}, 0},
		{"two of four", half(), []float64{0.06, 0, -0.04, 0}, 0.95},
		{"one of two", full(2), []float64{0.10, 0}, 0.9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(tt.runs, tt.effects...)
			w.noise, w.drift, w.random = 0.02, 0.05, rand.New(rand.NewPCG(5, 6))
			alarms, missed, found := 0, 0, 0
			for range rounds {
				p := w.outcome().Points[0]
				alarm, held := false, true
				for _, e := range slices.Concat(p.Effects, p.Interactions) {
					truth := 0.0
					if len(e.Factors) == 1 {
						truth = tt.effects[e.Factors[0]]
					}
					called := e.Verdict == compare.Better || e.Verdict == compare.Worse
					alarm = alarm || called && truth == 0
					held = held && *e.Low <= truth && truth <= *e.High
				}
				alarms += count(alarm)
				missed += count(!held)
				found += count(p.Effects[0].Verdict == compare.Better)
			}
			t.Logf("alarms %.3f, intervals missed %.3f, found %.3f", float64(alarms)/rounds, float64(missed)/rounds,
				float64(found)/rounds)
			const most = 0.05 + 0.025 // two standard errors of a share of 5 %
			if float64(alarms)/rounds > most || float64(missed)/rounds > most ||
				float64(found)/rounds < tt.found {
				t.Errorf("false alarms %.3f, intervals that missed %.3f, want at most %.3f; found %.3f, want at least %.2f",
					float64(alarms)/rounds, float64(missed)/rounds, most, float64(found)/rounds, tt.found)
			}
		})
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
