package page

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/report/markup"
)

// answers are the charts of the verdict, with one legend for all.
func (v *view) answers() g.Node {
	if len(v.Charts.Answers) == 0 {
		return nil
	}

	var key g.Node
	if k := v.Charts.Key; k != nil {
		key = h.Div(h.Class("key"), k.drawing(), markup.Paragraph("small", k.Caption))
	}
	return h.Section(h.ID("charts"), h.Aria("label", "Charts of the verdict"), markup.Lines(
		key,
		h.Div(h.Class("grid two"), g.Map(v.Charts.Answers, (*figure).html)),
		v.front()), g.Raw("\n"))
}

// front is the Pareto front of the trade-off, if more than one point is on it.
func (v *view) front() g.Node {
	if len(v.Charts.Front) < 2 {
		return nil
	}

	rows := g.Map(v.Charts.Front, func(r frontRow) g.Node {
		return h.Tr(markup.RowHead(false, h.A(h.Href("#"+r.Link), g.Text(r.Variant))),
			markup.Texts([]string{r.Point, r.X, r.Y}, h.Td))
	})

	return h.Details(h.Class("more"), h.Summary(g.Text("The Pareto front as a table")),
		markup.PlainTable("Pareto front, from the highest throughput to the highest speed",
			[]string{"variant", "point"}, []string{"per user tok/s", "throughput"}, rows))
}

// charts are those below the tables.
func (v *view) charts() g.Node {
	c := v.Charts
	var sweep, distributions, timeline g.Node
	if len(c.Sweep) > 0 {
		sweep = markup.Section("sweep", "More figures", v.pick(), grid(c.Sweep))
	}

	if len(c.CDFs) > 0 {
		distributions = v.distributions(len(c.Sweep) == 0)
	}

	if c.Timeline != nil {
		timeline = markup.Section("timeline", "Timeline", c.Timeline.html())
	}

	return markup.Lines(sweep, distributions, timeline)
}

// distributions are the charts of each load point; withPick adds the choice of
// variants, which is on the page once.
func (v *view) distributions(withPick bool) g.Node {
	choices := g.Map(v.Charts.CDFs, func(c cdfs) g.Node { return h.Option(g.Text(c.Point)) })
	points := g.Map(v.Charts.CDFs, func(c cdfs) g.Node {
		return h.Div(h.Class("point"), h.Data("point", c.Point), h.H3(g.Text(c.Point)), markup.Lines(grid(c.Charts)))
	})

	var pick g.Node
	if withPick {
		pick = v.pick()
	}
	return markup.Section("distributions", "Distributions",
		markup.Paragraph("small", "Share of successful requests at or below each value. Marks: median, p90, p99."),
		h.P(h.Class("needs-script"), hidden, h.Label(g.Text("Load point "), h.Select(h.ID("point"), choices))),
		pick, markup.Lines(points...))
}

func grid(figures []*figure) g.Node { return h.Div(h.Class("grid"), g.Map(figures, (*figure).html)) }

// pick chooses the variants that charts show; nil if there is one only.
func (v *view) pick() g.Node {
	if len(v.Charts.Legend) < 2 {
		return nil
	}
	return h.FieldSet(h.Class("pick needs-script"), hidden, h.Legend(g.Text("Variants shown in the charts")),
		g.Map(v.Charts.Legend, func(e legendEntry) g.Node {
			return h.Label(h.Class(fmt.Sprintf("c%d", e.Slot)),
				h.Input(h.Type("checkbox"), h.Checked(), h.Value(e.Variant)), g.Text(" "+e.Variant))
		}))
}

// html is the chart with its caption.
func (f *figure) html() g.Node {
	return h.Figure(g.If(f.Wide, h.Class("wide")), f.drawing(), g.If(f.Caption != "", h.FigCaption(g.Text(f.Caption))))
}

// drawing is the chart alone. One without a form for phones scrolls there.
func (f *figure) drawing() g.Node {
	if f.Narrow == "" {
		return h.Div(h.Class("plot "+f.widthClass()), h.TabIndex("0"), h.Role("group"), h.Aria("label", "Chart"),
			g.Raw(string(f.SVG)))
	}
	return g.Group{
		h.Div(h.Class("plot "+f.widthClass()+" broad"), g.Raw(string(f.SVG))),
		h.Div(h.Class("plot narrow"), g.Raw(string(f.Narrow))),
	}
}
