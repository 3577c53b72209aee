package curves

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

// journal makes a run of events at seconds after ten in the evening.
func journal(planned []results.StepRef, events ...results.Event) *results.Run {
	run := &results.Run{Events: events}
	run.Manifest.Planned = planned
	return run
}

func at(s float64, e results.Event) results.Event {
	e.Time = time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
	return e
}

// told writes spans so that they can be compared at a glance.
func told(spans []TimelineSpan) []string {
	var out []string
	for _, s := range spans {
		line := fmt.Sprintf("%s %s %g-%g", s.Phase, s.Name, s.FromS, s.ToS)
		if s.Variant != "" {
			line += " of " + s.Variant
		}
		if s.Verdict != "" {
			line += " " + string(s.Verdict)
		}
		if s.Open {
			line += " open"
		}
		if s.Failure != nil {
			line += " " + string(s.Failure.Class)
		}
		out = append(out, line)
	}
	return out
}

func toldMarks(marks []TimelineMark) []string {
	var out []string
	for _, m := range marks {
		line := fmt.Sprintf("%s %g", m.Kind, m.AtS)
		if m.Failure != nil {
			line += " " + string(m.Failure.Class)
		}
		out = append(out, line)
	}
	return out
}

func TestTimelineOf(t *testing.T) {
	planned := []results.StepRef{{ID: "a1", Variant: "a"}, {ID: "a2", Variant: "a"}, {ID: "b1", Variant: "b"}}
	stalled := results.Failf(results.FailStall, "no byte")
	memory := results.Failf(results.FailOutOfMemory, "no room")
	hook := &results.HookRecord{Level: "variant", When: "before", Name: "drop-caches", OK: true}
	refused := &results.HookRecord{Level: "step", When: "check", Name: "gpu-free", Message: "held", TookS: 2}
	run := journal(planned,
		at(0, results.Event{Kind: results.RunStarted}),
		at(1, results.Event{Kind: results.HookStarted, Hook: hook}),
		at(3, results.Event{Kind: results.HookFinished, Hook: hook}),
		at(3, results.Event{Kind: results.LifeStarting, Life: "01-a"}),
		at(4, results.Event{Kind: results.LifeSpawned, Life: "01-a"}),
		at(20, results.Event{Kind: results.LifeReady, Life: "01-a"}),
		at(21, results.Event{Kind: results.StepStarted, Step: "a1", Attempt: 1, Life: "01-a"}),
		at(50, results.Event{Kind: results.StepFinished, Step: "a1", Attempt: 1, Verdict: results.OK}),
		at(51, results.Event{Kind: results.StepStarted, Step: "a2", Attempt: 1, Life: "01-a"}),
		at(60, results.Event{
			Kind: results.StepFinished, Step: "a2", Attempt: 1, Verdict: results.Failed,
			Failure: stalled,
		}),
		at(61, results.Event{Kind: results.LifeStopping, Life: "01-a"}),
		at(65, results.Event{Kind: results.LifeStopped, Life: "01-a"}),
		at(70, results.Event{Kind: results.HookFinished, Hook: refused}),
		at(71, results.Event{Kind: results.LifeStarting, Life: "02-b"}),
		at(80, results.Event{Kind: results.LifeFailed, Life: "02-b", Failure: memory}),
		at(80, results.Event{Kind: results.StepFinished, Step: "b1", Verdict: results.NotRun}),
		at(81, results.Event{Kind: results.RunFinished}),
	)
	got := TimelineOf(run)
	if diff := cmp.Diff([]string{
		"step a1 21-50 of a ok", "step a2 51-60 of a failed stall-timeout",
		"step b1 80-80 of b not run",
	}, told(got.Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	wantLives := []string{
		"starting 01-a 3-20 of a", "serving 01-a 20-61 of a", "stopping 01-a 61-65 of a",
		"starting 02-b 71-80 out-of-memory",
	}
	if diff := cmp.Diff(wantLives, told(got.Lives)); diff != "" {
		t.Errorf("lives (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"hook drop-caches 1-3", "hook gpu-free 68-70 hook-failed"},
		told(got.Hooks)); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	wantMarks := []string{
		"run-started 0", "step-finished 60 stall-timeout", "hook-finished 70 hook-failed",
		"life-failed 80 out-of-memory", "run-finished 81",
	}
	if diff := cmp.Diff(wantMarks, toldMarks(got.Marks)); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if got.EndS != 81 {
		t.Errorf("EndS = %g, want 81", got.EndS)
	}
}

// A killed run leaves spans open up to its last word; what a resume does
// starts over.
func TestTimelineOfKilledRun(t *testing.T) {
	planned := []results.StepRef{{ID: "a1", Variant: "a"}}
	run := journal(planned,
		at(0, results.Event{Kind: results.LifeStarting, Life: "01-a"}),
		at(5, results.Event{Kind: results.LifeReady, Life: "01-a"}),
		at(6, results.Event{Kind: results.StepStarted, Step: "a1", Attempt: 1, Life: "01-a"}),
		at(3600, results.Event{Kind: results.RunResumed}),
		at(3601, results.Event{Kind: results.StepStarted, Step: "a1", Attempt: 2}),
		at(3600.5, results.Event{Kind: results.EngineSeen}), // the clock was set back
	)
	got := TimelineOf(run)
	if diff := cmp.Diff([]string{"step a1 6-6 of a open", "step a1 3601-3601 of a open"}, told(got.Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"starting 01-a 0-5 of a", "serving 01-a 5-6 of a open"}, told(got.Lives)); diff != "" {
		t.Errorf("lives (-want +got):\n%s", diff)
	}
}

func TestTimelineOfNothing(t *testing.T) {
	if got := TimelineOf(&results.Run{}); got.EndS != 0 || got.Steps != nil || got.Marks != nil {
		t.Errorf("TimelineOf(no events) = %+v", got)
	}
}

func TestStartOf(t *testing.T) {
	run := journal(nil, at(10, results.Event{Kind: results.RunStarted}))
	for wall, want := range map[string]float64{"2026-11-27T22:01:10.5Z": 60.5, "2026-11-27T23:01:10+01:00": 60} {
		if got, ok := StartOf(run, wall); !ok || got != want {
			t.Errorf("StartOf(%q) = %g, %t, want %g", wall, got, ok, want)
		}
	}
	for _, wall := range []string{"", "yesterday"} {
		if _, ok := StartOf(run, wall); ok {
			t.Errorf("StartOf(%q) is a time", wall)
		}
	}
	if _, ok := StartOf(&results.Run{}, "2026-11-27T22:01:10Z"); ok {
		t.Error("StartOf of a run without events is a time")
	}
}
