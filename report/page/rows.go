package page

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// stepRow is a row of the table of steps.
type stepRow struct {
	Link, Name       string
	Variant, Verdict string // as the choices above the table name them
	Cells            []table.Cell
}

// The columns of the table of steps that are not simply shown.
const (
	nameColumn    = 0
	verdictColumn = 4
)

func stepRows(run *results.Run, t table.Table, links map[string]string) ([]table.Column, []stepRow) {
	rows := make([]stepRow, len(t.Rows))
	for i, r := range t.Rows {
		step := run.Steps[i]
		rows[i] = stepRow{
			Link: links[r.Step], Name: r.Cells[nameColumn].Text, Variant: text.Clean(step.Result.Step.Variant),
			Verdict: verdictClass(&step), Cells: r.Cells[nameColumn+1:],
		}
	}
	return t.Columns, rows
}

// verdictClass is one of a few words, also used as a class.
func verdictClass(s *results.Step) string {
	switch {
	case s.State == results.StepInterrupted:
		return "interrupted"
	case s.Result.Verdict == results.NotRun:
		return "not run"
	case s.Result.Verdict == results.OK || s.Result.Verdict == results.Suspect || s.Result.Verdict == results.Failed:
		return string(s.Result.Verdict)
	}
	return "unknown"
}

// class is the row's verdict as a CSS class.
func (r stepRow) class() string { return strings.ReplaceAll(r.Verdict, " ", "-") }

// verdictAt is the index in Cells of the column that wears the verdict.
func (r stepRow) verdictAt() int { return verdictColumn - 1 }

func choicesOf(rows []stepRow) choices {
	var c choices
	for _, r := range rows {
		c.Variants = text.AppendNew(c.Variants, r.Variant)
		c.Verdicts = text.AppendNew(c.Verdicts, r.Verdict)
	}
	return c
}

// linksOf gives each step a fragment that is safe in an address and unlike all
// others.
func linksOf(run *results.Run) map[string]string {
	links := make(map[string]string, len(run.Steps))
	taken := map[string]bool{}
	for _, s := range run.Steps {
		name := "step-" + strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
				return r
			}
			return '-'
		}, s.Result.Step.ID)
		unlike := name
		for n := 2; taken[unlike]; n++ {
			unlike = fmt.Sprintf("%s-%d", name, n)
		}
		taken[unlike] = true
		links[s.Result.Step.ID] = unlike
	}

	return links
}
