package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

func step(id string, attempt int, verdict results.Verdict, class results.FailureClass) results.Step {
	result := &results.Result{Step: results.StepRef{ID: id, Attempt: attempt}, Verdict: verdict}
	if class != "" {
		result.Failure = results.Failf(class, "because")
	}
	return results.Step{State: results.StepDone, Attempt: attempt, Result: result}
}

// A failed step is run again by the jobs that were submitted for that, once:
// when its job is queued again, its second failure stays.
func TestRetriesAreThoseOfTheSubmission(t *testing.T) {
	run := &results.Run{Steps: []results.Step{
		step("a", 1, results.Failed, results.FailExited), step("b", 1, results.OK, ""),
	}}
	retries := retriesOf(run)
	if resume := retries.Resume(run); resume.Keeps("a") || !resume.Keeps("b") {
		t.Fatalf("retries %v: want the failed step run again and the other kept", retries)
	}

	folder, err := store.Create(t.TempDir(), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder.Dir(), results.JobsName), 0o755); err != nil {
		t.Fatal(err)
	}
	name, err := retries.write(folder)
	if err != nil {
		t.Fatal(err)
	}
	second, err := retries.write(folder)
	if err != nil || second == name {
		t.Fatalf("a second list went to %q, %v, want a file of its own", second, err)
	}

	run.Steps[0] = step("a", 2, results.Failed, results.FailExited)
	again, err := readRetries(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Resume(run).Keeps("a") {
		t.Error("a job that is queued again runs the step a third time")
	}
	if none, err := readRetries(folder, ""); err != nil || !none.Resume(run).Keeps("a") {
		t.Errorf("without a list: %v, want the failed step kept", err)
	}
	if _, err := readRetries(folder, "jobs/none.json"); err == nil {
		t.Error("a list that is not there was read")
	}
}

// Groups of which nothing would be run are not submitted, though steps of theirs
// were not needed and other groups are open.
func TestLeftLeavesOutGroupsThatAreDone(t *testing.T) {
	run := &results.Run{
		Steps: []results.Step{step("a1", 1, results.OK, ""), step("b1", 1, results.NotRun,
			results.FailInterrupted)},
		NotNeeded: []results.Step{step("a2", 0, results.NotRun, results.FailPruned), step("b2", 0, results.NotRun,
			results.FailPruned)},
	}
	run.Manifest.Groups = []results.Group{
		{ID: "g001", Steps: []string{"a1", "a2"}}, {ID: "g002", Steps: []string{"b1", "b2"}},
	}
	left := Cluster{}.Left(run, Retries(nil).Resume(run), nil)
	if len(left) != 1 || left[0].ID != "g002" {
		t.Errorf("left = %v, want g002 alone", left)
	}
	if left := (Cluster{}).Left(run, Retries(nil).Resume(run), map[string]slurm.Job{"g002": {}}); len(left) != 0 {
		t.Errorf("left = %v although its job is queued", left)
	}
}
