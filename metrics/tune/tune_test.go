package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// server is a variant of known truth.
type server struct {
	tokens float64 // output tokens/s at load point c1; at c2 it is twice as much
	ttft   float64 // ms at c1; at c2 it is twice as much
	fails  bool
}

// world plays a tuning of servers whose figures are off by a factor of e^noise.
type world struct {
	policy  results.TunePolicy
	servers []server
	noise   float64
	random  *rand.Rand
}

func newWorld(servers ...server) *world {
	w := &world{servers: servers, random: rand.New(rand.NewPCG(1, 2))}
	w.policy = results.TunePolicy{
		Figure: "output_throughput", Confirm: 3,
		Targets: []results.Condition{{Figure: "p50_ttft_ms", Op: "<=", Value: 500}},
	}
	for n := len(servers); n > 1; n = (n + 1) / 2 {
		w.policy.Sizes = append(w.policy.Sizes, n)
	}
	return w
}

func (w *world) names() []string {
	names := make([]string, len(w.servers))
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i)
	}
	return names
}

// step measures a variant at a load point.
func (w *world) step(i, point, round int) *results.Result {
	r := &results.Result{
		Verdict: results.OK,
		Step: results.StepRef{
			ID: fmt.Sprintf("v%d_c%d_r%d", i, point, round), Variant: fmt.Sprintf("v%d", i),
			Point: fmt.Sprintf("c%d", point), Repeat: round,
		},
		Servers: []results.Server{{Life: fmt.Sprintf("%d-%d", i, round)}},
	}
	s := w.servers[i]
	if s.fails {
		r.Verdict, r.Failure = results.Failed, results.Failf(results.FailOutOfMemory, "no room for the weights")
		return r
	}
	factor := float64(point) * math.Exp(w.noise*w.random.NormFloat64())
	r.Figures = &results.Figures{OutputThroughput: new(s.tokens * factor)}
	r.Figures.TTFT.Percentiles = []results.PercentileFigure{{P: 50, Value: new(s.ttft * float64(point) / 1000)}}
	return r
}

// run carries the tuning out, and says how many server starts it took.
func (w *world) run() (run *results.Run, starts int) {
	run = &results.Run{}
	run.Manifest.Tune, run.Manifest.Variants = &w.policy, w.names()
	var steps []*results.Result
	for round := 1; round <= len(w.policy.Sizes)+w.policy.Confirm; round++ {
		decided := RoundOf(w.policy, w.names(), "v0", round, steps)
		for i, name := range w.names() {
			ran := false
			for point := 1; point <= 2; point++ {
				r := w.step(i, point, round)
				run.Manifest.Planned = append(run.Manifest.Planned, r.Step)
				if why := decided.Without(name, r.Step.Point); why != "" {
					run.NotNeeded = append(run.NotNeeded, results.Step{State: results.StepDone, Result: r})
					continue
				}
				ran = true
				steps = append(steps, r)
				run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: r})
			}
			if ran {
				starts++
			}
		}
	}
	return run, starts
}

func (w *world) outcome() (Outcome, int) {
	run, starts := w.run()
	return Of(run, compare.Rule{Confidence: 0.95, Margin: 0.03, Power: 0.8, Rounds: 50}), starts
}

// TestTuning: the truth is known, without any noise.
func TestTuning(t *testing.T) {
	for _, tt := range []struct {
		name    string
		servers []server
		recipe  string // variant and load point; "": none
		starts  int
		verdict compare.Verdict
	}{
		{
			"the fastest wins",
			[]server{{100, 100, false}, {120, 100, false}, {200, 100, false}, {90, 100, false}, {150, 100, false}},
			"v2 c2", 5 + 3 + 2 + 2*3, compare.Better,
		},
		{
			"a faster one misses the targets",
			[]server{{100, 100, false}, {900, 600, false}, {150, 100, false}},
			"v2 c2", 3 + 2 + 2*3, compare.Better,
		},
		{
			"at the higher load it misses them",
			[]server{{100, 100, false}, {300, 400, false}},
			"v1 c1", 2 + 2*3, compare.Better,
		},
		{
			"out of memory",
			[]server{{100, 100, false}, {900, 100, true}, {150, 100, false}, {900, 100, true}},
			"v2 c2", 4 + 2 + 2*3, compare.Better,
		},
		{"the baseline wins", []server{{100, 100, false}, {50, 100, false}, {60, 100, false}}, "v0 c2", 3 + 2, ""},
		{"the baseline misses", []server{{500, 900, false}, {50, 100, false}}, "v1 c2", 2 + 2*3, compare.Worse},
		{"nothing serves", []server{{1, 1, true}, {1, 1, true}, {1, 1, true}}, "", 3, ""},
		{"nothing meets the targets", []server{{1, 900, false}, {2, 800, false}, {3, 999, false}}, "", 3 + 2, ""},
		{"one is left", []server{{1, 1, true}, {2, 100, false}, {1, 1, true}, {1, 1, true}}, "v1 c2", 4 + 2*3, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(tt.servers...)
			o, starts := w.outcome()
			recipe, verdict := "", compare.Verdict("")
			if o.Recipe != nil {
				recipe = o.Recipe.Variant + " " + o.Recipe.Point
			}
			if o.Confirmed != nil && tt.verdict != "" {
				verdict = o.Confirmed.Verdict
			}
			if recipe != tt.recipe || starts != tt.starts || verdict != tt.verdict ||
				len(o.Candidates) != len(tt.servers) {
				t.Errorf("recipe %q in %d starts, %q, want %q in %d, %q: %+v", recipe, starts, verdict, tt.recipe,
					tt.starts, tt.verdict, o)
			}
		})
	}
}

// TestTuningSaysWhy reads the reasons of what was left out.
func TestTuningSaysWhy(t *testing.T) {
	w := newWorld(server{100, 100, false}, server{50, 100, false}, server{900, 100, true}, server{150, 600, false})
	run, _ := w.run()
	var whys []string
	for round := 2; round <= 5; round++ {
		var before []*results.Result
		for _, s := range run.Steps {
			if s.Result.Step.Repeat < round {
				before = append(before, s.Result)
			}
		}
		for _, name := range w.names() {
			whys = append(whys, RoundOf(w.policy, w.names(), "v0", round, before).Without(name, "c1"))
		}
	}
	text := strings.Join(whys, "\n")
	for _, want := range []string{
		"v2 was dropped after round 1: out-of-memory: no room for the weights",
		"v3 was dropped after round 1: it missed the targets, by 20 % at c1, place 3 of 4",
		"v1 was dropped after round 2: output_throughput 100 at c2, place 2 of 2",
		"the baseline came out best: there is nothing to confirm",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("reasons lack %q:\n%s", want, text)
		}
	}
}

// TestTuningIsPure asks again with fewer results: a run that was cut off within a
// round continues with the same variants.
func TestTuningIsPure(t *testing.T) {
	w := newWorld(server{100, 100, false}, server{104, 100, false}, server{102, 100, false}, server{98, 100, false})
	w.noise = 0.05
	run, _ := w.run()
	for round := 1; round <= 5; round++ {
		var before []*results.Result
		for _, s := range run.Steps {
			if s.Result.Step.Repeat < round {
				before = append(before, s.Result)
			}
		}
		decided := RoundOf(w.policy, w.names(), "v0", round, before)
		for _, ref := range run.Manifest.Planned {
			ran := slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Step.ID == ref.ID })
			if needed := decided.Without(ref.Variant, ref.Point) == ""; ref.Repeat == round && needed != ran {
				t.Errorf("round %d: %s needed %t, want %t", round, ref.ID, needed, ran)
			}
		}
	}
}

// TestTuningUnderNoise is a simulation. Where all variants are alike, a recipe is
// called better than the baseline no more often than the level of the test says,
// though it was chosen for its luck; where one is better, it is found.
func TestTuningUnderNoise(t *testing.T) {
	t.Parallel()
	const runs, level = 200, 0.025 // one side: the recipe is better
	for _, tt := range []struct {
		name        string
		best        float64 // tokens/s of one; the other seven have 100
		found, said float64 // least share of runs that choose it; most, that call the recipe better
	}{
		{"all alike", 100, 0, level + 0.025},
		{"15 % better", 115, 0.9, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			found, said := 0, 0
			for range runs {
				servers := slices.Repeat([]server{{100, 100, false}}, 8)
				servers[5].tokens = tt.best
				w := newWorld(servers...)
				w.noise, w.random = 0.05, random
				o, _ := w.outcome()
				if o.Recipe.Variant == "v5" {
					found++
				}
				if o.Confirmed != nil && o.Confirmed.Verdict == compare.Better {
					said++
				}
			}
			t.Logf("found %.3f, called better %.3f", float64(found)/runs, float64(said)/runs)
			if float64(found)/runs < tt.found || float64(said)/runs > tt.said {
				t.Errorf("found in %.3f of the runs, called better in %.3f, want at least %.2f and at most %.3f",
					float64(found)/runs, float64(said)/runs, tt.found, tt.said)
			}
		})
	}
}
