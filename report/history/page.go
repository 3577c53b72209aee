package history

import (
	"fmt"
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/history"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/report/markup"
	"github.com/benchrig/bench/report/table"
)

// ownStyle comes after the style that simple pages share.
const ownStyle = "body { max-width: 1000px; } .dim { font-size: .88rem; }\n"

type pageSeries struct {
	Title        string
	Wide, Narrow chart.SVG
	Columns      []string
	Rows         [][]string
	Notes        []string
}

// Widths of charts, in pixels.
const (
	wideChart  = 900
	phoneChart = 330
)

// writePage writes a page with a chart and a table for each series. It needs no
// other file.
func writePage(w io.Writer, all []history.Series, rule compare.Rule) error {
	content := g.Group{
		h.H1(g.Text("History")),
		h.Div(h.Class("verdict"), markup.Texts(headline(all), h.P)),
		markup.Paragraph("dim", ruleText(rule)),
	}
	for i := range all {
		p, err := pageSeriesOf(&all[i], i)
		if err != nil {
			return err
		}
		content = append(content, g.Raw("\n"), p.html())
	}

	return markup.Document("History", []g.Node{
		markup.Meta("color-scheme", "light dark"),
		h.StyleEl(g.Raw(chart.PageStyle + ownStyle)),
	}, content).Render(w)
}

func (p *pageSeries) html() g.Node {
	head := g.Map(p.Columns, func(name string) g.Node { return markup.ColumnHead("", name, "") })
	rows := g.Map(p.Rows, func(cells []string) g.Node { return h.Tr(markup.Texts(cells, h.Td)) })

	return g.Group{
		h.H2(g.Text(p.Title)),
		h.Div(h.Class("plot"), h.Div(h.Class("broad"), g.Raw(string(p.Wide))),
			h.Div(h.Class("narrow"), g.Raw(string(p.Narrow)))),
		h.Div(h.Class("wide"), h.Table(h.THead(h.Tr(head)), h.TBody(markup.Lines(rows...)))),
		g.Map(p.Notes, func(s string) g.Node { return markup.Paragraph("dim", s) }),
	}
}

func pageSeriesOf(s *history.Series, number int) (pageSeries, error) {
	piece := seriesPiece(s)
	p := pageSeries{Title: piece.Title, Notes: append(piece.Notes, piece.Table.Legend...)}
	for _, c := range piece.Table.Columns {
		p.Columns = append(p.Columns, c.Head+unitOf(c))
	}
	for _, r := range piece.Table.Rows {
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, c.Text)
		}
		p.Rows = append(p.Rows, cells)
	}

	var err error
	if p.Wide, err = draw(s, fmt.Sprintf("series-%d", number), wideChart); err != nil {
		return p, err
	}
	p.Narrow, err = draw(s, fmt.Sprintf("series-%d-narrow", number), phoneChart)
	return p, err
}

func unitOf(c table.Column) string {
	if c.Unit == "" {
		return ""
	}
	return " " + c.Unit
}

// draw draws a series over the numbers of its runs: times between runs say
// nothing. A line ends where what follows is not comparable.
func draw(s *history.Series, id string, width float64) (chart.SVG, error) {
	spec := chart.LinesSpec{
		Head: chart.Head{ID: id, Title: title(s), Width: width, Bare: true},
		X:    chart.Axis{Label: "run, in order of time"},
		Y:    chart.Axis{Label: s.Figure.Title, Zero: true},
	}
	for i := range s.Entries {
		spec.X.Ticks = append(spec.X.Ticks, float64(i+1))
	}
	if most := int(width / 40); len(spec.X.Ticks) > most {
		spec.X.Ticks = nil
	}

	for i, e := range s.Entries {
		if i == 0 || isBorder(s, i) {
			spec.Series = append(spec.Series, chart.LineSeries{Name: "runs", Slot: 1})
		}
		line := &spec.Series[len(spec.Series)-1]
		point := chart.LinePoint{X: float64(i + 1), Y: *e.Summary.Mean * s.Figure.Scale, Hollow: e.Suspect}
		point.Title = fmt.Sprintf("%s, %s: %s %s %s", text.Clean(e.Run), table.OrMissing(text.Clean(e.Version)),
			scaled(e.Summary.Mean, s), s.Figure.Unit, changeAt(s, i))
		if e.Summary.Low != nil {
			point.Low, point.High = new(max(*e.Summary.Low, 0)*s.Figure.Scale), new(*e.Summary.High*s.Figure.Scale)
		}
		line.Points = append(line.Points, point)
	}
	return chart.Lines(spec)
}

// isBorder reports whether the figure has another level, or another meaning, from
// an entry on.
func isBorder(s *history.Series, at int) bool {
	b, ok := s.BreakAt(at)
	return ok && (b.NotCompared != "" || b.Changed())
}
