package differences

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// WriteReproduction prints the reproduction for a terminal or as Markdown.
func WriteReproduction(w io.Writer, r *versus.Reproduction, form table.Format, opts table.Options) error {
	if form == table.ForJSON {
		return ReproductionJSON(w, r)
	}
	return table.Print(w, reproductionParts(r), form, opts)
}

func reproductionParts(r *versus.Reproduction) []table.Piece {
	head := table.Piece{Title: "Reproduction of " + text.Clean(r.Origin.Manifest.Scenario) + " " +
		text.Clean(r.Origin.Manifest.Run), Intro: []string{r.Headline()}, Notes: r.Notes}
	if r.Origin.AnySimulated() || r.Here.AnySimulated() {
		head.Intro = append(head.Intro, grid.SimulatedLine+" (of the rows marked"+grid.Simulated+")")
	}
	parts := []table.Piece{
		head, deltaPart(&r.Configs, "origin", "here"),
		{Title: "Figures", Intro: []string{agreeRuleText(r)}},
	}
	for i := range r.Cells {
		parts = append(parts, repetitionPart(&r.Cells[i], r.Figures))
	}
	return parts
}

func agreeRuleText(r *versus.Reproduction) string {
	text := fmt.Sprintf("n: server starts of the origin and here. Intervals of the change: %s %%. Agrees: the "+
		"interval lies within ±%s %%. Differs: it lies outside, after Holm's correction over all figures.",
		table.Percent(r.Rule.Confidence), table.Percent(r.Rule.Margin))
	if r.Rule.Spread > 0 {
		text += fmt.Sprintf(" Where neither side has repeats, server starts are assumed to deviate by %s %%, as "+
			"stated.",
			table.Percent(r.Rule.Spread))
	}
	return text
}

func repetitionPart(c *versus.Reproduced, figures []catalog.Figure) table.Piece {
	p := table.Piece{
		Title: text.Clean(c.Here.Variant) + ", " + versus.PointName(c.Origin, c.Here), Below: true,
		Notes: c.Notes,
	}
	if c.NotCompared != "" {
		p.Intro = []string{"not comparable: " + c.NotCompared}
		if c.Failed {
			p.Intro = []string{"FAILED: " + c.NotCompared}
		}
		return p
	}

	p.Table = twoSides(sideName(c.Origin, "origin"), sideName(c.Here, "here"))

	var marks strings.Builder
	for i, a := range c.Figures {
		f := catalog.Among(figures, a.Figure)
		origin, here := marksOf(f, c.Origin), marksOf(f, c.Here)
		marks.WriteString(origin + here)
		interval := table.Missing
		if a.Low != nil {
			interval = versus.RangeText(*a.Low, *a.High)
		}
		p.Table.Rows = append(p.Table.Rows, table.Row{Cells: []table.Cell{
			{Text: f.Title},
			{Text: meanText(a.Origin, f, origin)},
			{Text: meanText(a.Here, f, here)},
			{Text: fmt.Sprintf("%d/%d", a.Origin.N, a.Here.N)},
			{Text: versus.ChangeText(a.Delta)},
			{Text: interval},
			{Text: closenessText(a, c.Reasons[i]), Short: string(a.Verdict)},
		}})
	}

	p.Table.Legend = append(grid.MarkLegend(marks.String()), basesOf(c)...)

	return p
}

// basesOf says where intervals come from that no side's own lives give.
func basesOf(c *versus.Reproduced) []string {
	texts := map[compare.Basis]string{
		compare.OnPooled: "a side has two server starts: both sides are assumed to have the same spread, estimated " +
			"from both together",
		compare.OnOneSide: "one side has one server start: it is assumed to spread as the other side does",
		compare.OnBound: "one server start each: intervals assume that starts deviate by 10 %, percentiles from p90 " +
			"on by 30 %; that decides nothing, as in reports: add repeats, or state the spread (--spread)",
	}
	var lines []string
	for _, a := range c.Figures {
		if wording := texts[a.Basis]; wording != "" {
			lines = text.AppendNew(lines, wording)
		}
	}
	return lines
}

// closenessText is a verdict with its reason.
func closenessText(a *compare.Agreement, reason string) string {
	wording := string(a.Verdict)
	switch {
	case reason != "":
		return wording + ": " + reason
	case a.Verdict != compare.Undecided:
		return wording
	case a.Low == nil:
		return wording + ": 0 on both sides"
	case a.Basis == compare.OnBound:
		return wording + fmt.Sprintf(": %s here would show how server starts vary",
			text.Count(a.MoreHere, "more repeat"))
	case a.MoreOrigin > 0:
		return wording + fmt.Sprintf(": %s on both sides would decide it", text.Count(a.MoreHere, "more repeat"))
	case a.MoreHere > 0:
		return wording + fmt.Sprintf(": %s here would decide it", text.Count(a.MoreHere, "more repeat"))
	}

	return wording + ": too close to the margin; more repeats would not decide it"
}

type reproductionJSON struct {
	Format     int               `json:"format_version"`
	Headline   string            `json:"headline"`
	Origin     runJSON           `json:"origin"`
	Here       runJSON           `json:"here"`
	Confidence float64           `json:"confidence"`
	Margin     float64           `json:"smallest_difference"`
	Spread     float64           `json:"stated_spread"`
	Agree      int               `json:"agree"`
	Differ     int               `json:"differ"`
	CannotTell int               `json:"cannot_tell"`
	NotCompare int               `json:"not_comparable"`
	Failed     int               `json:"failed"`
	Delta      []versus.Delta    `json:"config_delta"`
	Notes      []string          `json:"notes"`
	Points     []reproducedPoint `json:"points"`
}

type runJSON struct {
	Scenario  string `json:"scenario"`
	Run       string `json:"run_id"`
	Bench     string `json:"bench_version"`
	Simulated bool   `json:"simulated"`
}

type reproducedPoint struct {
	Variant     string             `json:"variant"`
	Point       string             `json:"point"`
	NotCompared string             `json:"not_comparable"`
	Failed      bool               `json:"failed"`
	Notes       []string           `json:"notes"`
	Figures     []reproducedFigure `json:"figures"`
}

type reproducedFigure struct {
	*compare.Agreement
	Reason string `json:"reason"`
}

// ReproductionJSON prints the reproduction for programs.
func ReproductionJSON(w io.Writer, r *versus.Reproduction) error {
	const format = 1
	of := func(run *results.Run) runJSON {
		m := run.Manifest
		return runJSON{m.Scenario, m.Run, m.Bench, m.Simulated || run.AnySimulated()}
	}

	t := r.Tally()
	out := reproductionJSON{
		Format: format, Headline: r.Headline(), Origin: of(r.Origin), Here: of(r.Here), Confidence: r.Rule.Confidence,
		Margin: r.Rule.Margin, Spread: r.Rule.Spread,
		Agree: t.Agree, Differ: t.Differ, CannotTell: t.CannotTell, NotCompare: t.NotComparable, Failed: t.Failed,
		Delta: notNil(r.Configs.Delta), Notes: notNil(r.Notes), Points: []reproducedPoint{},
	}

	for _, c := range r.Cells {
		point := reproducedPoint{
			Variant: c.Here.Variant, Point: c.Here.Point, NotCompared: c.NotCompared, Failed: c.Failed,
			Notes: notNil(c.Notes), Figures: []reproducedFigure{},
		}
		for i, a := range c.Figures {
			point.Figures = append(point.Figures, reproducedFigure{a, closenessText(a, c.Reasons[i])})
		}
		out.Points = append(out.Points, point)
	}

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")

	return encoder.Encode(out)
}
