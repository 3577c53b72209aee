package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

// writeRun makes a run of steps a, b, c with these journal events and results.
func writeRun(t *testing.T, events []results.Event, done ...*results.Result) *Folder {
	t.Helper()
	f := mustFolder(t)
	m := results.Manifest{Bench: "v1", Scenario: "quickstart", Run: "r", Planned: []results.StepRef{
		{ID: "a"},
		{ID: "b"},
		{ID: "c"},
	}}
	if err := f.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	j, err := f.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range done {
		if err := f.WriteResult(r); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestReadDerivesWhatAKillLeftOut(t *testing.T) {
	f := writeRun(t, []results.Event{
		{Kind: results.RunStarted},
		{Kind: results.StepStarted, Step: "a", Attempt: 1},
		{Kind: results.StepFinished, Step: "a", Attempt: 1, Verdict: results.OK},
		{Kind: results.StepStarted, Step: "b", Attempt: 2},
	}, &results.Result{Step: results.StepRef{ID: "a", Attempt: 1}, Verdict: results.OK})
	w, err := NewRecordWriter(f.StepDir("b"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Write(someRecord(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID      string
		State   results.StepState
		Verdict results.Verdict
		Class   results.FailureClass
		Records int
		Attempt int
	}
	var got []row
	for _, s := range run.Steps {
		r := row{s.Result.Step.ID, s.State, s.Result.Verdict, "", s.Records, s.Result.Step.Attempt}
		if s.Result.Failure != nil {
			r.Class = s.Result.Failure.Class
		}
		got = append(got, r)
	}
	want := []row{
		{"a", results.StepDone, results.OK, "", 0, 1},
		{"b", results.StepInterrupted, results.NotRun, results.FailInterrupted, 3, 2},
		{"c", results.StepPending, results.NotRun, results.FailInterrupted, 0, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if run.Finished || len(run.Problems) != 0 {
		t.Errorf("Finished = %v, Problems = %q; want false and none", run.Finished, run.Problems)
	}
	if run.Step("b") != &run.Steps[1] || run.Step("x") != nil {
		t.Error("Step does not find steps by id")
	}
}

func TestReadTakesVerdictsFromTheJournal(t *testing.T) {
	reason := results.Failf(results.FailEarlier, "on-failure: stop")
	f := writeRun(t, []results.Event{
		{Kind: results.RunStarted},
		{Kind: results.StepFinished, Step: "a", Verdict: results.NotRun, Failure: reason},
		{Kind: results.StepStarted, Step: "b"},
		{Kind: results.StepFinished, Step: "b", Verdict: results.OK},
		{Kind: results.StepFinished, Step: "c", Verdict: results.Failed},
		{Kind: results.RunFinished},
	})
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if !run.Finished {
		t.Error("Finished = false, want true")
	}
	if a := run.Steps[0]; a.State != results.StepDone || a.Result.Verdict != results.NotRun ||
		a.Result.Failure.Message != reason.Message {
		t.Errorf("step a = %+v, want the journal's verdict and reason", a.Result)
	}
	if b := run.Steps[1].Result; b.Verdict != results.Failed || b.Failure.Class != results.FailDisk {
		t.Errorf("step b without its result.json = %v %v, want failed and disk", b.Verdict, b.Failure)
	}
	if c := run.Steps[2].Result; c.Verdict != results.Failed || c.Failure == nil {
		t.Errorf("step c without a reason = %v %v, want failed with some failure", c.Verdict, c.Failure)
	}
}

func TestReadTellsOfAnUnfinishedSecondAttempt(t *testing.T) {
	f := writeRun(t, []results.Event{
		{Kind: results.RunStarted},
		{Kind: results.StepStarted, Step: "a", Attempt: 1},
		{Kind: results.StepFinished, Step: "a", Attempt: 1, Verdict: results.Failed},
		{Kind: results.RunFinished},
		{Kind: results.RunStarted},
		{Kind: results.StepStarted, Step: "a", Attempt: 2},
	}, &results.Result{Step: results.StepRef{ID: "a", Attempt: 1}, Verdict: results.Failed})
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if run.Finished {
		t.Error("Finished = true after a resumed run without end, want false")
	}
	if len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "attempt 2 has no end") {
		t.Errorf("Problems = %q, want one about attempt 2", run.Problems)
	}
}

func TestReadReadsAroundADamagedJournal(t *testing.T) {
	f := writeRun(t, nil)
	text := `{"seq":1,"time":"2026-01-01T00:00:00Z","event":"run-started"}
garbage
{"seq":5,"time":"2026-01-01T00:00:00Z","event":"step-started","step":"a"}
{"seq":6,"ti`
	if err := os.WriteFile(f.Journal(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Events) != 2 || run.Steps[0].State != results.StepInterrupted {
		t.Errorf("%d events, step a %s; want 2 and interrupted", len(run.Events), run.Steps[0].State)
	}
	if len(run.Problems) != 3 {
		t.Errorf("Problems = %q, want the bad line, the gap and the cut line", run.Problems)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, file, content, want string }{
		{"newer manifest", results.ManifestName, `{"format_version":99}`, "format version 99 is newer than 1"},
		{"manifest without version", results.ManifestName, `{"run_id":"x"}`, "no format_version"},
		{"broken manifest", results.ManifestName, `{"format_version":`, "unexpected end"},
		{"newer result", "steps/a/result.json", `{"format_version":2}`, "use a newer bench"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := writeRun(t, nil)
			if err := f.WriteFile(tt.file, []byte(tt.content)); err != nil {
				t.Fatal(err)
			}
			_, err := Read(f.Dir())
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(),
				filepath.Base(tt.file)) {
				t.Errorf("Read error = %v, want one with %q and the file's name", err, tt.want)
			}
		})
	}
}

func TestReadWithoutAJournal(t *testing.T) {
	f := writeRun(t, nil)
	if err := os.Remove(f.Journal()); err != nil {
		t.Fatal(err)
	}
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Problems) != 1 || len(run.Steps) != 3 {
		t.Errorf("Problems = %q, %d steps; want the missing journal and 3 steps", run.Problems, len(run.Steps))
	}
}

func TestReadTellsOfChangedFiles(t *testing.T) {
	f := mustFolder(t)
	for _, name := range []string{results.ScenarioName, results.PlanName} {
		if err := f.WriteFile(name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.WriteManifest(results.Manifest{}); err != nil {
		t.Fatal(err)
	}
	problems := func() string {
		t.Helper()
		run, err := Read(f.Dir())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(run.Problems, "; ")
	}
	if got, want := problems(), "journal.jsonl: missing"; got != want {
		t.Errorf("Problems = %q, want %q", got, want)
	}
	if err := f.WriteFile(results.PlanName, []byte("{ }")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Scenario()); err != nil {
		t.Fatal(err)
	}
	want := "scenario.yaml: missing; plan.json: changed since the run started; journal.jsonl: missing"
	if got := problems(); got != want {
		t.Errorf("Problems = %q, want %q", got, want)
	}
}

// A step that was to be run again, and was refused because the engine is another
// than at the start, does not show what its earlier attempt measured.
func TestARefusalHidesTheEarlierAttempt(t *testing.T) {
	changed := results.Failf(results.FailChanged, "engine version: 0.11, at the start 0.10")
	f := writeRun(t, []results.Event{
		{Kind: results.RunStarted},
		{Kind: results.StepStarted, Step: "a", Attempt: 1},
		{
			Kind: results.StepFinished, Step: "a", Attempt: 1, Verdict: results.Failed,
			Failure: results.Failf(results.FailRequests, "none of 8 succeeded"),
		},
		{Kind: results.StepStarted, Step: "b", Attempt: 1},
		{Kind: results.StepFinished, Step: "b", Attempt: 1, Verdict: results.Suspect},
		{Kind: results.RunResumed},
		{Kind: results.StepFinished, Step: "a", Attempt: 2, Verdict: results.NotRun, Failure: changed},
		{
			Kind: results.StepFinished, Step: "b", Attempt: 2, Verdict: results.NotRun,
			Failure: results.Failf(results.FailEarlier, "stopped"),
		},
	}, &results.Result{
		Step: results.StepRef{ID: "a", Attempt: 1}, Verdict: results.Failed,
		Failure: results.Failf(results.FailRequests, "none of 8 succeeded"), Figures: &results.Figures{Asked: 8},
	},
		&results.Result{
			Step: results.StepRef{ID: "b", Attempt: 1}, Verdict: results.Suspect,
			Figures: &results.Figures{Asked: 8, Completed: 7},
		})
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	a := run.Step("a").Result
	if a.Verdict != results.NotRun || a.Figures != nil || a.Failure.Class != results.FailChanged ||
		a.Failure.Message != changed.Message || len(a.Earlier) != 1 || a.Earlier[0].Class != results.FailRequests {
		t.Errorf("the refused step reads %+v", a)
	}
	if b := run.Step("b").Result; b.Verdict != results.Suspect || b.Figures == nil {
		t.Errorf("a step that was left out for another reason reads %+v", b)
	}
}
