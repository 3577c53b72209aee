package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/markup"
	"github.com/benchrig/bench/report/table"
)

// stepTable is the table of all steps, which the page's script narrows.
func (v *view) stepTable() g.Node {
	if len(v.Rows) == 0 {
		return nil
	}

	head := h.THead(h.Tr(g.Map(v.Columns, func(c table.Column) g.Node {
		return markup.ColumnHead(markup.NumberClass(c), c.Head, c.Unit)
	})))
	body := h.TBody(markup.Lines(g.Map(v.Rows, stepRowOf)...), g.Raw("\n"))
	caption := h.Caption(h.ID("steps-c"), g.Text("One row per step; a step's name links to its details."))

	return markup.Section("steps", "All steps",
		v.filter(),
		h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("labelledby", "steps-c"),
			markup.Lines(h.Table(h.Class("sortable"), h.ID("steps-table"),
				markup.Lines(caption, head, body)))),
		markup.List("legend", v.Steps.Legend))
}

func (v *view) filter() g.Node {
	return h.Form(h.Class("filter needs-script"), hidden, markup.Lines(
		h.Label(g.Text("Find "), h.Input(h.Type("search"), h.ID("find"), h.Placeholder("step, variant, verdict"),
			h.AutoComplete("off"))),
		markup.Choice("Variant", "variant", v.Choices.Variants),
		markup.Choice("Verdict", "verdict-is", v.Choices.Verdicts),
		h.Button(h.Type("reset"), g.Text("Show all")),
		g.El("output", h.ID("shown"), h.For("find variant verdict-is"), g.Text(steps(len(v.Rows))))), g.Raw("\n"))
}

func stepRowOf(r stepRow) g.Node {
	var cells g.Group
	for i, c := range r.Cells {
		content := g.Text(c.Text)
		if i == r.verdictAt() {
			content = markup.Badge(r.class(), c.Text)
		}
		cells = append(cells, h.Td(g.If(i == 0 && markup.Long(c.Text), h.Class("long")), content))
	}

	return h.Tr(h.Data("variant", r.Variant), h.Data("verdict", r.Verdict),
		markup.RowHead(markup.Long(r.Name), h.A(h.Href("#"+r.Link), g.Text(r.Name))), cells)
}

// stepLinks names steps, the first four with links to their details.
func (v *view) stepLinks(ids []string) g.Node {
	const shown = 4
	var all g.Group
	for i, id := range ids[:min(len(ids), shown)] {
		if i > 0 {
			all = append(all, g.Text(", "))
		}
		name := g.Text(text.Clean(id))
		if link := v.Links[id]; link != "" {
			name = h.A(h.Href("#"+link), name)
		}
		all = append(all, name)
	}
	if len(ids) > shown {
		all = append(all, g.Textf(" and %d more", len(ids)-shown))
	}
	return all
}

// latencyTable is the table of a step's latencies; nil without any.
func (d *stepDetail) latencyTable() g.Node {
	if len(d.Latencies) == 0 {
		return nil
	}

	caption := "Latencies in ms" + markup.If(d.Failure != "", ", of a step that did not succeed")
	rows := g.Map(d.Latencies, func(l latency) g.Node {
		return h.Tr(markup.RowHead(false, g.Text(l.Name)), h.Td(g.Textf("%d", l.N)),
			markup.Texts([]string{l.Mean, l.Median, markup.If(l.Thin, "~") + l.High, l.Max}, h.Td))
	})

	heads := []string{"n", "mean", "median", d.Latencies[0].Tail, "max"}
	return markup.PlainTable(caption, []string{"quantity"}, heads, rows)
}
