package web

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/report/markup"
)

// html is the whole page.
func (d *pageData) html() g.Node {
	nonce := g.Attr("nonce", d.Nonce)
	return markup.Document(d.Name+" "+d.RunID, []g.Node{
		markup.Meta("color-scheme", "light dark"),
		h.NoScript(h.Meta(g.Attr("http-equiv", "refresh"), h.Content("5"))),
		h.StyleEl(nonce, g.Raw(chart.PageStyle+pageCSS)),
	},
		h.P(h.ID("lost"), h.Role("status")),
		h.Main(h.ID("view"), d.body()),
		h.Script(nonce, g.Raw(pageJS)))
}

// body is what changes as the run continues.
func (d *pageData) body() g.Node {
	name := d.Name
	if d.Simulated {
		name += " (simulated)"
	}

	return g.Group{
		h.H1(g.Text(name+" "), h.Span(h.Class("dim"), g.Text(d.RunID))),
		d.standing(), chartGrid(d.Charts), d.steps(), d.now(), paragraphs("dim", d.Also...), d.sofar(), d.gpus(),
		titled(len(d.Doubts) > 0, "Failures and warnings",
			markup.List("", d.Doubts)),
		titled(d.LogOf != "", d.LogOf, markup.Verbatim(d.LogAll)),
	}
}

// standing is the state of the run and how many steps are in which.
func (d *pageData) standing() g.Node {
	counts := g.Group{g.Text(text.Count(d.Total, "step") + ": ")}
	for i, l := range d.Legend {
		if i > 0 {
			counts = append(counts, g.Text(", "))
		}
		counts = append(counts, g.Textf("%d %s %s", l.N, l.State, l.Mark))
	}
	if d.Left != "" {
		counts = append(counts, g.Text("; "), h.Strong(g.Text(d.Left)))
	}
	return h.Div(h.Class("verdict"), h.P(h.Strong(g.Text(d.StateText))), h.P(counts))
}

func chartGrid(all []drawnChart) g.Node {
	if len(all) == 0 {
		return nil
	}
	return h.Div(h.Class("grid"), g.Map(all, func(c drawnChart) g.Node {
		return h.Div(h.Class("plot"), h.Div(h.Class("broad"), g.Raw(string(c.Wide))),
			h.Div(h.Class("narrow"), g.Raw(string(c.Narrow))))
	}))
}

// steps shows a mark for each step, by variant and load.
func (d *pageData) steps() g.Node {
	mark := func(s pageStep) g.Node {
		return h.Span(h.Class("m "+s.Class), h.Title(s.Title), h.Role("img"), h.Aria("label", s.Title), g.Text(s.Mark))
	}
	rows := g.Map(d.Rows, func(r pageRow) g.Node {
		return h.Tr(h.Th(h.Scope("row"), g.Text(r.Variant)),
			g.Map(r.Cells, func(c []pageStep) g.Node { return h.Td(g.Map(c, mark)) }))
	})

	return h.Div(h.Class("wide"), h.Table(
		h.Caption(h.Class("dim"), g.Text("Steps by variant and load, a mark for each repeat")),
		heads(append([]string{"variant"}, d.Columns...)...), h.TBody(rows)))
}

// now is what is done at this moment; nil: nothing is.
func (d *pageData) now() g.Node {
	n := d.Now
	if n == nil {
		return nil
	}

	title := n.Step
	if title == "" {
		title = "Now"
	}
	if n.EndSoon {
		title += " (the run stops after it)"
	}

	var progress g.Node
	if d.Share != nil {
		progress = h.P(h.Progress(h.Max("1000"), h.Value(strconv.Itoa(*d.Share))))
	}
	tokens := n.Tokens
	if tokens != "" {
		tokens += "; " + n.Latency
	}

	return g.Group{
		h.H2(g.Text(title)), paragraphs("", n.Phase+", "+n.Time), progress,
		paragraphs("", n.Message, n.Requests, tokens, n.Server),
	}
}

// sofar are the results of the steps that have ended.
func (d *pageData) sofar() g.Node {
	rows := g.Map(d.Sofar, func(r resultRow) g.Node {
		n := r.N
		if r.Suspect {
			n += " suspect"
		}
		return h.Tr(g.If(r.Suspect, h.Class("suspect")), h.Th(h.Scope("row"), g.Text(r.Variant)), cells("", r.Point),
			cells("n", n, r.TokensPerS, r.TTFT, r.TPOT))
	})

	return titled(len(rows) > 0, "Results so far", h.Div(h.Class("wide"), h.Table(
		h.Caption(g.Text("Means over the repeats so far; the report decides what differs")),
		h.THead(h.Tr(columns("", "variant", "point"),
			columns("n", "n", "output tok/s", "median TTFT ms", "median TPOT ms"))),
		h.TBody(rows))))
}

func (d *pageData) gpus() g.Node {
	rows := g.Map(d.GPUs, func(gpu live.GPU) g.Node {
		return h.Tr(h.Th(h.Scope("row"), g.Text(gpu.Name)),
			cells("", gpu.VRAM, gpu.Power, gpu.Temp, gpu.Busy, gpu.Note))
	})
	return titled(len(rows) > 0, "GPUs", h.Div(h.Class("wide"), h.Table(
		heads("GPU", "VRAM", "power", "temperature", "busy", ""), h.TBody(rows))))
}

// titled is content under a heading, if there is any.
func titled(is bool, title string, content g.Node) g.Node {
	if !is {
		return nil
	}
	return g.Group{h.H2(g.Text(title)), content}
}

func paragraphs(class string, all ...string) g.Node {
	return g.Map(all, func(s string) g.Node { return markup.Paragraph(class, s) })
}

func heads(names ...string) g.Node { return h.THead(h.Tr(columns("", names...))) }

func columns(class string, names ...string) g.Node {
	return g.Map(names, func(s string) g.Node { return markup.ColumnHead(class, s, "") })
}

func cells(class string, texts ...string) g.Node {
	return g.Map(texts, func(s string) g.Node { return h.Td(g.If(class != "", h.Class(class)), g.Text(s)) })
}
