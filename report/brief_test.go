package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// pixels estimates how wide a Markdown table is on a page that sets 14 px text:
// the widest text of each column, and the padding beside it.
func pixels(rows []string) float64 {
	const letter, padding = 7.3, 27.0
	widest := map[int]int{}
	for _, row := range rows {
		for i, cell := range strings.Split(strings.Trim(row, "|"), " | ") {
			cell = strings.NewReplacer("**", "", `\`, "").Replace(strings.TrimSpace(cell))
			widest[i] = max(widest[i], len([]rune(cell)))
		}
	}

	width := 0.0
	for _, n := range widest {
		width += letter*float64(n) + padding
	}

	return width
}

// unfoldedTables are the tables of a Markdown report that a reader sees without
// a click, as their lines.
func unfoldedTables(markdown string) [][]string {
	markdown, _, _ = strings.Cut(markdown, "<details>")
	var tables [][]string
	inside := false
	for line := range strings.Lines(markdown) {
		row := strings.HasPrefix(line, "|")
		if row && !inside {
			tables = append(tables, nil)
		}
		if inside = row; row && !strings.Contains(line, "---") {
			tables[len(tables)-1] = append(tables[len(tables)-1], strings.TrimSpace(line))
		}
	}

	return tables
}

func TestMarkdownFitsAPullRequest(t *testing.T) {
	const most = 860 // pixels of a comment
	for name, run := range map[string]*results.Run{
		"suspect": ledRun(), "repeats": repeatsRun(), "gpus": gpuRun(),
		"priced": pricedRun("USD", 2),
	} {
		var out bytes.Buffer
		if err := Markdown(&out, run); err != nil {
			t.Fatal(err)
		}
		tables := unfoldedTables(out.String())
		if len(tables) != 1 {
			t.Errorf("%s: %d tables are not folded away, want 1", name, len(tables))
		}
		for _, rows := range tables {
			if width := pixels(rows); width > most {
				t.Errorf("%s: the table is about %.0f px wide, want at most %d:\n%s", name, width, most, rows[0])
			}
		}
		if strings.Count(out.String(), "<details>") != strings.Count(out.String(), "</details>") {
			t.Errorf("%s: folded parts are not closed", name)
		}
	}
}

func TestBriefReport(t *testing.T) {
	run := ledRun()
	run.Steps = append(run.Steps, fail(step("tp2", 1, 1, 1), results.Failed,
		&results.Failure{Class: results.FailureClass("out-of-memory"), Message: "no memory is left"}))
	golden(t, "brief.txt", print(t, func(out *bytes.Buffer) error {
		return Brief(out, run, table.ForTerminal, table.Options{Width: 80})
	}))
	golden(t, "brief.md", print(t, func(out *bytes.Buffer) error {
		return Brief(out, run, table.ForMarkdown, table.Options{})
	}))
}

// Failures that differ in their durations only are one group.
func TestFailuresAreGroupedButForTimes(t *testing.T) {
	run := runOf(
		fail(step("a", 1, 1, 1), results.Failed, &results.Failure{
			Class:   results.FailStall,
			Message: "gave up after 12.3 s",
		}),
		fail(step("a", 1, 2, 1), results.Failed, &results.Failure{
			Class:   results.FailStall,
			Message: "gave up after 13 s",
		}),
		fail(step("a", 1, 3, 1), results.Failed, &results.Failure{
			Class:   results.FailStall,
			Message: "gave up after 3 tries",
		}),
	)
	groups := collectFailures(run)
	if len(groups) != 2 || len(groups[0].steps) != 2 {
		t.Errorf("%d groups: %+v, want two steps together and one alone", len(groups), groups)
	}
}

// The log of a step's server lies in the folder of its server start.
func TestFailuresNameTheLogOfTheirServer(t *testing.T) {
	run := runOf(fail(step("tp8", 1, 1, 1), results.Failed, &results.Failure{
		Class:   results.FailStall,
		Message: "stalled",
	}))
	if got, want := collectFailures(run)[0].log, "lives/tp8-1/server-0.log"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

// Messages that differ in what was measured only are said once, with the range.
func TestWarningsAreSaidOnce(t *testing.T) {
	var steps []results.Step
	for repeat := 1; repeat <= 5; repeat++ {
		steps = append(steps, doubt(step("a", 1, repeat, 1), results.WarnClientLimit,
			"read bytes %d.1 ms late", repeat))
	}
	groups := collectWarnings(runOf(steps...))
	if len(groups) != 1 || len(groups[0].messages) != 1 || len(groups[0].messages[0].steps) != 5 {
		t.Fatalf("groups %+v, want one message of five steps", groups)
	}
	if got, want := groups[0].messages[0].words(),
		"read bytes 1.1 to 5.1 ms late"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// No line is wider than the terminal.
func TestReportFitsTheTerminal(t *testing.T) {
	for name, run := range runs() {
		for _, width := range []int{60, 80, 120} {
			var out bytes.Buffer
			if err := Write(&out, run, table.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width &&
					strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at width %d: %d columns: %q", name, width, n, line)
				}
			}
		}
	}
}

// In the morning: how to continue is the last line.
func TestBriefSaysHowToContinue(t *testing.T) {
	run := killedRun()
	run.Dir = "results/quickstart/r1"
	var out bytes.Buffer
	if err := Brief(&out, run, table.ForTerminal, table.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "left; to continue: bench resume results/quickstart/r1\n") {
		t.Errorf("the end of the brief report does not say how to continue:\n%s", out.String())
	}
}
