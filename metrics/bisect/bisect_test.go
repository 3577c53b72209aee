package bisect

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

// world plays a search over versions of known truth.
type world struct {
	tokens []float64 // true figure of each version; 0: it does not start
	noise  float64   // standard deviation of the logarithm
	drift  float64   // of the level from round to round, relative
	rounds int
	random *rand.Rand
}

func newWorld(tokens ...float64) *world {
	return &world{tokens: tokens, rounds: 60, random: rand.New(rand.NewPCG(1, 2))}
}

// changed are n versions whose figure changes with the version at.
func changed(n, at int, before, after float64) []float64 {
	tokens := make([]float64, n)
	for i := range tokens {
		if tokens[i] = before; i >= at {
			tokens[i] = after
		}
	}
	return tokens
}

func (w *world) run() (run *results.Run, starts int) {
	policy := results.BisectPolicy{Figure: "output_throughput", Starts: 5, Confirm: 3}
	run = &results.Run{Manifest: results.Manifest{Bisect: &policy}}
	for i := range w.tokens {
		run.Manifest.Variants = append(run.Manifest.Variants, fmt.Sprintf("v%d", i))
	}
	var before []*results.Result
	for round := 1; round <= w.rounds; round++ {
		decided := RoundOf(policy, run.Manifest.Variants, round, before)
		for i, name := range run.Manifest.Variants {
			r := w.step(i, name, round)
			if why := decided.Without(name, "all"); why != "" {
				run.NotNeeded = append(run.NotNeeded, results.Step{State: results.StepDone, Result: r})
				continue
			}
			starts++
			before = append(before, r)
			run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: r})
		}
	}
	return run, starts
}

func (w *world) step(i int, name string, round int) *results.Result {
	r := &results.Result{Verdict: results.OK, Step: results.StepRef{
		ID: fmt.Sprintf("%s_r%d", name, round), Variant: name, Point: "all", Repeat: round,
	}}
	if w.tokens[i] == 0 {
		r.Verdict, r.Failure = results.Failed, results.Failf(results.FailExited, "exit status 1")
		return r
	}
	log := w.noise*w.random.NormFloat64() + w.drift*float64(round)
	r.Figures = &results.Figures{OutputThroughput: new(w.tokens[i] * math.Exp(log))}
	return r
}

func (w *world) outcome() (Outcome, int) {
	run, starts := w.run()
	return Of(run, compare.Rule{Confidence: 0.95, Margin: 0.03, Power: 0.8, Rounds: 50}), starts
}

// TestBisect: the truth is known, without any noise.
func TestBisect(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tokens  []float64
		lo, hi  int
		mid     int
		starts  int
		skipped []int
		found   bool
	}{
		{"in the middle", changed(9, 5, 100, 90), 4, 5, -1, 6 + 3*3 + 6, nil, true},
		{"with the last version", changed(9, 8, 100, 120), 7, 8, -1, 6 + 3*3 + 6, nil, true},
		{"with the second version", changed(9, 1, 100, 120), 0, 1, -1, 6 + 3*3 + 6, nil, true},
		{"two versions", changed(2, 1, 100, 120), 0, 1, -1, 6 + 6, nil, true},
		{"no change", changed(5, 9, 100, 90), 0, 4, -1, 10, nil, false},
		{"a version does not start", []float64{100, 100, 0, 90, 90}, 1, 3, -1, 6 + 2*3 + 1*3 + 6, []int{2}, true},
		{"several do not start", []float64{100, 0, 0, 0, 90}, 0, 4, -1, 6 + 3*3 + 6, []int{1, 2, 3}, true},
		{"an end does not start", []float64{100, 100, 0}, 0, 2, -1, 2, nil, false},
		{"exactly between", []float64{100, math.Sqrt(100 * 90), 90}, 0, 2, 1, 6 + 5*3, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, starts := newWorld(tt.tokens...).outcome()
			var skipped []int
			for i := range o.Versions {
				if o.Skipped[i] != "" {
					skipped = append(skipped, i)
				}
			}
			if o.Lo != tt.lo || o.Hi != tt.hi || o.Mid != tt.mid || starts != tt.starts || o.Stage != Over ||
				!slices.Equal(skipped, tt.skipped) || o.Found() != tt.found {
				t.Errorf("between %d and %d, mid %d, in %d starts, stage %d, skipped %v, found %t: want %+v", o.Lo, o.Hi,
					o.Mid, starts, o.Stage, skipped, o.Found(), tt)
			}
			if tt.found && (o.Difference == nil || o.Difference.Candidate.N != 3) {
				t.Errorf("the difference is %+v, want that of 3 rounds of confirmation", o.Difference)
			}
		})
	}
}

// TestBisectCutOff: a run that ends within a round has that round before it, and
// says how far it came.
func TestBisectCutOff(t *testing.T) {
	run, _ := newWorld(changed(9, 5, 100, 90)...).run()
	run.NotNeeded = nil
	kept := run.Steps[:6+3+1]
	for i := range run.Steps[len(kept):] {
		run.Steps[len(kept)+i].State = results.StepPending
	}
	o := Of(run, compare.DefaultRule())
	if o.Stage != Middle || o.Lo != 4 || o.Hi != 8 || o.Found() {
		t.Errorf("stage %d between %d and %d, want the middle between 4 and 8", o.Stage, o.Lo, o.Hi)
	}
	if o = Of(&results.Run{Manifest: run.Manifest}, compare.DefaultRule()); o.Started {
		t.Error("a run without steps has started")
	}
}

// TestBisectSaysWhy reads the reasons of what was left out.
func TestBisectSaysWhy(t *testing.T) {
	w := newWorld(changed(5, 2, 100, 90)...)
	run, _ := w.run()
	var before []*results.Result
	var whys []string
	for round := 1; round <= 10; round++ {
		whys = append(whys, RoundOf(*run.Manifest.Bisect, run.Manifest.Variants, round, before).Without("v3", "all"))
		for _, s := range run.Steps {
			if s.Result.Step.Repeat == round {
				before = append(before, s.Result)
			}
		}
	}
	text := strings.Join(whys, "\n")
	for _, want := range []string{
		"round 1 measures v0 and v4", "round 4 measures v2 between v0 and v4", "round 6 measures v1 and v2",
		"the search is over",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("reasons lack %q:\n%s", want, text)
		}
	}
}

// TestBisectUnderNoise is a simulation. Where no version changed anything, at most
// 5 % of the searches find a change; where one did, at most 5 % name another
// version than that one; drift from round to round does not matter.
func TestBisectUnderNoise(t *testing.T) {
	t.Parallel()
	const runs = 200
	for _, tt := range []struct {
		name         string
		at           int // version with the change; 99: none
		after, drift float64
		found        float64 // least share of runs that find it
	}{
		{"no change", 99, 100, 0, 0},
		{"10 % less", 11, 90, 0, 0.9},
		{"10 % more, with a drift of 0.3 % a round", 6, 110, 0.003, 0.8},
		{"3 % less", 3, 97, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 8))
			found, wrong := 0, 0
			for range runs {
				w := newWorld(changed(20, tt.at, 100, tt.after)...)
				w.noise, w.drift, w.random = 0.01, tt.drift, random
				o, _ := w.outcome()
				right := tt.at > o.Lo && tt.at <= o.Hi
				switch {
				case o.Found() && right:
					found++
				case o.Change != 0 && !right:
					wrong++
				}
			}
			t.Logf("found %.3f, wrong %.3f", float64(found)/runs, float64(wrong)/runs)
			if float64(wrong)/runs > 0.05 || float64(found)/runs < tt.found {
				t.Errorf("found in %.3f of the runs, wrong in %.3f, want at least %.2f and at most 0.05",
					float64(found)/runs, float64(wrong)/runs, tt.found)
			}
		})
	}
}
