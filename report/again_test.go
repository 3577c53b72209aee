package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// againRun is a run whose null test's arm has better figures than all others.
func againRun() *results.Run {
	run := nullRun([]float64{100, 101}, []float64{300, 301})
	run.Manifest.Variants, run.Manifest.Baseline = []string{"a", "b", "a+again"}, "a"
	for i, v := range []float64{200, 201} {
		s := run.Steps[i]
		r := *s.Result
		r.Step.ID, r.Step.Variant = strings.Replace(r.Step.ID, "a_", "b_", 1), "b"
		r.Figures = &results.Figures{Asked: 8, Completed: 8, DurationS: 1, OutputThroughput: new(v)}
		s.Result = &r
		run.Steps = append(run.Steps, s)
	}
	for _, s := range run.Steps {
		s.Result.Cost = &results.Cost{
			Price:            results.Price{Currency: "USD"},
			PerMillionOutput: new(1000 / *s.Result.Figures.OutputThroughput),
		}
	}
	return run
}

// bestRows are the first cells of the rows with a best cell.
func bestRows(c table.Table) []string {
	var names []string
	for _, r := range c.Rows {
		if slices.ContainsFunc(r.Cells, func(e table.Cell) bool { return e.Best }) {
			names = append(names, r.Cells[0].Text)
		}
	}
	return names
}

func TestNullTestIsNeverBest(t *testing.T) {
	const legend = "a+again: the baseline again, as a null test; never ranked"
	run := againRun()
	tables := map[string]table.Table{
		"variants": grid.LayOutRun(run), "costs": grid.CompareCosts(run),
		"a study": studies.ConcurrencyParts(run)[0].Table,
	}
	for name, c := range tables {
		if got := bestRows(c); !slices.Equal(got, []string{"b"}) {
			t.Errorf("best in the table of %s: %q, want b alone", name, got)
		}
		if name != "costs" && !slices.Contains(c.Legend, legend) {
			t.Errorf("the legend of the table of %s is %q", name, c.Legend)
		}
	}
	for _, row := range NewDocument(run).Figures.Rows {
		if best := slices.ContainsFunc(row.Cells,
			func(c table.Cell) bool { return c.Best }); best != (row.Cells[0].Text == "b") {
			t.Errorf("row %s of the page's table: best %t", row.Cells[0].Text, best)
		}
	}
	// Of two arms alike there is no best.
	if got := bestRows(grid.LayOutRun(nullRun([]float64{100, 101}, []float64{300, 301}))); got != nil {
		t.Errorf("best of one configuration: %q", got)
	}
}

// The limit of a null test's arm is shown beside the others, but wins nothing.
func TestNullTestOfSearch(t *testing.T) {
	run := searchRun(205, 1, 4, 16, 64, 32, 23, 19, 21, 20, 20, 21)
	run.Manifest.Variants, run.Manifest.NullTest = []string{"b", "a"}, "a"
	if s := searchStanding(run); len(s.Lines) != 0 || s.Decided || len(s.Table.Rows) == 0 {
		t.Errorf("standing %q, told %t, %d rows", s.Lines, s.Decided, len(s.Table.Rows))
	}
}

func TestSearchTable(t *testing.T) {
	run := searchRun(205, 1, 4, 16, 64, 32, 23, 19, 21, 20, 20, 21)
	tab := func(form table.Format) string {
		return string(print(t, func(out *bytes.Buffer) error {
			return Tables(out, run, []string{"search"}, form, table.Options{Width: 300})
		}))
	}
	for form, want := range map[table.Format]string{
		table.ForTerminal: "a, repeat 1: 11 steps",
		table.ForMarkdown: "## Search",
	} {
		if got := tab(form); !strings.Contains(got, want) ||
			!strings.Contains(got, "The highest max-concurrency from 1 to 64") {
			t.Errorf("%s: the table lacks %q:\n%s", form, want, got)
		}
	}
	run.Manifest.Tables = []string{"search"} // in every report of a search as it is
	if parts := scenarioParts(run); parts != nil {
		t.Errorf("the search would be drawn twice: %q", parts[0].Title)
	}
}

func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		n           int
		thing, want string
	}{
		{0, "step", "0 steps"},
		{1, "step", "1 step"},
		{2, "step", "2 steps"},
		{1, "server start", "1 server start"},
		{3, "server start", "3 server starts"},
		{1, "search", "1 search"},
		{2, "search", "2 searches"},
	} {
		if got := text.Count(tt.n, tt.thing); got != tt.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", tt.n, tt.thing, got, tt.want)
		}
	}
}
