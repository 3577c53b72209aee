package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// repeated is a run of two variants with three repeats, after a change.
func repeated(change func(variant string, repeat int, s results.Step)) *results.Run {
	var steps []results.Step
	for repeat := 1; repeat <= 3; repeat++ {
		for i, variant := range []string{"a", "b"} {
			s := step(variant, 8, repeat, 4+0.5*float64(i)+float64(repeat)/100)
			change(variant, repeat, s)
			steps = append(steps, s)
		}
	}
	return runOf(steps...)
}

func TestDifferencesSayWhatWeakensThem(t *testing.T) {
	oom := results.Failf(results.FailOutOfMemory, "the server ended while loading: exit code 1")
	oom.LogTail = []string{"loading", "torch.OutOfMemoryError: HIP out of memory", "goodbye"}
	tests := []struct {
		name   string
		change func(variant string, repeat int, s results.Step)
		want   []string
		never  []string
	}{
		{
			"sound", func(string, int, results.Step) {},
			[]string{"c8: b against a", "req/s", "better"},
			[]string{"? ", "left out", "no figures"},
		},
		{"one suspect", func(v string, repeat int, s results.Step) {
			if v == "b" && repeat == 2 {
				s.Result.Verdict = results.Suspect
				doubt(s, results.WarnFewSamples, "few")
				doubt(s, results.WarnClientLate, "late")
			}
		}, []string{"3/2", "b: 1 of 3 repeats left out (suspect: late)"}, []string{"? b", "suspect: few"}},
		{
			"all suspect", func(v string, _ int, s results.Step) {
				if v == "b" {
					s.Result.Verdict = results.Suspect
					doubt(s, results.WarnThrottled, "hot")
				}
			},
			[]string{"? b", "3/3", "b has no valid repeat: its figures come from suspect repeats (throttled)"},
			[]string{"left out"},
		},
		{"failed", func(v string, _ int, s results.Step) {
			if v == "b" {
				fail(s, results.Failed, oom)
			}
		}, []string{"b has no figures: failed: out-of-memory: the server ended while loading: exit code 1 | " +
			"torch.OutOfMemoryError: HIP out of memory"}, []string{"req/s  "}},
		{"baseline failed", func(v string, _ int, s results.Step) {
			if v == "a" {
				fail(s, results.Failed, oom)
			}
		}, []string{"a has no figures: failed"}, nil},
		{
			"external", func(_ string, _ int, s results.Step) { s.Result.Servers[0].Launcher = "external" },
			[]string{"a: the server was already running", "b: the server was already running"},
			nil,
		},
		{
			"simulated", func(v string, _ int, s results.Step) { s.Result.Simulated = v == "b" },
			[]string{"not comparable: one side is simulated"},
			[]string{"better"},
		},
		{
			"prompts", func(v string, _ int, s results.Step) { s.Result.Asked.DatasetSHA256 = "prompts-of-" + v },
			[]string{"the prompts differ (SHA-256 prompts-of-a and prompts-of-b)", "better"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := repeated(tt.change)
			got := string(print(t, func(out *bytes.Buffer) error {
				return Tables(out, run, []string{"differences"}, table.ForTerminal, table.Options{})
			}))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("differences lack %q:\n%s", want, got)
				}
			}
			for _, never := range tt.never {
				if strings.Contains(got, never) {
					t.Errorf("differences have %q:\n%s", never, got)
				}
			}
			csv := string(print(t, func(out *bytes.Buffer) error { return export.DifferencesCSV(out, run) }))
			if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) < 2 {
				t.Errorf("differences.csv has no row:\n%s", csv)
			}
		})
	}
}

func TestBaselineAndSmallestDifference(t *testing.T) {
	run := repeated(func(string, int, results.Step) {})
	run.Manifest.Baseline, run.Manifest.SmallestDifference = "b", new(0.5)
	got := string(print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
	for _, want := range []string{"c8: a against b", "±50 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	run.Manifest.Baseline = "of another scenario"
	if got := versus.BaselineOf(run); got != "a" {
		t.Errorf("baseline = %q, want the first variant", got)
	}
	if all := versus.Differences(runOf(step("a", 8, 1, 4), step("b", 8, 1, 4))); all != nil {
		t.Errorf("a run without repeats is compared: %v", all)
	}
	if all := versus.Differences(runOf(step("a", 8, 1, 4), step("a", 8, 2, 4))); all != nil {
		t.Errorf("a run of one variant is compared: %v", all)
	}
}

// Lives count in the order in which they ran, which after a resume is not that
// of the plan.
func TestDriftFollowsTheJournal(t *testing.T) {
	var steps []results.Step
	for repeat := 1; repeat <= 6; repeat++ {
		steps = append(steps, step("a", 8, repeat, 4),
			step("b", 8, repeat, 4+[]float64{0, 0.4, 0.1, 0.5, 0.2, 0.3}[repeat-1]))
	}
	run := runOf(steps...)
	if got := string(print(t, func(out *bytes.Buffer) error {
		return Write(out, run,
			table.Options{})
	})); strings.Contains(got, "drift: ") {
		t.Errorf("the order of the plan is called a drift:\n%s", got)
	}
	for seq, repeat := range []int{1, 3, 5, 6, 2, 4} {
		run.Events = append(run.Events, results.Event{
			Seq: seq + 1, Kind: results.StepStarted,
			Step: step("b", 8, repeat, 1).Result.Step.ID,
		})
	}
	if got := string(print(t, func(out *bytes.Buffer) error {
		return Write(out, run,
			table.Options{})
	})); !strings.Contains(got, "drift: b: req/s rises with the order of its 6 server starts") {
		t.Errorf("a drift in the order of the journal is not told:\n%s", got)
	}
}
