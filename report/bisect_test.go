package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// bisectRun is the run of a search over five versions: rounds are the figures of
// the versions, 0 for one that was not started, -1 for one that failed.
func bisectRun(rounds ...[5]float64) *results.Run {
	run := &results.Run{Manifest: results.Manifest{
		Scenario: "bisect", Run: "r", Variants: []string{"v1", "v2", "v3", "v4", "v5"}, Points: []string{"all"},
		Baseline: "v1", Bisect: &results.BisectPolicy{Figure: "output_throughput", Starts: 3, Confirm: 2},
	}}
	for round, figures := range rounds {
		for i, v := range run.Manifest.Variants {
			r := &results.Result{Verdict: results.OK, Step: results.StepRef{
				ID: fmt.Sprintf("%s_all_r%d", v, round+1), Variant: v, Point: "all", Repeat: round + 1,
			}}
			run.Manifest.Planned = append(run.Manifest.Planned, r.Step)
			step := results.Step{State: results.StepDone, Result: r}
			if figures[i] == 0 {
				r.Verdict, r.Failure = results.NotRun, results.Failf(results.FailNotNeeded, "round %d", round+1)
				run.NotNeeded = append(run.NotNeeded, step)
				continue
			}
			run.Steps = append(run.Steps, step)
			if figures[i] < 0 {
				r.Verdict, r.Failure = results.Failed, results.Failf(results.FailExited, "exit status 1")
				continue
			}
			r.Figures = &results.Figures{OutputThroughput: &figures[i]}
		}
	}
	return run
}

// TestBisectNotNeeded: steps that no search could have needed are not counted.
func TestBisectNotNeeded(t *testing.T) {
	run := bisectRun([5]float64{100, 0, 0, 0, -1}, [5]float64{}, [5]float64{})
	for most, want := range map[int]string{
		0: "; 13 more were not needed", 6: "; 4 more were not needed", 2: "", 1: "",
	} {
		run.Manifest.MostSteps = most
		if got := notNeededCount(run); got != want {
			t.Errorf("with %d steps at most: notNeededCount() = %q, want %q", most, got, want)
		}
	}
}

func TestBisectReport(t *testing.T) {
	ends := [][5]float64{{100, 0, 0, 0, 80}, {101, 0, 0, 0, 81}, {100, 0, 0, 0, 80}}
	suspect := bisectRun(ends...)
	suspect.Steps[0].Result.Verdict = results.Suspect

	for _, tt := range []struct {
		name string
		run  *results.Run
		want []string
	}{
		{"found", bisectRun(append(ends, [5]float64{100, 0, 80.5, 0, 80}, [5]float64{100, 100.5, 81, 0, 0},
			[5]float64{0, 101, 80, 0, 0}, [5]float64{0, 100, 80, 0, 0})...), []string{
			"output_throughput changed between v2 and v3. Confirmed on 2 further starts of each that no choice used: -20.",
			"v1", "before the change", "after the change",
		}},
		{"a version does not start", bisectRun(append(ends, [5]float64{100, 0, -1, 0, 80},
			[5]float64{100, 100.5, 0, 0, 80}, [5]float64{0, 101, 0, 80, 80}, [5]float64{0, 101, 0, 80, 0},
			[5]float64{0, 100, 0, 81, 0})...), []string{
			"output_throughput changed between v2 and v4.",
			"v3 lies between them and was skipped: server-exited: exit status 1",
			"skipped: server-exited",
		}},
		{"the ends are alike", bisectRun([5]float64{100, 0, 0, 0, 100}, [5]float64{101, 0, 0, 0, 100},
			[5]float64{100, 0, 0, 0, 101}), []string{
			"Cannot tell whether output_throughput changed between v1 and v5", "over 3 starts of each",
		}},
		{"an end does not start", bisectRun([5]float64{100, 0, 0, 0, -1}), []string{"v5 gave no figure", "failed"}},
		{"neither side", bisectRun(append(ends, [5]float64{100, 0, 90, 0, 80}, [5]float64{100, 0, 90, 0, 80},
			[5]float64{100, 0, 90, 0, 80.5})...), []string{
			"Cannot tell on which side v3 lies", "cannot tell: neither as before nor as after",
		}},
		{"cut off", suspect, []string{
			"The search is not over: a change of output_throughput, if any, lies between v1 and v5", "Suspect steps were used.",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Tables(&out, tt.run, []string{"bisect"}, table.ForTerminal, table.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the table lacks %q:\n%s", want, out.String())
				}
			}
			for _, line := range StandingOf(tt.run).Lines {
				if !strings.Contains(out.String(), line) {
					t.Errorf("a line of the verdict is not in the table: %s", line)
				}
			}
		})
	}

	empty := &results.Run{Manifest: results.Manifest{Bisect: &results.BisectPolicy{}}}
	if lines := StandingOf(empty).Lines; lines != nil {
		t.Errorf("a run without steps has the verdict %q", lines)
	}
}
