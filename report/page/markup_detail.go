package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/markup"
)

// details are all that is known of each step, folded.
func (v *view) details() g.Node {
	if len(v.Details) == 0 {
		return nil
	}
	button := func(id, name string) g.Node { return h.Button(h.Type("button"), h.ID(id), g.Text(name)) }
	return markup.Section("details", "Details of each step",
		h.P(h.Class("needs-script"), hidden, button("open-all", "Open all"), g.Text(" "),
			button("close-all", "Close all")),
		markup.Lines(g.Map(v.Details, (*stepDetail).html)...))
}

func (d *stepDetail) html() g.Node {
	summary := h.Summary(markup.Badge(d.Class, d.Verdict), g.Text(" "), h.B(g.Text(d.Name)),
		g.If(d.Simulated, markup.Spaced("sim", "simulated")), g.Text(" "), h.Span(h.Class("small"), g.Text(d.Headline)))
	return h.Details(h.Class("step"), h.ID(d.Link), markup.Lines(summary,
		h.Div(h.Class("inside"), markup.Lines(d.outcome(), d.server(), d.asked()), g.Raw("\n"))), g.Raw("\n"))
}

// outcome is what came of the step.
func (d *stepDetail) outcome() g.Node {
	return markup.Lines(
		h.P(g.Text(d.About+" · "), h.A(h.Href("#steps"), g.Text("to the table"))),
		markup.Paragraph("loud", markup.If(d.Failure != "", "Failure: ")+d.Failure),
		markup.Titled("Earlier attempts", markup.List("", d.Earlier)),
		markup.Titled("Warnings", warningsOf(d.Warnings)),
		markup.Titled("Changed since the run began", markup.List("", d.Changes)),
		d.latencyTable(),
		markup.Facts("Tests", d.Tests),
		g.If(len(d.Charts) > 0, grid(d.Charts)))
}

func warningsOf(all []report.Fact) g.Node {
	if len(all) == 0 {
		return nil
	}
	return h.Ul(g.Map(all, func(w report.Fact) g.Node {
		return h.Li(markup.Badge("suspect", w.Name), g.Text(" "+w.Value))
	}))
}

// server says how the step's servers were started.
func (d *stepDetail) server() g.Node {
	starts := g.Map(d.Startup, startOf)
	commands := g.Map(d.Commands, func(c detail.Command) g.Node {
		title := h.H3(g.Text("Command: " + c.Title))
		return g.Group{title, markup.Lines(markup.Copied(c.Text), markup.Paragraph("small", c.Note))}
	})
	return markup.Lines(append(starts, append(commands, markup.Facts("Hooks and checks", d.Hooks))...)...)
}

func startOf(s serverStart) g.Node {
	named := func(f report.Fact, end string) g.Node { return g.Text(" " + f.Name + " " + f.Value + end) }

	var rungs, phases g.Node
	if len(s.Rungs) > 0 {
		rungs = h.Ol(h.Class("rungs"), h.Aria("label", "Readiness, seconds after the spawn"),
			g.Map(s.Rungs, func(f report.Fact) g.Node { return h.Li(h.B(g.Text(f.Name)), g.Text(" "+f.Value)) }))
	}
	if len(s.Phases) > 0 {
		phases = h.P(h.Class("small"), g.Text("By its log:"),
			g.Map(s.Phases, func(f report.Fact) g.Node { return named(f, ";") }))
	}

	return g.Group{h.H3(g.Text("Start of " + s.Server)), markup.Lines(rungs, phases)}
}

// asked is the load, with what is long folded.
func (d *stepDetail) asked() g.Node {
	var body, log, text g.Node
	if d.Body != "" {
		body = markup.Folded("One request body", markup.Copied(d.Body))
	}
	if d.Log != "" {
		log = markup.Folded("End of the server's log",
			g.If(d.LogName != "", h.P(h.Class("small"), h.Code(g.Text(d.LogName)), g.Text(", of the whole life"))),
			markup.Verbatim(d.Log))
	}
	if d.Text != "" {
		text = markup.Folded("All figures, as bench report --step prints them", markup.Verbatim(d.Text))
	}

	return markup.Lines(markup.Facts("Requested load", d.Asked), body, log, text)
}
