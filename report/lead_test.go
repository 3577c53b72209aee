package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// ledRun has two valid variants at c16 and a suspect one that is faster than
// both; at c1 the suspect one is the slowest.
func ledRun() *results.Run {
	var steps []results.Step
	for _, concurrency := range []int{1, 16} {
		for repeat := 1; repeat <= 3; repeat++ {
			spread := 1 + float64(repeat)/1000
			suspect := step("tp1", concurrency, repeat, 10*spread)
			if concurrency == 16 {
				suspect = step("tp1", concurrency, repeat, 90*spread)
			}
			suspect.Result.Verdict = results.Suspect
			steps = append(steps, step("tp8", concurrency, repeat, 50*spread),
				step("tp4", concurrency, repeat, 40*spread),
				doubt(suspect, results.WarnClientLimit, "the client was the limit"))
		}
	}

	return runOf(steps...)
}

func TestNothingIsBestBesideABetterRow(t *testing.T) {
	run := ledRun()
	for name, tab := range map[string]table.Table{
		"figures": grid.LayOutRun(run), "a study": studies.ConcurrencyParts(run)[0].Table,
	} {
		for _, r := range tab.Rows {
			point := slices.ContainsFunc(r.Cells, func(c table.Cell) bool { return c.Text == "c16" || c.Text == "16" })
			if best := slices.ContainsFunc(r.Cells, func(c table.Cell) bool { return c.Best }); best && point {
				t.Errorf("%s: %s is best at c16, where the suspect tp1 is better", name, r.Cells[0].Text)
			}
		}
	}

	tab := grid.LayOutRun(run)
	var leads, best []string
	for _, r := range tab.Rows {
		for _, c := range r.Cells {
			if strings.HasPrefix(c.Text, grid.LeadMark) {
				leads = append(leads, r.Cells[0].Text+" "+r.Cells[1].Text+" "+r.Cells[2].Text)
				break
			}
		}
		if slices.ContainsFunc(r.Cells, func(c table.Cell) bool { return c.Best }) {
			best = append(best, r.Cells[0].Text+" "+r.Cells[1].Text)
		}
	}
	if want := []string{"tp1 c16 suspect: client-limit"}; !slices.Equal(leads, want) {
		t.Errorf("rows that lead unranked: %q, want %q", leads, want)
	}
	if want := []string{"tp8 c1"}; !slices.Equal(best, want) {
		t.Errorf("rows with a best figure: %q, want %q", best, want)
	}
	if !slices.ContainsFunc(tab.Legend, func(s string) bool { return strings.HasPrefix(s, grid.LeadMark+" ") }) {
		t.Errorf("the legend does not explain %q: %q", grid.LeadMark, tab.Legend)
	}
}

func TestNoWinnerWhereASuspectVariantLeads(t *testing.T) {
	standing := strings.Join(StandingOf(ledRun()).Lines, "\n")
	for _, want := range []string{
		"tp8 wins at c1: ", "No winner at c16: tp1 has the best output tok/s (", "and is not ranked: client-limit.",
	} {
		if !strings.Contains(standing, want) {
			t.Errorf("the verdict lacks %q:\n%s", want, standing)
		}
	}

	var out bytes.Buffer
	if err := Write(&out, ledRun(), table.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(out.String(), "\n\n") {
		if strings.Contains(part, "tp1      c16") && !strings.Contains(part, "suspect") {
			t.Errorf("a part of the table shows tp1 at c16 without its verdict:\n%s", part)
		}
	}
}

// A failed step is named by the class of its failure alone: what its warnings say
// follows from that.
func TestReasonsOfNoFigures(t *testing.T) {
	failed := &results.Result{
		Verdict: results.Failed, Failure: results.Failf(results.FailRequests, "1 of 1500"),
		Warnings: []results.Warning{{Code: results.WarnFailures}, {Code: results.WarnInterrupted}},
	}
	suspect := &results.Result{Verdict: results.Suspect, Warnings: []results.Warning{{Code: results.WarnClientLimit}}}
	if got := reasonsText([]*results.Result{failed, suspect}); got != " (requests-failed, client-limit)" {
		t.Errorf("reasons%s, want (requests-failed, client-limit)", got)
	}
}
