package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// night is one run of three server starts.
type night struct {
	version, prompts string
	args             []string
	rate             float64
	scenario         string
}

// run makes the run of the night with a number: the rate differs by 0.2 % from
// start to start.
func (n night) run(number int) versus.Side {
	r := &results.Run{Manifest: results.Manifest{
		Scenario: n.scenario, Run: fmt.Sprintf("run-%02d", number), Variants: []string{"tp8"}, Points: []string{"c8"},
		StartedAt: time.Date(2026, 11, 1+number, 3, 0, 0, 0, time.UTC).Format(time.RFC3339),
	}}
	for repeat := 1; repeat <= 3; repeat++ {
		rate := n.rate * (1 + 0.002*float64((repeat+number)%3))
		r.Steps = append(r.Steps, results.Step{State: results.StepDone, Result: &results.Result{
			Scenario: n.scenario, Verdict: results.OK,
			Step: results.StepRef{ID: fmt.Sprintf("s%d", repeat), Variant: "tp8", Point: "c8", Repeat: repeat},
			Servers: []results.Server{{
				Life: fmt.Sprintf("%d-%d", number, repeat), Launcher: "vllm", Version: n.version, Model: "m",
				Argv: append([]string{"vllm", "serve", "m"}, n.args...),
			}},
			Asked:   results.Asked{API: "completions", DatasetSHA256: n.prompts},
			Figures: &results.Figures{OutputThroughput: &rate},
		}})
	}
	return versus.Side{Name: r.Manifest.Run, Run: r}
}

// follow is the only series of some nights, given in another order than that of
// time.
func follow(t *testing.T, nights ...night) Series {
	t.Helper()
	var sides []versus.Side
	for i, n := range nights {
		if n.scenario == "" {
			n.scenario = "nightly"
		}
		sides = append([]versus.Side{n.run(i)}, sides...)
	}
	all := Of(sides, Wanted{
		Figures: []catalog.Figure{catalog.Must("output_throughput")}, Rule: compare.DefaultRule(),
	})
	if len(all) != 1 || len(all[0].Entries) != len(nights) {
		t.Fatalf("%d series, want one of %d entries", len(all), len(nights))
	}
	return all[0]
}

// words tells a series' breaks.
func words(s Series) []string {
	var all []string
	for _, b := range s.Breaks {
		line := fmt.Sprintf("%s %s", s.Entries[b.At].Run, b.Verdict)
		if b.NotCompared != "" {
			line = s.Entries[b.At].Run + " never"
		}
		if b.OfRuns {
			line += " by runs"
		}
		if b.Searched {
			line += " searched"
		}
		if b.Recorded != nil {
			line += " " + versus.ChangesText(b.Recorded)
		}
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

func times(n int, x night) []night {
	all := make([]night, n)
	for i := range all {
		all[i] = x
		all[i].rate *= 1 + 0.004*float64(i*7%5)
	}
	return all
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	old, fresh := night{version: "0.9.1", prompts: "a", rate: 100}, night{version: "0.10.0", prompts: "a", rate: 110}
	same, slower := fresh, night{version: "0.9.1", prompts: "a", rate: 90}
	same.rate = 100
	eager, other := old, old
	eager.args, eager.rate = []string{"--enforce-eager"}, 95
	other.prompts = "b"
	for _, c := range []struct {
		name   string
		nights []night
		want   []string
	}{
		{"two alike", times(2, old), nil},
		{"a version that is faster", []night{old, fresh}, []string{
			"run-01 better engine version: 0.9.1 against 0.10.0",
		}},
		{"a version that is not", []night{old, same}, []string{
			"run-01 no difference engine version: 0.9.1 against 0.10.0",
		}},
		{"an argument, among many", append(times(3, old), times(3, eager)...), []string{
			"run-03 worse by runs argument --enforce-eager: unset against set",
		}},
		{"nothing recorded", append(times(6, old), times(6, slower)...), []string{"run-06 worse by runs searched"}},
		{"other prompts", []night{old, other}, []string{
			"run-01 never prompts, SHA-256: a against b",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, words(follow(t, c.nights...))); diff != "" {
				t.Errorf("breaks (-want +got):\n%s", diff)
			}
		})
	}
}

// Runs of other scenarios, and simulated ones, are series of their own; a single
// run makes no series.
func TestSeriesAreApart(t *testing.T) {
	t.Parallel()
	a, b := night{scenario: "a", rate: 1}, night{scenario: "b", rate: 1}
	simulated := a.run(4)
	for _, s := range simulated.Run.Steps {
		s.Result.Simulated = true
	}
	all := Of([]versus.Side{a.run(0), b.run(1), a.run(2), simulated}, Wanted{
		Figures: []catalog.Figure{catalog.Must("output_throughput")}, Rule: compare.DefaultRule(),
	})
	if len(all) != 1 || all[0].Scenario != "a" || len(all[0].Entries) != 2 || all[0].Simulated {
		t.Errorf("%d series: %+v, want that of the two runs of a", len(all), all)
	}
}
