package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// A job is queued again only while jobs of its group come on.
func TestStuck(t *testing.T) {
	finished := results.Event{Kind: results.StepFinished, Step: "a", Verdict: results.OK}
	cut := results.Event{
		Kind: results.StepFinished, Step: "a", Verdict: results.Failed,
		Failure: results.Failf(results.FailInterrupted, "time"),
	}
	for _, c := range []struct {
		name   string
		now    []results.Event
		before [][]results.Event
		want   bool
	}{
		{"the first job", []results.Event{cut}, nil, false},
		{"it came on", []results.Event{finished, cut}, [][]results.Event{{cut}}, false},
		{"the one before came on", []results.Event{cut}, [][]results.Event{{finished}}, false},
		{"neither did", []results.Event{cut}, [][]results.Event{{finished}, {cut}}, true},
	} {
		folder, err := store.Create(t.TempDir(), "s", "r")
		if err != nil {
			t.Fatal(err)
		}
		journal, err := folder.OpenJournal()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.now {
			if err := journal.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		_ = journal.Close()
		var before []results.Part
		for i, events := range c.before {
			before = append(before, results.Part{Group: "g001", Number: i + 1, Events: events})
		}
		if got, err := stuck(folder, before); err != nil || got != c.want {
			t.Errorf("%s: stuck = %t, %v, want %t", c.name, got, err, c.want)
		}
	}
}

func TestStepsLongerThanTheirJob(t *testing.T) {
	sc := &scenarios.Scenario{}
	sc.Slurm.Time, sc.Slurm.Grace = 10*time.Minute, time.Minute
	p := &plan.Plan{Lives: []plan.Life{
		{Variant: "short", EstimateS: 60, Steps: []plan.Step{{EstimateS: 400}}},
		{Variant: "long", EstimateS: 120, Steps: []plan.Step{{EstimateS: 60}, {EstimateS: 480}}},
	}}
	got := tooLong(sc, p)
	if len(got) != 1 || !strings.Contains(got[0],
		"variant long: a server start and one step are estimated to take 10m0s, and a job has 9m0s") {
		t.Errorf("tooLong = %q, want the long variant alone", got)
	}
	sc.Slurm.Time = 0
	if got := tooLong(sc, p); got != nil {
		t.Errorf("tooLong without a limit = %q", got)
	}
}

// A slow answer of the controller does not blind the follower for minutes.
func TestPauseHasABound(t *testing.T) {
	if got := pauseAfter(time.Second, 20*9*time.Second); got != time.Minute {
		t.Errorf("after a look of 9 s the pause is %s, want a minute", got)
	}
	if got := pauseAfter(15*time.Second, time.Second); got != 15*time.Second {
		t.Errorf("after a quick look the pause is %s, want 15 s", got)
	}
}
