package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

// jobsRun makes the folder of a run with two groups of one step each.
func jobsRun(t *testing.T) *Folder {
	t.Helper()
	folder, err := Create(t.TempDir(), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	m := results.Manifest{
		Planned: []results.StepRef{{ID: "a_c1_r1", Variant: "a"}, {ID: "b_c1_r1", Variant: "b"}},
		Groups: []results.Group{
			{ID: "g001", Lives: []string{"01-a"}, Steps: []string{"a_c1_r1"}},
			{ID: "g002", Lives: []string{"02-b"}, Steps: []string{"b_c1_r1"}},
		},
	}
	if err := folder.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	tell(t, folder, results.Event{Kind: results.RunStarted})
	return folder
}

func tell(t *testing.T, folder *Folder, events ...results.Event) {
	t.Helper()
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	for _, e := range events {
		if err := journal.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func part(t *testing.T, folder *Folder, group string) *Folder {
	t.Helper()
	p, err := folder.NewPart(group)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WriteOwn(results.EnvironmentName, map[string]string{"host": group}); err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, folder *Folder) *results.Run {
	t.Helper()
	run, err := Read(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func kinds(events []results.Event) string {
	var words []string
	for _, e := range events {
		words = append(words, string(e.Kind)+":"+e.Step)
	}
	return strings.Join(words, " ")
}

func TestPartsAreMerged(t *testing.T) {
	folder := jobsRun(t)
	if run := read(t, folder); run.Finished || len(run.Problems) > 0 || run.Steps[0].State != results.StepPending {
		t.Errorf("before any job: finished %v, problems %q, step %q; want none of it", run.Finished, run.Problems,
			run.Steps[0].State)
	}
	start := time.Now().Add(time.Minute)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	a, b := part(t, folder, "g001"), part(t, folder, "g002")
	// and is killed
	tell(t, a, results.Event{Time: at(0), Kind: results.RunStarted}, results.Event{
		Time: at(2),
		Kind: results.StepStarted, Step: "a_c1_r1", Attempt: 1,
	})
	tell(t, b, results.Event{Time: at(1), Kind: results.RunStarted}, results.Event{
		Time: at(3),
		Kind: results.StepStarted, Step: "b_c1_r1", Attempt: 1,
	},
		results.Event{Time: at(4), Kind: results.StepFinished, Step: "b_c1_r1", Attempt: 1, Verdict: results.OK},
		results.Event{Time: at(5), Kind: results.RunFinished})
	if err := b.WriteResult(&results.Result{
		Step:    results.StepRef{ID: "b_c1_r1", Attempt: 1},
		Verdict: results.OK,
	}); err != nil {
		t.Fatal(err)
	}
	run := read(t, folder)
	if run.Finished || run.Steps[0].State != results.StepInterrupted || run.Steps[1].State != results.StepDone ||
		run.Steps[1].Result.Verdict != results.OK {
		t.Errorf("one job killed: finished %v, states %q %q; want the first interrupted", run.Finished,
			run.Steps[0].State, run.Steps[1].State)
	}
	want := "run-started: run-started: run-started: step-started:a_c1_r1 step-started:b_c1_r1 step-finished:b_c1_r1 " +
		"run-finished:"
	if got := kinds(run.Events); got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
	again := part(t, folder, "g001") // on a node whose clock is behind
	tell(t, again, results.Event{Time: at(-50), Kind: results.RunResumed}, results.Event{
		Time: at(-49),
		Kind: results.StepStarted, Step: "a_c1_r1", Attempt: 2,
	},
		results.Event{
			Time: at(-48), Kind: results.StepFinished, Step: "a_c1_r1", Attempt: 2, Verdict: results.Failed,
			Failure: results.Failf(results.FailStall, "x"),
		}, results.Event{Time: at(-47), Kind: results.RunFinished})
	run = read(t, folder)
	if !run.Finished || run.Steps[0].State != results.StepDone || run.Steps[0].Result.Verdict != results.Failed ||
		len(run.Problems) > 0 {
		t.Errorf("after the second job: finished %v, step %q %q, problems %q; want failed without problems",
			run.Finished, run.Steps[0].State, run.Steps[0].Result.Verdict, run.Problems)
	}
	if len(run.Parts) != 3 || run.Parts[1].Name() != "jobs/g001/2" ||
		!strings.Contains(string(run.Environment), "g001") {
		t.Errorf("parts = %v, environment %s; want three, and the first one's environment", run.Parts, run.Environment)
	}
}

func TestPartsOfOneGroupDoNotMeet(t *testing.T) {
	folder := jobsRun(t)
	first := part(t, folder, "g001")
	if first.Superseded() || folder.Superseded() {
		t.Error("Superseded() = true for the only job, want false")
	}
	second := part(t, folder, "g001")
	if !first.Superseded() || second.Superseded() {
		t.Errorf("Superseded() = %v, %v, want true for the first only", first.Superseded(), second.Superseded())
	}
	if first.Journal() == second.Journal() || first.Dir() != folder.Dir() {
		t.Errorf("journals %s and %s in %s, want two in one run", first.Journal(), second.Journal(), first.Dir())
	}
	if _, err := folder.NewPart("../x"); err == nil {
		t.Error("NewPart(../x) = nil, want an error")
	}
	opened, err := Open(filepath.Dir(second.Journal()))
	if err != nil || opened.Dir() != folder.Dir() || opened.Journal() != second.Journal() {
		t.Errorf("Open(part) = %v, %v, want the second job's view of the run", opened, err)
	}
	names, err := os.ReadDir(filepath.Join(folder.Dir(), results.JobsName, "g001"))
	if err != nil || !slices.Equal([]string{names[0].Name(), names[1].Name()}, []string{"1", "2"}) {
		t.Errorf("folders %v, %v, want 1 and 2", names, err)
	}
}
