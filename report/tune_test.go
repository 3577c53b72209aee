package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// tuneRun is the run of scenarios/tune.yaml up to a round: its variants with their
// output tokens/s by round, of which 0 is a start for want of memory.
func tuneRun(rounds int) *results.Run {
	variants := []struct {
		name   string
		rounds map[int]float64
	}{
		{"default", map[int]float64{1: 1349.1, 2: 1348.6, 4: 1344.6, 5: 1350.1, 6: 1343.9}},
		{"s8-t512-m0.9", map[int]float64{1: 955.3}},
		{"s8-t8192-m0.9", map[int]float64{1: 889.1}},
		{"s64-t512-m0.9", map[int]float64{1: 1831.5, 2: 1832.4, 3: 1832.1, 4: 1831.7, 5: 1832.2, 6: 1831.7}},
		{"s64-t8192-m0.5", map[int]float64{1: 0}},
		{"s64-t8192-m0.9", map[int]float64{1: 1742.6, 2: 1744.1, 3: 1742.3}},
	}
	run := &results.Run{Finished: true}
	run.Manifest = results.Manifest{Scenario: "tune", Run: "r", Simulated: true, Tune: &results.TunePolicy{
		Figure: "output_throughput", Sizes: []int{6, 3, 2}, Confirm: 3, Drawn: len(variants),
		Targets: []results.Condition{{Figure: "p90_ttft_ms", Op: "<=", Value: 2000}},
	}}
	for _, v := range variants {
		run.Manifest.Variants = append(run.Manifest.Variants, v.name)
		for round := 1; round <= rounds; round++ {
			speed, measured := v.rounds[round]
			s := step(v.name, 32, round, 4)
			s.Result.Step.Point, s.Result.Simulated = onlyPoint, true
			run.Manifest.Planned = append(run.Manifest.Planned, s.Result.Step)
			switch {
			case !measured:
				fail(s, results.NotRun, results.Failf(results.FailNotNeeded, "%s was dropped", v.name))
				run.NotNeeded = append(run.NotNeeded, s)
				continue
			case speed == 0:
				fail(s, results.Failed, results.Failf(results.FailOutOfMemory, "server log says \"HIP out of memory\""))
			default:
				s.Result.Figures.OutputThroughput = new(speed)
				s.Result.Figures.TTFT.Percentiles = []results.PercentileFigure{{P: 90, Value: new(0.5)}}
				s.Result.Servers[0].Argv = []string{"vllm", "serve", "m", "--note", v.name}
			}
			run.Steps = append(run.Steps, s)
		}
	}
	return run
}

func tuneText(t *testing.T, run *results.Run) string {
	t.Helper()
	return string(print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, []string{"tune"}, table.ForTerminal, table.Options{})
	}))
}

// docs/tuning.md shows the table as it is printed.
func TestTuningPageShowsTheTable(t *testing.T) {
	shown, _, found := strings.Cut(tuneText(t, tuneRun(6)), "\nvllm serve")
	page, err := os.ReadFile("../docs/tuning.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := indented(shown); !found || !strings.Contains(string(page), want) {
		t.Errorf("docs/tuning.md lacks:\n%s", want)
	}
}

// indented is text as an example in a page.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			line = "    " + line
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

func TestTuneReport(t *testing.T) {
	missed := tuneRun(6)
	missed.Manifest.Tune.Targets[0].Value = 400
	baseline := tuneRun(6)
	baseline.Manifest.Baseline = "s64-t512-m0.9"
	worse := tuneRun(6)
	suspect := tuneRun(6)
	for i := range worse.Steps {
		if r := worse.Steps[i].Result; r.Step.Repeat > 3 && r.Step.Variant == "s64-t512-m0.9" {
			r.Figures.OutputThroughput = new(1200.0 + float64(r.Step.Repeat))
			r.Figures.TTFT.Percentiles[0].Value = new(2.5)
		}
		if r := suspect.Steps[i].Result; r.Step.Repeat == 1 && r.Figures != nil {
			suspect.Steps[i] = doubt(suspect.Steps[i], results.WarnClientLimit, "the client was the limit")
			r.Verdict = results.Suspect
		}
	}

	for _, tt := range []struct {
		name string
		run  *results.Run
		want []string
	}{
		{"confirmed", tuneRun(6), []string{
			"The recipe is s64-t512-m0.9: output_throughput 1832 over 3 starts.",
			"Confirmed on 3 further starts that no choice used: +36.08 % against default",
			"failed in round 1: out-of-memory\n", "Recipe: s64-t512-m0.9", "vllm serve m --note s64-t512-m0.9",
		}},
		{"cut off in round 3", tuneRun(2), []string{"No recipe yet: the run ended after 2 of 3 rounds.", "still in"}},
		{"cut off before the confirmation", tuneRun(3), []string{"It is not confirmed: no round has compared it"}},
		{"nothing meets the targets", missed, []string{
			"No recipe: no variant that was left met the targets.", "it missed the targets, by 25 %",
		}},
		{"the baseline", baseline, []string{"It is the baseline: no other variant came out ahead of it."}},
		{"not confirmed", worse, []string{
			"Not confirmed on 3 further starts that no choice used: -10.49 % against default",
			"In these starts the recipe missed the targets in 3 of 3 steps",
		}},
		{"suspect", suspect, []string{"dropped after round 1, suspect steps were used"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tuneText(t, tt.run)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("the table lacks %q:\n%s", want, text)
				}
			}
			for i, line := range tuneStanding(tt.run).Lines {
				if !strings.Contains(text, line) {
					t.Errorf("line %d of the verdict is not in the table: %s", i, line)
				}
			}
			if len(tuneStanding(tt.run).Lines) == 0 {
				t.Error("there is no verdict")
			}
		})
	}

	o := tuneStanding(&results.Run{Manifest: results.Manifest{Tune: &results.TunePolicy{}}})
	if fmt.Sprint(o) != fmt.Sprint(Standing{}) {
		t.Errorf("a run without steps has the verdict %+v", o)
	}
}
