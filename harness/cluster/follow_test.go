package cluster

import (
	"bytes"
	"testing"

	"github.com/benchrig/bench/results"
)

// A step is reported once, when its last attempt has ended, and counted then.
func TestStepsAreToldOnce(t *testing.T) {
	var out bytes.Buffer
	f := follower{reported: map[string]int{}}
	f.Process.Stderr = &out
	step := func(id string, attempt int, verdict results.Verdict, failure *results.Failure) results.Step {
		return results.Step{
			State: results.StepDone, Attempt: attempt,
			Result: &results.Result{
				Step: results.StepRef{ID: id, Attempt: attempt}, Verdict: verdict,
				Failure: failure,
			},
		}
	}
	run := &results.Run{Steps: []results.Step{
		step("retried", 1, results.Failed, results.Failf(results.FailStall, "no token")),
		step("begun-again", 1, results.Failed, results.Failf(results.FailStall, "no token")),
		step("cut", 1, results.Failed, results.Failf(results.FailInterrupted, "time limit")),
		step("good", 1, results.OK, nil),
	}}
	run.Steps[0].Retry, run.Steps[1].Open = true, 2
	said := func(all bool, want string) {
		t.Helper()
		out.Reset()
		f.reportSteps(run, all)
		if out.String() != want {
			t.Errorf("told %q, want %q", out.String(), want)
		}
	}

	said(false, "[1/4] good: ok\n")
	said(false, "")
	run.Steps[0] = step("retried", 2, results.OK, nil)
	said(false, "[2/4] retried: ok\n")
	said(true, "[4/4] begun-again: failed: stall-timeout: no token\n[4/4] cut: failed: interrupted: time limit\n")
	said(true, "")

	// a resume that repeats failed steps does not tell their old ends
	f = follower{reported: map[string]int{}, Cluster: Cluster{Retry: Retries{"bad": 1}}}
	f.Process.Stderr = &out
	run.Steps = []results.Step{step("bad", 1, results.Failed, results.Failf(results.FailStall, "no token"))}
	said(false, "")
	run.Steps[0] = step("bad", 2, results.Failed, results.Failf(results.FailStall, "again"))
	said(false, "[1/1] bad: failed: stall-timeout: again\n")
}
