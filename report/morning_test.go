package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// night is a run that began at ten and of which the last event is hours later.
func night(run *results.Run, name string, hours int, end results.Event) Night {
	began := time.Date(2026, 11, 28, 22, 0, 0, 0, time.FixedZone("CET", 3600))
	end.Time = began.Add(time.Duration(hours) * time.Hour)
	run.Events = append([]results.Event{{Kind: results.RunStarted, Time: began}}, end)
	run.Manifest.Run, run.Dir = name, "results/night/"+name
	return Night{Run: run}
}

func TestMorning(t *testing.T) {
	finished := results.Event{Kind: results.RunFinished}
	early := finished
	early.Failure = results.Failf(results.FailDeadline, "the time until 07:30 passed")
	running := night(killedRun(), "20260131-4", 9, results.Event{Kind: results.LifeReady})
	running.Writer = true
	jobs := night(killedRun(), "20260131-5", 9, results.Event{Kind: results.LifeReady})
	jobs.Run.Manifest.Groups = []results.Group{{ID: "g001"}}
	problems := failuresRun()

	var out bytes.Buffer
	err := Morning(&out, []Night{
		night(runOf(matrix()...), "20260131-1", 2, finished),
		night(problems, "20260131-2", 3, early),
		night(killedRun(), "20260131-3", 5, results.Event{Kind: results.LifeReady}),
		running, jobs,
		{Run: runOf()},
	}, table.Options{Width: 120})
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Compare(t, "testdata/morning.txt", out.String(), *update)
}
