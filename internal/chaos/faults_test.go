package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// fault is one thing that goes wrong in variant bad of a night of two, and
// what must come of it.
type fault struct {
	stage, kind, name string
	launcher          string // of variant bad; "": vllm
	engine            func(*fakeengine.Config)
	bad               block                    // further keys of the variant
	scenario          block                    // further keys of the scenario
	prepare           func(*world)             // before bench is called
	after             func(*world, conclusion) // further assertions
	needs             func() string            // what this machine lacks for it; "": nothing

	verdict results.Verdict      // of bad; "": ok
	class   results.FailureClass // of its failure, or of its doubt
	says    string               // part of its message
	good    results.Verdict      // of the other variant; "": ok
	why     results.FailureClass // of its failure
}

// conclusion is what came of a night.
type conclusion struct {
	outcome
	run       *results.Run
	bad, good *results.Result
}

func faults() []fault {
	return slices.Concat(
		spawnFaults(), environmentFaults(), loadFaults(), readyFaults(),
		requestFaults(), streamFaults(), serveFaults(), gpuFaults(),
		stopFaults(), treeFaults(), containerFaults(), hookFaults(), resourceFaults(), outOfMemoryFaults(),
		llamaFaults(),
	)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(title(f.row()), func(t *testing.T) {
			t.Parallel()
			if !chosen(f.row()) {
				t.SkipNow()
			}
			if f.needs != nil {
				if lacks := f.needs(); lacks != "" {
					t.Skip(lacks)
				}
			}
			printed.add(f.row(), f.check(t))
		})
	}
}

// check runs the night with the fault and returns what came of it.
func (f fault) check(t *testing.T) string {
	w := newWorld(t)
	if f.prepare != nil {
		f.prepare(w)
	}
	got := w.bench("run", "--allow-missing", w.scenario(f.variant(w), f.scenario))
	w.clean()
	run := w.read()
	w.consistent(run)
	if len(run.Steps) != 2 {
		t.Fatalf("%d steps, want 2\n%s", len(run.Steps), got.stderr)
	}
	end := conclusion{got, run, run.Steps[0].Result, run.Steps[1].Result}
	f.judge(t, end)
	if f.after != nil {
		f.after(w, end)
	}
	return story(end.bad)
}

// variant is bad as the scenario has it.
func (f fault) variant(w *world) block {
	launcher := cmp.Or(f.launcher, "vllm")
	config := healthy(launcher)
	if f.engine != nil {
		f.engine(&config)
	}
	config.ShmFile = strings.Replace(config.ShmFile, "ID", w.id, 1)
	return lay(block{"name": "bad", "launcher": launcher, "env": block{fakeengine.Variable: config.Value()}}, f.bad)
}

// judge compares verdicts, reasons and exit code with what is wanted.
func (f fault) judge(t *testing.T, end conclusion) {
	t.Helper()
	wanted := cmp.Or(f.verdict, results.OK)
	if !equal(end.bad.Verdict, wanted) || !f.reasoned(end.bad) {
		t.Errorf("bad: %s, want %s %s %q\n%s", story(end.bad), wanted, f.class, f.says, end.stderr)
	}
	next := cmp.Or(f.good, results.OK)
	if !equal(end.good.Verdict, next) || f.why != "" && classOf(end.good) != f.why {
		t.Errorf("good: %s, want %s %s\n%s", story(end.good), next, f.why, end.stderr)
	}
	code := 0
	if !measured(wanted) || !measured(next) {
		code = 3
	}
	if end.code != code {
		t.Errorf("exit code %d, want %d\n%s", end.code, code, end.stderr)
	}
}

// equal compares verdicts: a busy machine makes sound figures suspect.
func equal(got, want results.Verdict) bool {
	return got == want || want == results.OK && got == results.Suspect
}

func measured(v results.Verdict) bool { return v == results.OK || v == results.Suspect }

// reasoned reports whether a result has the failure or the doubt that is
// wanted.
func (f fault) reasoned(r *results.Result) bool {
	if f.class == "" && f.says == "" {
		return true
	}
	if r.Failure != nil {
		return (f.class == "" || r.Failure.Class == f.class) && strings.Contains(r.Failure.Message, f.says)
	}
	return slices.ContainsFunc(r.Warnings, func(doubt results.Warning) bool {
		return (f.class == "" || string(doubt.Code) == string(f.class)) && strings.Contains(doubt.Message, f.says)
	})
}

func classOf(r *results.Result) results.FailureClass {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Class
}

func story(r *results.Result) string {
	if r.Failure != nil {
		return fmt.Sprintf("%s: %s: %.110s", r.Verdict, r.Failure.Class, r.Failure.Message)
	}
	var doubts []string
	for _, doubt := range r.Warnings {
		doubts = append(doubts, string(doubt.Code))
	}
	if r.Verdict == results.Suspect {
		return fmt.Sprintf("%s: %s", r.Verdict, strings.Join(doubts, ", "))
	}
	return string(r.Verdict)
}

// headline asserts that the report begins with why the run ended.
func headline(says string) func(*world, conclusion) {
	return func(w *world, end conclusion) {
		w.t.Helper()
		const lines = 30 // the verdict, the table, then failures
		top := strings.Join(strings.SplitN(end.stdout, "\n", lines+1)[:min(lines, strings.Count(end.stdout, "\n"))],
			"\n")
		if !strings.Contains(top, says) {
			w.t.Errorf("the report begins with\n%s\nwant %q", top, says)
		}
	}
}
