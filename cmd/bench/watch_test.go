package main

import (
	"errors"
	"testing"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

func TestWatchEndsWithTheExitCodeOfTheRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		view live.View
		want int
	}{
		{"all steps", live.View{State: live.RunEnded, Counts: map[live.StepState]int{live.Done: 4}}, exitOK},
		{"suspect steps", live.View{State: live.RunEnded, Counts: map[live.StepState]int{live.Suspect: 4}}, exitOK},
		{
			"a failed step",
			live.View{State: live.RunEnded, Counts: map[live.StepState]int{live.Failed: 1}},
			exitStepsFailed,
		},
		{
			"interrupted",
			live.View{State: live.RunStopped, Ended: &results.Failure{Class: results.FailInterrupted}},
			exitInterrupted,
		},
		{
			"a full disk",
			live.View{State: live.RunStopped, Ended: &results.Failure{Class: results.FailDisk}},
			exitStepsFailed,
		},
		{"killed", live.View{State: live.RunDead}, exitStepsFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := exitOK
			var code codeError
			if err := codeOf(tt.view); errors.As(err, &code) {
				got = code.code
			} else if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
		})
	}
}
