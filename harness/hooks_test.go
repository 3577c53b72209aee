package harness

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// fakeHooks adds what it was asked to do to its world's story.
type fakeHooks struct {
	world *world
	fail  []string // names of what does not do what it should
	ran   func(name string)
	vars  map[string]map[string]string // by name and phase, of the last call

	messages []hooks.Message // of notifications
}

func (f *fakeHooks) record(name, phase string) results.HookRecord {
	f.world.log("%s %s", phase, name)
	if f.ran != nil {
		f.ran(name)
	}
	record := results.HookRecord{Name: name, OK: !slices.Contains(f.fail, name), Message: "says " + name}
	return record
}

func (f *fakeHooks) Run(_ context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord {
	if f.vars == nil {
		f.vars = map[string]map[string]string{}
	}
	f.vars[hook.Name] = vars
	return f.record(hook.Name, vars["BENCH_PHASE"])
}

func (f *fakeHooks) Undo(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord {
	if ctx.Err() != nil {
		f.world.log("undo with a ctx that has ended")
	}
	return f.record(hook.Undo[0], vars["BENCH_PHASE"])
}

func (f *fakeHooks) Check(_ context.Context, check scenarios.Check) results.HookRecord {
	return f.record(scenarios.CheckName(check), "check")
}

func (f *fakeHooks) Evaluate(_ context.Context, e scenarios.Evaluation, vars map[string]string) *results.CommandScore {
	f.world.log("evaluate %s %s", e.Name, vars["BENCH_STEP"])
	return &results.CommandScore{Name: e.Name, Score: new(1.0)}
}

func (f *fakeHooks) Notify(_ context.Context, n scenarios.Notify, m hooks.Message) results.HookRecord {
	f.messages = append(f.messages, m)
	f.world.log("notify %s %s: %d ok, %d failed, %d not run: %s", n.Format, m.Event, m.OK, m.Failed, m.NotRun, m.Reason)
	return results.HookRecord{Level: "run", When: "notify", Name: n.Format, OK: true}
}

func hook(name string, undo ...string) scenarios.Hook {
	return scenarios.Hook{Name: name, Command: []string{name}, Undo: undo, Refuse: true}
}

// allHooks has one hook of every kind: two before each level, the first with
// an undo.
func allHooks(sc *scenarios.Scenario) {
	sc.Hooks = scenarios.LevelHooks{
		Run: scenarios.Hooks{
			Before: []scenarios.Hook{hook("R1", "r1"), hook("R2", "r2")},
			After:  []scenarios.Hook{hook("R3")},
		},
		Variant: scenarios.Hooks{Before: []scenarios.Hook{hook("V1", "v1")}, After: []scenarios.Hook{hook("V3")}},
		Step:    scenarios.Hooks{Before: []scenarios.Hook{hook("S1", "s1")}, After: []scenarios.Hook{hook("S3")}},
	}
	sc.Variants[0].Hooks = scenarios.Hooks{
		Before: []scenarios.Hook{hook("W1", "w1")},
		After:  []scenarios.Hook{hook("W3")},
	}
	sc.Checks = []scenarios.Check{{Kind: "governor", Want: "performance", Refuse: true}}
	sc.Notify = []scenarios.Notify{{Format: "ntfy", On: []string{"end", "first-failure"}}}
}

func TestHooksAroundARun(t *testing.T) {
	const (
		begin = "check governor performance, before R1, before R2, "
		end   = ", after R3, undo r2, undo r1, "
		stepA = "before S1, after S3, undo s1"
		lifeA = "before V1, before W1, launch 01-a, " + stepA + ", " + stepA +
			", stop 01-a, after W3, after V3, undo w1, undo v1"
		lifeB = "before V1, launch 02-b, " + stepA + ", " + stepA + ", stop 02-b, after V3, undo v1"
	)
	for _, tc := range []struct {
		name   string
		fail   []string
		change func(*scenarios.Scenario)
		world  *world
		want   string // story
		steps  string
	}{
		{
			name: "all goes well", want: begin + lifeA + ", " + lifeB + end +
				"notify ntfy end: 4 ok, 0 failed, 0 not run: ",
			steps: "a_c1_r1 ok, a_c2_r1 ok, b_c1_r1 ok, b_c2_r1 ok",
		},
		{
			name: "a check refuses", fail: []string{"governor performance"},
			want: "check governor performance, notify ntfy end: 0 ok, 0 failed, 4 not run: hook-failed: check " +
				"governor performance: says governor performance",
			steps: "a_c1_r1 not run hook-failed, a_c2_r1 not run hook-failed, b_c1_r1 not run hook-failed, b_c2_r1 " +
				"not run hook-failed",
		},
		{
			name: "a hook of the run refuses", fail: []string{"R2"},
			want: begin +
				"undo r2, undo r1, notify ntfy end: 0 ok, 0 failed, 4 not run: hook-failed: hook before the run R2: " +
				"says R2",
			steps: "a_c1_r1 not run hook-failed, a_c2_r1 not run hook-failed, b_c1_r1 not run hook-failed, b_c2_r1 " +
				"not run hook-failed",
		},
		{
			name: "a hook of a variant refuses", fail: []string{"W1"},
			want: begin +
				"before V1, before W1, notify ntfy first-failure: 0 ok, 1 failed, 0 not run: hook-failed: hook " +
				"before the server start W1: says W1, undo w1, undo v1, " +
				lifeB + end + "notify ntfy end: 2 ok, 2 failed, 0 not run: ",
			steps: "a_c1_r1 failed hook-failed, a_c2_r1 failed hook-failed, b_c1_r1 ok, b_c2_r1 ok",
		},
		{
			name: "only warnings", fail: []string{"governor performance", "R2", "W1", "S1"}, change: warnOnly,
			want:  begin + lifeA + ", " + lifeB + end + "notify ntfy end: 4 ok, 0 failed, 0 not run: ",
			steps: "a_c1_r1 ok, a_c2_r1 ok, b_c1_r1 ok, b_c2_r1 ok",
		},
		{
			name: "hooks after, and undos, that fail", fail: []string{"W3", "w1", "S3", "s1", "R3", "r1"},
			want:  begin + lifeA + ", " + lifeB + end + "notify ntfy end: 4 ok, 0 failed, 0 not run: ",
			steps: "a_c1_r1 ok, a_c2_r1 ok, b_c1_r1 ok, b_c2_r1 ok",
		},
		{
			name: "the launch fails", world: &world{launch: failLaunches(results.Failf(results.FailBadFlag, "--x"), 1)},
			want: begin +
				"before V1, before W1, launch 01-a, notify ntfy first-failure: 0 ok, 1 failed, 0 not run: " +
				"unsupported-flag: --x, after W3, after V3, undo w1, undo v1, " +
				lifeB + end + "notify ntfy end: 2 ok, 2 failed, 0 not run: ",
			steps: "a_c1_r1 failed unsupported-flag, a_c2_r1 failed unsupported-flag, b_c1_r1 ok, b_c2_r1 ok",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats = 1
				allHooks(sc)
				if tc.change != nil {
					tc.change(sc)
				}
				w := tc.world
				if w == nil {
					w = &world{}
				}
				w.hooks = &fakeHooks{world: w, fail: tc.fail}
				run, _ := w.run(t.Context(), t, sc)
				if got := strings.Join(w.story, ", "); got != tc.want {
					t.Errorf("story =\n %s, want\n %s", got, tc.want)
				}
				if got := strings.Join(verdicts(run), ", "); got != tc.steps {
					t.Errorf("verdicts = %s, want %s", got, tc.steps)
				}
				if open := hooks.OpenUndos(run.Events); len(open) > 0 {
					t.Errorf("OpenUndos(journal) = %+v, want none", open)
				}
			})
		})
	}
}

func warnOnly(sc *scenarios.Scenario) {
	for _, list := range [][]scenarios.Hook{
		sc.Hooks.Run.Before, sc.Hooks.Variant.Before, sc.Hooks.Step.Before,
		sc.Variants[0].Hooks.Before,
	} {
		for i := range list {
			list[i].Refuse = false
		}
	}
	sc.Checks[0].Refuse = false
}

// What hooks said is in the results of the steps that it concerns.
func TestHooksInResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats = 1
		allHooks(sc)
		warnOnly(sc)
		w := &world{}
		w.hooks = &fakeHooks{world: w, fail: []string{"governor performance", "W1", "S3", "w1"}}
		run, _ := w.run(t.Context(), t, sc)
		for i, want := range []struct{ hooks, doubts string }{
			{
				"V1 before, W1 before, S1 before, S3 after, S1 undo",
				"check governor performance: says governor performance; hook before the server start W1: says W1; " +
					"hook after the step S3: says S3",
			},
			{
				"V1 before, W1 before, S1 before, S3 after, S1 undo",
				"check governor performance: says governor performance; hook before the server start W1: says W1; " +
					"hook after the step S3: says S3",
			},
			{
				"V1 before, S1 before, S3 after, S1 undo",
				"check governor performance: says governor performance; undo of W1: says w1; hook after the step " +
					"S3: says S3",
			},
		} {
			result := run.Steps[i].Result
			var got, doubts []string
			for _, h := range result.Hooks {
				got = append(got, h.Name+" "+h.When)
			}
			for _, d := range result.Warnings {
				if d.Code == results.WarnHook {
					doubts = append(doubts, d.Message)
				}
			}
			if s := strings.Join(got, ", "); s != want.hooks {
				t.Errorf("hooks of %s = %s, want %s", result.Step.ID, s, want.hooks)
			}
			if s := strings.Join(doubts, "; "); s != want.doubts {
				t.Errorf("doubts of %s = %s, want %s", result.Step.ID, s, want.doubts)
			}
		}
		vars := w.hooks.vars["S3"]
		for name, want := range map[string]string{
			"BENCH_LEVEL": "step", "BENCH_PHASE": "after", "BENCH_STEP": "b_c2_r1", "BENCH_VARIANT": "b",
			"BENCH_POINT": "c2", "BENCH_REPEAT": "1",
			"BENCH_ATTEMPT": "1", "BENCH_LIFE": "02-b", "BENCH_MODEL": "m-b",
			"BENCH_BASE_URL": "http://127.0.0.1:1", "BENCH_VERDICT": "ok",
			"BENCH_RUN_ID": "run", "BENCH_SCENARIO": sc.Name,
		} {
			if vars[name] != want {
				t.Errorf("%s = %q after a step, want %q", name, vars[name], want)
			}
		}
	})
}

// An interrupt while a hook runs ends the run and undoes what was changed.
func TestInterruptDuringHooks(t *testing.T) {
	for _, at := range []string{"R1", "W1", "S1"} {
		synctest.Test(t, func(t *testing.T) {
			sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
			sc.Repeats = 1
			allHooks(sc)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			w := &world{}
			w.hooks = &fakeHooks{world: w, fail: []string{at}, ran: func(name string) {
				if name == at {
					cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
				}
			}}
			run, outcome := w.run(ctx, t, sc)
			if outcome.Ended == nil || outcome.Ended.Class != results.FailInterrupted {
				t.Errorf("interrupt in %s: ended by %v, want interrupted", at, outcome.Ended)
			}
			story := strings.Join(w.story, ", ")
			if strings.Contains(story, "has ended") || !strings.Contains(story, "undo r1") || strings.Contains(story,
				"launch 02-b") {
				t.Errorf("interrupt in %s: story = %s, want undos and nothing new", at, story)
			}
			if open := hooks.OpenUndos(run.Events); len(open) > 0 {
				t.Errorf("interrupt in %s: open undos %+v, want none", at, open)
			}
		})
	}
}

// The journal holds each undo before its hook has run, without secrets.
func TestUndoIsPromisedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Dir, sc.Secrets = 1, "/scenario", []string{"hunter22"}
		sc.Hooks.Run.Before = []scenarios.Hook{hook("R1", "tool", "--key=hunter22")}
		w := &world{}
		w.hooks = &fakeHooks{world: w}
		run, _ := w.run(t.Context(), t, sc)
		for i, e := range run.Events {
			if e.Kind != results.HookStarted {
				continue
			}
			open := hooks.OpenUndos(run.Events[:i+1])
			if len(open) != 1 || open[0].Dir != "/scenario" || open[0].Argv[1] != "--key=***" || !open[0].Redacted() {
				t.Errorf("open undos when the hook starts = %+v, want one without its secret", open)
			}
			return
		}
		t.Error("the journal has no hook-started")
	})
}
