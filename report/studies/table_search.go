package studies

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// SearchUnit is that of a search's loads.
func SearchUnit(policy *results.SearchPolicy) string {
	if policy.Metric == results.SearchConcurrency {
		return "requests in flight"
	}
	return "req/s"
}

// ConditionText is a condition in words: "p99_ttft_ms <= 200".
func ConditionText(c results.Condition) string {
	return fmt.Sprintf("%s %s %s", text.Clean(c.Figure), text.Clean(c.Op), strconv.FormatFloat(c.Value, 'g', -1, 64))
}

func targetsText(all []results.Condition) string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = ConditionText(c)
	}
	return strings.Join(texts, ", ")
}

// SearchParts are what a search found, and its evidence: none where the run has
// no search.
func SearchParts(run *results.Run) []table.Piece {
	policy := run.Manifest.Search
	searches := search.Of(run)
	if len(searches) == 0 {
		return nil
	}

	parts := []table.Piece{{
		Title: "Search",
		Intro: []string{
			fmt.Sprintf("The highest %s from %g to %g %s at which %s.", policy.Metric, policy.From, policy.To,
				SearchUnit(policy), targetsText(policy.Targets)),
			fmt.Sprintf("Each repeat is a search of its own. It ends when the lowest load that missed the targets is "+
				"no more than %.4g %% above the highest that met them; "+
				"a load that came out near a target was measured again.", 100*policy.Tolerance),
		},
		Table: LimitTable(run, searches),
		Notes: limitNotes(run, searches),
	}}

	for _, s := range searches {
		parts = append(parts, evidencePart(policy, s))
	}

	return parts
}

// LimitTable has a row a variant: its limits over the repeats, beside those of
// the baseline.
func LimitTable(run *results.Run, searches []search.Run) table.Table {
	unit := SearchUnit(run.Manifest.Search)
	c := table.Table{Columns: []table.Column{
		table.Words("variant"),
		table.Numbers("met", unit),
		table.Numbers("missed", unit),
		table.Numbers("n", "searches"),
		table.Numbers("change", ""),
		table.Numbers("interval", "95 %"),
		{Head: "verdict", Unit: "against " + text.Clean(versus.BaselineOf(run)), Text: true},
	}}

	diffs := versus.LimitDifferences(run, searches)
	for _, variant := range versus.VariantsOf(run) {
		met, missed, ended, all := search.LimitsOf(searches, variant)
		if all == 0 {
			continue
		}
		count := strconv.Itoa(ended)
		if ended < all {
			count = fmt.Sprintf("%d of %d", ended, all)
		}
		change, interval, verdict := table.Missing, table.Missing, "baseline"
		if variant != versus.BaselineOf(run) {
			verdict = table.Missing
			if d, ok := diffs[variant]; ok {
				change, interval = versus.ChangeText(d.Delta), versus.IntervalText(d)
				_, verdict = versus.LimitVerdict(run, searches, variant, d)
			}
		}
		row := table.Row{}
		for _, text := range []string{
			text.Clean(variant), SpreadText(met), SpreadText(missed), count, change, interval,
			verdict,
		} {
			row.Cells = append(row.Cells, table.Cell{Text: text})
		}
		c.Rows = append(c.Rows, row)
	}

	return c
}

// SpreadText is a mean with its deviation, where there is one.
func SpreadText(values []float64) string {
	s := compare.Sample{Values: values}.Summarize(intervalConfidence)
	switch {
	case s.Mean == nil:
		return table.Missing
	case s.SD == nil:
		return strconv.FormatFloat(values[0], 'g', -1, 64)
	}
	digits := table.DigitsOf(*s.Mean)
	return table.Number(s.Mean, digits) + " ± " + table.Number(s.SD, digits)
}

const intervalConfidence = 0.95

// limitNotes say in a sentence each what the searches found that have no number,
// and what in them does not fit.
func limitNotes(run *results.Run, searches []search.Run) []string {
	var notes []string
	for _, s := range searches {
		if !s.End.Within {
			notes = append(notes, fmt.Sprintf("%s, repeat %d: %s", text.Clean(s.Variant), s.Repeat,
				EndText(run.Manifest.Search, s)))
		}
		for _, doubt := range s.End.Doubts {
			notes = append(notes, fmt.Sprintf("%s, repeat %d: %s", text.Clean(s.Variant), s.Repeat, doubt))
		}
		if served := s.Backlog(); served != nil {
			notes = append(notes, fmt.Sprintf("%s, repeat %d: at %s req/s the targets were met, but the server "+
				"answered only %s req/s while requests came: its queue grew; a longer duration may find a lower limit",
				text.Clean(s.Variant), s.Repeat, search.LoadText(*s.End.Met), figureText(served)))
		}
	}

	if slices.ContainsFunc(searches, func(s search.Run) bool {
		return slices.ContainsFunc(s.Probes, func(p search.Probe) bool { return p.Suspect })
	}) {
		notes = append(notes, "suspect steps were used")
	}

	return notes
}

// EndText is what a search came to.
func EndText(policy *results.SearchPolicy, s search.Run) string {
	unit := SearchUnit(policy)
	switch {
	case len(s.Steps) == 0:
		return "nothing was measured"
	case s.End.Within:
		return fmt.Sprintf("highest %s that met the targets: %s %s; %s missed them", policy.Metric,
			search.LoadText(*s.End.Met), unit, search.LoadText(*s.End.Missed))
	case s.End.Met == nil && s.End.Done:
		why := text.Clean(s.End.Why)
		if class := missedClass(s.Probes[len(s.Probes)-1]); class != "" {
			why += " (" + class + ")"
		}
		return fmt.Sprintf("not within %g to %g: %s", policy.From, policy.To, why)
	case s.End.Missed == nil && s.End.Done:
		return fmt.Sprintf("not within %g to %g: %s", policy.From, policy.To, text.Clean(s.End.Why))
	}

	outcome := "no limit found"
	if s.End.Met != nil && s.End.Missed != nil {
		outcome += fmt.Sprintf(": %s %s met the targets, %s missed them", search.LoadText(*s.End.Met), unit,
			search.LoadText(*s.End.Missed))
	}

	if !s.End.Done {
		return outcome + "; the run ended before the search did"
	}

	return outcome + "; " + text.Clean(s.End.Why)
}

// evidencePart has a row for each step of a search.
func evidencePart(policy *results.SearchPolicy, s search.Run) table.Piece {
	c := table.Table{
		Keys:    []int{0, 1},
		Columns: []table.Column{table.Numbers("load", SearchUnit(policy)), table.Numbers("n", "requests")},
	}
	for _, t := range policy.Targets {
		c.Columns = append(c.Columns,
			table.Numbers(text.Clean(t.Figure), fmt.Sprintf("%s %g", text.Clean(t.Op), t.Value)))
	}

	c.Columns = append(c.Columns, table.Words("targets"), table.Words("why this load"))
	for i, p := range s.Probes {
		row := table.NewRow(search.LoadText(p.Load), requestsOf(s.Steps[i]))
		for _, v := range p.Values {
			row.Cells = append(row.Cells, table.Cell{Text: figureText(v)})
		}
		row.Cells = append(row.Cells, table.Cell{Text: outcomeText(p)}, table.Cell{Text: text.Clean(s.Whys[i])})
		c.Rows = append(c.Rows, row)
	}

	return table.Piece{
		Title: fmt.Sprintf("%s, repeat %d: %s", text.Clean(s.Variant), s.Repeat, text.Count(len(s.Steps), "step")),
		Below: true, Table: c,
		Notes: []string{EndText(policy, s)},
	}
}

func requestsOf(r *results.Result) string {
	if r.Figures == nil {
		return table.Missing
	}
	return fmt.Sprintf("%d/%d", r.Figures.Completed, r.Figures.Asked)
}

func figureText(v *float64) string {
	const digits = 4
	if v == nil {
		return table.Missing
	}
	if math.Abs(*v) >= 1000 {
		return strconv.FormatFloat(*v, 'f', 0, 64)
	}
	return strconv.FormatFloat(*v, 'g', digits, 64)
}

// missedClass is the class of the failure by which a step missed, or says nothing; the
// report has its words elsewhere. "": the figures decided.
func missedClass(p search.Probe) string {
	class, _, failed := strings.Cut(p.Why, ": ")
	if !failed && p.Outcome != search.ProbeUnknown {
		return ""
	}
	return text.Clean(class)
}

func outcomeText(p search.Probe) string {
	outcome := string(p.Outcome)
	if class := missedClass(p); class != "" {
		outcome += ": " + class
	}
	if p.Suspect {
		outcome += ", suspect"
	}
	return outcome
}
