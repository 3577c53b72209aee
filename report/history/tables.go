package history

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/history"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/table"
)

// Formats are the forms that Write knows.
var Formats = []string{"table", "markdown", "csv", "html"}

// Write prints the changes of all series, and then each series, in one of Formats.
// The options are those of a table.
func Write(w io.Writer, all []history.Series, rule compare.Rule, format string, opts table.Options) error {
	switch format {
	case "markdown":
		return table.Print(w, pieces(all, rule), table.ForMarkdown, table.Options{})
	case "csv":
		return export.HistoryCSV(w, all)
	case "html":
		return writePage(w, all, rule)
	}
	return table.Print(w, pieces(all, rule), table.ForTerminal, opts)
}

func pieces(all []history.Series, rule compare.Rule) []table.Piece {
	head := table.Piece{Title: "History", Intro: headline(all)}
	head.Notes = []string{ruleText(rule)}
	parts := []table.Piece{head}
	for i := range all {
		parts = append(parts, seriesPiece(&all[i]))
	}
	return parts
}

// headline are the changes of all series, one per line, or that there are none.
func headline(all []history.Series) []string {
	var lines []string
	for i := range all {
		for _, b := range all[i].Breaks {
			if b.Changed() {
				lines = append(lines, all[i].Entries[b.At].Run+": "+title(&all[i])+" "+breakText(&b))
			}
		}
	}
	if lines == nil {
		return []string{fmt.Sprintf("No change was found in %d series.", len(all))}
	}
	return lines
}

func ruleText(rule compare.Rule) string {
	return fmt.Sprintf("Where recorded settings change, the runs before and after are compared: by the means of runs "+
		"with three on each side, else by the server starts of the two runs beside the change. Among eight runs or "+
		"more with the same settings a change of level is looked for, and allowed for the search by shuffles. "+
		"Intervals: %s %%. Verdicts use Holm's correction over all changes shown; \"no difference\": the interval "+
		"lies within ±%s %%.",
		table.Percent(rule.Confidence), table.Percent(rule.Margin))
}

// title names a series: "tp8, c16: output tok/s".
func title(s *history.Series) string {
	name := text.Clean(s.Scenario) + ", " + text.Clean(s.Variant) + ", " + text.Clean(s.Point) + ": " + s.Figure.Title
	if s.Simulated {
		name += " (simulated)"
	}
	return name
}

// breakText says what happened at a break, and what is recorded to differ there.
func breakText(b *history.Break) string {
	if b.NotCompared != "" {
		return "not comparable: " + b.NotCompared
	}
	of := "server starts"
	if b.OfRuns {
		of = "runs"
	}
	line := fmt.Sprintf("%s, %s, %s, n %d and %d %s: ", versus.ChangeText(b.Delta), versus.IntervalText(b.Difference),
		string(b.Verdict), b.Baseline.N, b.Candidate.N, of)
	if b.Searched {
		return line + "nothing recorded differs there"
	}
	return line + versus.ChangesText(b.Recorded)
}

func seriesPiece(s *history.Series) table.Piece {
	p := table.Piece{Title: title(s), Below: true}
	p.Table = table.Table{Keys: []int{0}, Columns: []table.Column{
		table.Words("run"), table.Words("started"), table.Words("engine"), table.Numbers("n", "starts"),
		table.Numbers("mean", s.Figure.Unit), table.Numbers("±", "95 %"), table.Words("change"),
	}}
	for i, e := range s.Entries {
		name := text.Clean(e.Run)
		if e.Suspect {
			name = versus.SuspectMark + name
			p.Table.Legend = []string{strings.TrimSpace(versus.SuspectMark) + " suspect"}
		}
		p.Table.Rows = append(p.Table.Rows, table.NewRow(name, started(e), table.OrMissing(text.Clean(e.Version)),
			strconv.Itoa(len(e.Values)), scaled(e.Summary.Mean, s), halfWidth(e.Summary, s), changeAt(s, i)))
	}
	for _, b := range s.Breaks {
		p.Notes = append(p.Notes, text.Clean(s.Entries[b.At].Run)+": "+breakText(&b))
	}
	return p
}

func started(e history.Entry) string {
	if e.Began.IsZero() {
		return table.Missing
	}
	return e.Began.Format("2006-01-02 15:04")
}

// scaled is a value in the unit that is shown.
func scaled(v *float64, s *history.Series) string {
	if v == nil {
		return table.Missing
	}
	shown := *v * s.Figure.Scale
	return table.Number(&shown, table.DigitsOf(*s.Entries[0].Summary.Mean*s.Figure.Scale))
}

func halfWidth(m compare.Summary, s *history.Series) string {
	if m.High == nil {
		return table.Missing
	}
	return scaled(new(*m.High-*m.Mean), s)
}

// changeAt is the change at an entry in a few words; "" where nothing changed.
func changeAt(s *history.Series, at int) string {
	b, ok := s.BreakAt(at)
	switch {
	case !ok:
		return ""
	case b.NotCompared != "":
		return "not comparable"
	case b.Changed():
		return versus.ChangeText(b.Delta) + " " + string(b.Verdict)
	default:
		return string(b.Verdict)
	}
}
