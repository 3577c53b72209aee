package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Write prints the reproduction for a terminal or as Markdown.
func (r *Reproduction) Write(w io.Writer, form table.Format, opts table.Options) error {
	return table.Print(w, r.parts(), form, opts)
}

func (r *Reproduction) parts() []table.Piece {
	head := table.Piece{Title: "Reproduction of " + text.Clean(r.Origin.Manifest.Scenario) + " " + text.Clean(r.Origin.Manifest.Run), Intro: []string{r.Headline()}, Notes: r.notes}
	if anySimulated(r.Origin) || anySimulated(r.Here) {
		head.Intro = append(head.Intro, simulatedLine+" (of the rows marked"+simulated+")")
	}
	parts := []table.Piece{head, r.versus.deltaPart("origin", "here"), {Title: "Figures", Intro: []string{r.ruleText()}}}
	for i := range r.cells {
		parts = append(parts, r.cells[i].part(r.figures))
	}
	return parts
}

func (r *Reproduction) ruleText() string {
	text := fmt.Sprintf("n counts server lives of the origin and here. Intervals of the change: %s %%. Agrees: the interval lies within ±%s %%. Differs: it lies outside, after Holm's correction over all figures.",
		table.Percent(r.Rule.Confidence), table.Percent(r.Rule.Margin))
	if r.Rule.Spread > 0 {
		text += fmt.Sprintf(" Where neither side has repeats, lives are taken to deviate by %s %%, as stated.", table.Percent(r.Rule.Spread))
	}
	return text
}

func (c *repetition) part(figures []catalog.Figure) table.Piece {
	p := table.Piece{Title: text.Clean(c.here.Variant) + ", " + pointName(matched{c.origin, c.here}), Below: true, Notes: c.notes}
	if c.never != "" {
		p.Intro = []string{"not comparable: " + c.never}
		if c.failed {
			p.Intro = []string{"FAILED: " + c.never}
		}
		return p
	}
	p.Table = table.Table{Keys: []int{0, 6}, Columns: []table.Column{
		table.Words("figure"),
		table.Numbers(sideName(c.origin, "origin"), "mean ± sd"),
		table.Numbers(sideName(c.here, "here"), "mean ± sd"),
		table.Numbers("n", "lives"),
		table.Numbers("change", ""),
		table.Numbers("interval", ""),
		table.Words("verdict"),
	}}
	var marks strings.Builder
	for i, a := range c.figures {
		f := figureNamed(figures, a.Figure)
		origin, here := marksOf(f, c.origin), marksOf(f, c.here)
		marks.WriteString(origin + here)
		interval := table.Missing
		if a.Low != nil {
			interval = fmt.Sprintf("%+.2f to %+.2f %%", 100**a.Low, 100**a.High)
		}
		p.Table.Rows = append(p.Table.Rows, table.Row{Cells: []table.Cell{
			{Text: f.Title},
			{Text: meanText(a.Origin, f, origin)},
			{Text: meanText(a.Here, f, here)},
			{Text: fmt.Sprintf("%d/%d", a.Origin.N, a.Here.N)},
			{Text: changeText(a.Delta)},
			{Text: interval},
			{Text: closenessText(a, c.reasons[i]), Short: string(a.Verdict)},
		}})
	}
	p.Table.Legend = append(markLegend(marks.String()), c.bases()...)
	return p
}

// bases says where intervals come from that no side's own lives give.
func (c *repetition) bases() []string {
	texts := map[compare.Basis]string{
		compare.OnPooled:  "a side has two lives: the spread is that of both sides together, taken to be alike",
		compare.OnOneSide: "one side has one life: it is taken to spread as the other does",
		compare.OnBound:   "one life each: intervals assume that lives deviate by 10 %, percentiles from p90 on by 30 %, which can tell a difference and never an agreement",
	}
	var lines []string
	for _, a := range c.figures {
		if txt := texts[a.Basis]; txt != "" {
			lines = text.AppendNew(lines, txt)
		}
	}
	return lines
}

// closenessText is a verdict with its reason.
func closenessText(a *compare.Agreement, reason string) string {
	txt := string(a.Verdict)
	switch {
	case reason != "":
		return txt + ": " + reason
	case a.Verdict != compare.Undecided:
		return txt
	case a.Low == nil:
		return txt + ": it is 0 on both sides"
	case a.Basis == compare.OnBound:
		return txt + fmt.Sprintf(": %s here would show how lives spread", text.Count(a.MoreHere, "more repeat"))
	case a.MoreOrigin > 0:
		return txt + fmt.Sprintf(": %s would, on both sides", text.Count(a.MoreHere, "more repeat"))
	case a.MoreHere > 0:
		return txt + fmt.Sprintf(": %s here would", text.Count(a.MoreHere, "more repeat"))
	}
	return txt + ": too near the margin for any number of repeats"
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
	Delta      []delta           `json:"config_delta"`
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
	Variant string             `json:"variant"`
	Point   string             `json:"point"`
	Never   string             `json:"not_comparable"`
	Failed  bool               `json:"failed"`
	Notes   []string           `json:"notes"`
	Figures []reproducedFigure `json:"figures"`
}

type reproducedFigure struct {
	*compare.Agreement
	Reason string `json:"reason"`
}

// JSON prints the reproduction for programs.
func (r *Reproduction) JSON(w io.Writer) error {
	const format = 1
	of := func(run *results.Run) runJSON {
		m := run.Manifest
		return runJSON{m.Scenario, m.Run, m.Bench, m.Simulated || anySimulated(run)}
	}
	t := r.Tally()
	out := reproductionJSON{
		Format: format, Headline: r.Headline(), Origin: of(r.Origin), Here: of(r.Here), Confidence: r.Rule.Confidence, Margin: r.Rule.Margin, Spread: r.Rule.Spread,
		Agree: t.Agree, Differ: t.Differ, CannotTell: t.CannotTell, NotCompare: t.NotComparable, Failed: t.Failed,
		Delta: notNil(r.versus.Delta), Notes: notNil(r.notes), Points: []reproducedPoint{},
	}
	for _, c := range r.cells {
		point := reproducedPoint{Variant: c.here.Variant, Point: c.here.Point, Never: c.never, Failed: c.failed, Notes: notNil(c.notes), Figures: []reproducedFigure{}}
		for i, a := range c.figures {
			point.Figures = append(point.Figures, reproducedFigure{a, closenessText(a, c.reasons[i])})
		}
		out.Points = append(out.Points, point)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}
