package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// blameRun is the run of a factorial of two factors: the first one makes the figure
// 20 % larger, the second nothing, and starts differ by 1 %.
func blameRun(repeats int, fails func(levels []bool) bool) *results.Run {
	policy := &results.BlamePolicy{
		From: "old", To: "new", Figure: "output_throughput",
		Factors: []results.Factor{
			{Letter: "a", Name: "args.seqs", Settings: []results.Setting{{Path: "args.seqs", From: "8", To: "64"}}},
			{Letter: "b", Name: "mode", Settings: []results.Setting{
				{Path: "env.MODE", To: "fast"}, {Path: "args.eager", From: "true"},
			}},
		},
		Levels: map[string][]bool{
			"old": {false, false}, "old+a": {true, false}, "old+b": {false, true}, "new": {true, true},
		},
	}
	run := &results.Run{Manifest: results.Manifest{
		Scenario: "blame", Run: "r", Variants: []string{"old", "old+a", "old+b", "new"}, Points: []string{"all"},
		Baseline: "old", Blame: policy,
	}}
	for repeat := 1; repeat <= repeats; repeat++ {
		for i, v := range run.Manifest.Variants {
			r := &results.Result{Verdict: results.OK, Step: results.StepRef{
				ID: fmt.Sprintf("%s_all_r%d", v, repeat), Variant: v, Point: "all", Repeat: repeat,
			}}
			run.Manifest.Planned = append(run.Manifest.Planned, r.Step)
			run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: r})
			if fails != nil && fails(policy.Levels[v]) {
				r.Verdict, r.Failure = results.Failed, results.Failf(results.FailOutOfMemory, "no room")
				continue
			}
			rate := 100 + float64((repeat+i)%3-1)
			if policy.Levels[v][0] {
				rate *= 1.2
			}
			r.Figures = &results.Figures{OutputThroughput: &rate}
		}
	}
	return run
}

func TestBlameReport(t *testing.T) {
	never := blameRun(3, func(levels []bool) bool { return levels[1] })
	nothing := blameRun(3, func([]bool) bool { return true })
	two := blameRun(6, nil)
	two.Manifest.Points = []string{"c1", "c8"}
	for i, s := range two.Steps {
		s.Result.Step.Point = two.Manifest.Points[i%8/4]
	}

	for _, tt := range []struct {
		name string
		run  *results.Run
		want []string
	}{
		{"one made it", blameRun(6, nil), []string{
			"What made the difference: args.seqs +20.", "All together: +20.",
			"a  args.seqs", "mode: env.MODE", "fast", "6 starts of each", "better", "no difference", "a*b",
		}},
		{"not enough starts", blameRun(2, nil), []string{
			"nothing can be said about 1 other setting", "more repeats would narrow it",
		}},
		{"one start of each", blameRun(1, nil), []string{
			"Cannot tell which setting made a difference", "cannot tell: no repeat shows the noise",
		}},
		{"a setting with which no server starts", never, []string{
			"With mode of new no start succeeded (0 of 6), and every other variant that was tried succeeded at " +
				"least once: " +
				"out-of-memory: no room.",
			"cannot tell: no variant with it, or none without it, has the figure", ", or a*b",
		}},
		{"nothing starts", nothing, []string{"which no one or two settings explain: out-of-memory: no room."}},
		{"two load points", two, []string{
			"Effects on output_throughput at c1", "made the difference: args.seqs", " at c8",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Tables(&out, tt.run, []string{"blame"}, table.ForTerminal, table.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the table lacks %q:\n%s", want, out.String())
				}
			}
			s := StandingOf(tt.run)
			for _, line := range s.Lines {
				if !strings.Contains(out.String(), line) {
					t.Errorf("a line of the verdict is not in the table: %s", line)
				}
			}
			if decided := strings.Contains(strings.Join(s.Lines, ""), "What made"); decided != s.Decided {
				t.Errorf("decided is %t of %q", s.Decided, s.Lines)
			}
		})
	}

	empty := &results.Run{Manifest: results.Manifest{Blame: &results.BlamePolicy{}}}
	if lines := StandingOf(empty).Lines; lines != nil {
		t.Errorf("a run without steps has the verdict %q", slices.Clone(lines))
	}
}
