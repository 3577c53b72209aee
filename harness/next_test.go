package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// curveDriver answers as a server whose time to the first token follows from
// the concurrency, and whose passes take longer or shorter by their number.
type curveDriver struct {
	ttft   func(concurrency int) float64 // seconds
	takes  func(pass int) float64        // seconds
	cut    int                           // pass that is interrupted; 0: none
	each   time.Duration                 // that a pass takes by the clock
	cancel func()
	loads  []int // concurrency of each pass that came to its end
	passes int
	tokens *float64 // that the servers have counted
}

func (d *curveDriver) Run(_ context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	d.passes++
	report := results.ClientReport{DurationS: 1}
	if d.passes == d.cut {
		d.cancel()
		return report, results.Failf(results.FailInterrupted, "stopped by SIGINT")
	}
	d.loads = append(d.loads, o.MaxConcurrency)
	time.Sleep(d.each)
	if d.takes != nil {
		report.DurationS = d.takes(d.passes)
	}
	first := d.ttft(o.MaxConcurrency)
	for i := range prompts {
		sent, in, out := 0.0, 8, 4
		*d.tokens += float64(out)
		rec := results.Record{
			Index: i, SentS: &sent, EndS: first + 1, ChunkS: []float64{first, first + 0.1, first + 0.2, first + 0.3},
			ChunkKinds: "tttt", AskedOutputTokens: 4,
			LocalInputTokens: &in, InputTokens: &in, OutputTokens: &out, OutputTokensSource: results.CountUsage,
			FinishReason: "length",
		}
		if err := emit(rec); err != nil {
			return report, err
		}
	}
	return report, nil
}

// world has the driver in place of its own.
func (d *curveDriver) world() *world {
	w := &world{runner: func(r *Runner) { r.Driver = d }}
	d.tokens = &w.tokens
	return w
}

func (d *curveDriver) ctx(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	d.cancel = func() { cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT")) }
	return ctx
}

func searchScenario() *scenarios.Scenario {
	sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
	sc.Search = scenarios.Search{
		Metric: scenarios.SearchConcurrency, From: 1, To: 64, Steps: 12, Tolerance: 0.05,
		SLO: []scenarios.Condition{{Figure: "p99_ttft_ms", Op: "<=", Value: 205}},
	}
	sc.Points = nil
	for i := range sc.Search.Steps {
		point := testPoint(fmt.Sprintf("search-%d", i+1), 8)
		point.NumPrompts = 64
		sc.Points = append(sc.Points, point)
	}
	return sc
}

func untilScenario() *scenarios.Scenario {
	sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
	sc.Repeats, sc.Until = 6, scenarios.Until{Min: 2, Width: 0.05}
	return sc
}

func pruneScenario() *scenarios.Scenario {
	sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
	sc.Prune.When = []scenarios.Condition{{Figure: "p99_ttft_ms", Op: ">", Value: 50}}
	sc.Points = nil
	for _, c := range []int{1, 4, 8, 16} {
		sc.Points = append(sc.Points, testPoint(fmt.Sprintf("c%d", c), c))
	}
	for i := range sc.Points {
		sc.Points[i].NumPrompts = 16
	}
	return sc
}

// tuneScenario has four variants, and two load points of which the second misses
// the target.
func tuneScenario() *scenarios.Scenario {
	sc := pruneScenario()
	sc.Prune.When = nil
	sc.Points = sc.Points[:2]
	for _, name := range []string{"c", "d"} {
		v := sc.Variants[0]
		v.Name = name
		sc.Variants = append(sc.Variants, v)
	}
	sc.Tune = scenarios.Tune{
		Figure: "output_throughput", Keep: 0.5, Confirm: 2, Drawn: 4,
		SLO: []scenarios.Condition{{Figure: "p99_ttft_ms", Op: "<=", Value: 25}},
	}
	sc.Repeats = len(sc.Tune.Sizes(4)) + 2
	return sc
}

// bisectScenario has four versions.
func bisectScenario() *scenarios.Scenario {
	sc := tuneScenario()
	sc.Points, sc.Tune = sc.Points[:1], scenarios.Tune{}
	sc.Bisect = scenarios.Bisect{Figure: "output_throughput", Starts: 3, Confirm: 3}
	sc.Repeats = sc.Bisect.Rounds(4)
	return sc
}

// spreads are the lengths of passes: two that differ by 8 % in the first two
// rounds of a variant, then the same.
func spreads(pass int) float64 {
	if pass <= 4 { // the first round of both variants, two points each
		return 1.08
	}
	return 1
}

// TestNext runs plans of which not all is needed.
func TestNext(t *testing.T) {
	linear := func(c int) float64 { return 0.01 * float64(c) }
	for _, tt := range []struct {
		name      string
		sc        *scenarios.Scenario
		takes     func(int) float64
		loads     string
		notNeeded int
		why       string
	}{
		{
			// Of the second repeat the first load is what the first has found.
			"search", searchScenario(), nil,
			"1 4 16 64 32 23 19 21 20 20 21, 1 4 16 64 32 23 19 21 20 20 21, 20 22 21 20 21, 20 22 21 20 21",
			4*12 - 2*11 - 2*5,
			"the search of repeat 1 of a ended after 11 steps: 20 met the targets and 21 missed them",
		},
		{
			"prune", pruneScenario(), nil, "1 4 8, 1 4 8, 1 4 8, 1 4 8", 4,
			"c8 was overloaded in repeat 1: p99_ttft_ms is 80, > 50",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &curveDriver{ttft: linear, takes: tt.takes}
			run, outcome := d.world().run(d.ctx(t), t, tt.sc)
			want := strings.Fields(strings.ReplaceAll(tt.loads, ",", ""))
			if got := strings.Trim(fmt.Sprint(d.loads), "[]"); got != strings.Join(want, " ") {
				t.Errorf("loads = %s, want %s", got, tt.loads)
			}
			if outcome.NotNeeded != tt.notNeeded || outcome.OK+outcome.Suspect != len(want) || outcome.NotRun+
				outcome.Failed > 0 || len(run.NotNeeded) != tt.notNeeded || len(run.Steps) != len(want) {
				t.Errorf("outcome = %+v, %d steps and %d not needed in the folder, want %d and %d", outcome,
					len(run.Steps),
					len(run.NotNeeded), len(want), tt.notNeeded)
			}
			if !NewResume(run, false).Done(run) || !NewResume(run, true).Done(run) {
				t.Error("the run is not done, want nothing to resume")
			}
			if got := run.NotNeeded[0].Result.Failure.Message; got != tt.why {
				t.Errorf("the first step that is not needed says %q, want %q", got, tt.why)
			}
		})
	}
}

// TestUntil looks at the rounds of repeats that are run.
func TestUntil(t *testing.T) {
	for _, tt := range []struct {
		name   string
		takes  func(int) float64
		rounds int
		why    string
	}{
		{"all agree", func(int) float64 { return 1 }, 2, "the intervals are narrow enough: the widest is ±0.00 %"},
		{"the first round was off", spreads, 5, "the intervals are narrow enough: the widest is ±"},
		{"never", func(pass int) float64 { return 1 + 0.3*float64(pass%3) }, 6, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &curveDriver{ttft: func(int) float64 { return 0.1 }, takes: tt.takes}
			run, outcome := d.world().run(d.ctx(t), t, untilScenario())
			if d.passes != 4*tt.rounds || outcome.NotNeeded != 4*(6-tt.rounds) || outcome.NotRun > 0 {
				t.Errorf("%d passes, outcome %+v, want %d rounds of 4", d.passes, outcome, tt.rounds)
			}
			if why := ""; len(run.NotNeeded) > 0 {
				if why = run.NotNeeded[0].Result.Failure.Message; !strings.HasPrefix(why, tt.why) {
					t.Errorf("not needed because %q, want %q", why, tt.why)
				}
			}
			if !NewResume(run, false).Done(run) {
				t.Error("the run is not done")
			}
		})
	}
}

// TestResumeDecidesAlike cuts runs off at every pass: with what they do after
// that they have done what a run in one go does.
func TestResumeDecidesAlike(t *testing.T) {
	for name, sc := range map[string]func() *scenarios.Scenario{
		"search": searchScenario, "until": untilScenario,
		"prune": pruneScenario, "tune": tuneScenario, "bisect": bisectScenario,
	} {
		t.Run(name, func(t *testing.T) {
			ttft := func(c int) float64 { return 0.01 * float64(c) }
			whole := &curveDriver{ttft: ttft}
			once, want := whole.world().run(whole.ctx(t), t, sc())
			for cut := 1; cut <= whole.passes; cut += 7 {
				first := &curveDriver{ttft: ttft, cut: cut}
				before, _ := first.world().run(first.ctx(t), t, sc())
				second := &curveDriver{ttft: ttft}
				run, got := second.world().resume(second.ctx(t), t, sc(), before.Dir, nil)
				if loads := slices.Concat(first.loads, second.loads); !slices.Equal(loads, whole.loads) {
					t.Errorf("cut at pass %d: loads %v, want %v", cut, loads, whole.loads)
				}
				if got.NotNeeded != want.NotNeeded || len(run.Steps) != len(once.Steps) || !NewResume(run,
					false).Done(run) {
					t.Errorf("cut at pass %d: outcome %+v, want %+v", cut, got, want)
				}
			}
		})
	}
}

// TestRetriedStepReopensRounds: what was not needed is decided on again when a
// step is run again.
func TestRetriedStepReopensRounds(t *testing.T) {
	d := &curveDriver{ttft: func(int) float64 { return 0.1 }, takes: spreads}
	sc := untilScenario()
	run, _ := d.world().run(d.ctx(t), t, sc)
	if len(run.NotNeeded) != 4 {
		t.Fatalf("%d steps were not needed, want 4", len(run.NotNeeded))
	}
	run.Steps[0].Result.Verdict, run.Steps[0].Result.Failure = results.Failed,
		results.Failf(results.FailExited, "ended")
	again := NewResume(run, true)
	if again.Done(run) || again.Keeps(run.NotNeeded[0].Result.Step.ID) || !NewResume(run, false).Done(run) {
		t.Error("NewResume keeps steps that were not needed although one before them is run again")
	}
}

// TestPruneByFirstRepeat: a point that was measured in the first repeat is
// measured in all, whatever a lower one does later.
func TestPruneByFirstRepeat(t *testing.T) {
	d := &curveDriver{}
	d.ttft = func(c int) float64 {
		if d.passes > 8 && c == 4 { // the second repeat of both variants
			return 9
		}
		return 0.001 * float64(c)
	}
	_, outcome := d.world().run(d.ctx(t), t, pruneScenario())
	if outcome.NotNeeded > 0 || outcome.OK != 16 {
		t.Errorf("outcome = %+v, want 16 ok", outcome)
	}
}

// TestPlanSaysWhatMayRun checks the bounds of a plan.
func TestPlanSaysWhatMayRun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		sc      *scenarios.Scenario
		steps   int
		least   int
		decided string // of the last step
	}{
		{"search", searchScenario(), 48, 8, "max-concurrency from 1 to 64, by the steps before"},
		{"until", untilScenario(), 24, 8, "only while an interval is wider than 5 %"},
		{"prune", pruneScenario(), 16, 4, "unless a lower point is overloaded"},
		{"bisect", bisectScenario(), 56, 6, "for the versions around the change and one between them"},
		{"tune", tuneScenario(), 32, 8, "confirmation: for the best variant and the baseline, at one load point each"},
		{"neither", testScenario(scenarios.Interleaved, scenarios.RestartVariant), 8, 8, ""},
	} {
		plan, err := plan.New(tt.sc, plan.Machine{Self: "/bench"})
		if err != nil {
			t.Fatal(err)
		}
		last := plan.Lives[len(plan.Lives)-1]
		got := last.Steps[len(last.Steps)-1]
		if n := len(plan.Refs()); n != tt.steps || plan.LeastSteps != tt.least || got.Decided != tt.decided ||
			plan.LeastS > plan.EstimateS {
			t.Errorf("%s: %d steps, at least %d (%.0f of %.0f s), decided %q, want %d, %d, %q", tt.name, n,
				plan.LeastSteps, plan.LeastS, plan.EstimateS, got.Decided, tt.steps, tt.least, tt.decided)
		}
	}
}

// TestTuneHalves runs a tuning whose third variant is the fastest: four variants,
// then two, then it and the baseline at the load point that meets the target.
func TestTuneHalves(t *testing.T) {
	sc := tuneScenario()
	d := &curveDriver{ttft: func(c int) float64 { return 0.01 * float64(c) }}
	d.takes = func(pass int) float64 {
		if pass == 5 || pass == 6 || pass > 8 { // c in the first round, and all after it
			return 0.5
		}
		return 1
	}
	run, outcome := d.world().run(d.ctx(t), t, sc)

	var got []string
	for _, s := range run.Steps {
		got = append(got, s.Result.Step.ID)
	}
	want := "a_c1_r1 a_c4_r1 b_c1_r1 b_c4_r1 c_c1_r1 c_c4_r1 d_c1_r1 d_c4_r1 a_c1_r2 a_c4_r2 c_c1_r2 c_c4_r2 " +
		"a_c1_r3 c_c1_r3 a_c1_r4 c_c1_r4"
	if strings.Join(got, " ") != want || outcome.Failed+outcome.NotRun > 0 {
		t.Errorf("steps = %v, outcome %+v, want %s", got, outcome, want)
	}
	p, err := plan.New(sc, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	if steps, starts := p.Most(); steps != len(got) || starts != 10 {
		t.Errorf("the plan says at most %d steps in %d starts, want %d in 10", steps, starts, len(got))
	}
	const why = "b was dropped after round 1: output_throughput 64 at c1, place 3 of 4"
	if msg := run.NotNeeded[0].Result.Failure.Message; msg != why {
		t.Errorf("the first step that is not needed says %q, want %q", msg, why)
	}
}

// TestBisectFindsTheVersion runs a search whose last version takes twice as long:
// the ends three times, then a version between them at a time, then the two around
// the change.
func TestBisectFindsTheVersion(t *testing.T) {
	sc := bisectScenario()
	d := &curveDriver{ttft: func(c int) float64 { return 0.01 * float64(c) }}
	slow := map[int]bool{2: true, 4: true, 6: true, 9: true, 12: true, 14: true, 16: true, 18: true}
	d.takes = func(pass int) float64 {
		if slow[pass] {
			return 2
		}
		return 1
	}
	run, outcome := d.world().run(d.ctx(t), t, sc)

	var got []string
	for _, s := range run.Steps {
		got = append(got, s.Result.Step.ID)
	}
	want := "a_c1_r1 d_c1_r1 a_c1_r2 d_c1_r2 a_c1_r3 d_c1_r3 a_c1_r4 b_c1_r4 d_c1_r4 b_c1_r5 c_c1_r5 d_c1_r5 " +
		"c_c1_r6 d_c1_r6 c_c1_r7 d_c1_r7 c_c1_r8 d_c1_r8"
	if strings.Join(got, " ") != want || outcome.Failed+outcome.NotRun > 0 {
		t.Errorf("steps = %v, outcome %+v, want %s", got, outcome, want)
	}
}
