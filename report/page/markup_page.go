package page

import (
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/markup"
	"github.com/benchrig/bench/report/table"
)

// hidden is on what the page's script shows.
var hidden = g.Attr("hidden")

func steps(n int) string { return text.Count(n, "step") }

// html is the whole page.
func (v *view) html() g.Node {
	return markup.Document(v.Title+markup.If(v.Simulated != "", " (simulated)"), []g.Node{
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(v.Policy)),
		markup.Meta("referrer", "no-referrer"),
		markup.Meta("generator", "bench"),
		h.StyleEl(g.Raw(v.Style)),
	}, v.body())
}

func (v *view) body() g.Node {
	return markup.Lines(
		h.A(h.Class("skip"), h.Href("#verdict"), g.Text("Skip to the verdict")),
		v.top(),
		g.If(v.Simulated != "", h.P(h.Class("simulated"), h.Role("note"), g.Text(v.Simulated))),
		h.Main(markup.Lines(
			v.verdict(), v.answers(), v.figures(), v.differences(), v.named(), v.charts(), v.gpus(), v.stepTable(),
			v.details(), v.notices(), v.about()), g.Raw("\n")),
		h.Footer(markup.Paragraph("",
			v.About+". Made from the files of the run's folder alone; this page needs no network.")),
		h.P(h.ID("said"), h.Class("unseen"), h.Role("status"), h.Aria("live", "polite")),
		h.Script(g.Raw(v.Script)))
}

// top is the bar with links to the sections that the page has.
func (v *view) top() g.Node {
	var links g.Group
	for _, s := range []struct {
		id, name string
		is       bool
	}{
		{"verdict", "Verdict", true},
		{"figures", "Figures", v.hasFigures()},
		{"differences", "Differences", len(v.Differences) > 0},
		{"sweep", "Charts", len(v.Charts.Sweep) > 0},
		{"distributions", "Distributions", len(v.Charts.CDFs) > 0},
		{"timeline", "Timeline", v.Charts.Timeline != nil},
		{"steps", "Steps", len(v.Rows) > 0},
		{"notices", "Failures and warnings", v.hasNotices()},
		{"facts", "The run", true},
	} {
		if s.is {
			links = append(links, h.Li(h.A(h.Href("#"+s.id), g.Text(s.name))))
		}
	}

	return h.Header(h.Class("top"), h.Div(h.Class("bar"), markup.Lines(
		markup.Paragraph("brand", "bench"),
		h.Nav(h.Aria("label", "Sections"), h.Ul(markup.Lines(links...))),
		h.Button(h.Type("button"), h.ID("theme"), h.Class("needs-script"), hidden, g.Text("Dark"))), g.Raw("\n")))
}

func (v *view) hasNotices() bool { return len(v.Failures) > 0 || len(v.Notices) > 0 }

func (v *view) verdict() g.Node {
	said := g.Group{markup.Paragraph("first", "Nothing to compare: no step of this run has valid figures.")}
	if len(v.Standing.Lines) > 0 {
		said = markup.Texts(v.Standing.Lines, h.P)
		said[0] = markup.Paragraph("first", v.Standing.Lines[0])
	}

	counts := g.Group{g.Text(v.Counts)}
	if attention := v.attention(); attention != "" {
		counts = append(counts, g.Text(" · "), h.A(h.Href("#notices"), g.Text(attention)))
	}

	return h.Section(h.ID("verdict"), h.Aria("labelledby", "verdict-h"), markup.Lines(
		h.H1(h.ID("verdict-h"), g.Text(v.Title)),
		markup.Paragraph("about", v.Description),
		h.Div(h.Class("verdict"+markup.If(v.Standing.Decided, " told")), markup.Lines(said...), markup.Lines(
			h.P(h.Class("counts"), counts),
			markup.Paragraph("loud", v.Unfinished)), g.Raw("\n"))), g.Raw("\n"))
}

func (v *view) hasFigures() bool { return len(v.Figures.Rows) > 0 || len(v.Standing.Table.Rows) > 0 }

func (v *view) figures() g.Node {
	if !v.hasFigures() {
		return nil
	}

	var byPoint g.Node
	if standing := v.Standing.Table; len(standing.Rows) > 0 {
		byPoint = h.Details(h.Class("more"), h.Summary(g.Text("Load point by load point")),
			markup.Lines(markup.Paragraph("",
				"The leading variant at each load point and the next one: means over server starts; tests corrected "+
					"over all load points and variants (Holm).")), markup.Table(standing))
	}

	return markup.Section("figures", "Figures", markup.Table(v.Figures), byPoint)
}

// differences shows the first comparison openly, the others folded.
func (v *view) differences() g.Node {
	if len(v.Differences) == 0 {
		return nil
	}

	first := v.Differences[0]
	others := g.Group{}
	for i, p := range v.Differences[1:] {
		others = append(others, h.Details(h.Class("pair"), g.If(i == 0, g.Attr("open")),
			h.Summary(h.H3(g.Text(p.Title))), markup.Inside(p)))
	}

	return markup.Section("differences", first.Title, markup.Inside(first), markup.Lines(others...))
}

func (v *view) named() g.Node {
	if len(v.Named) == 0 {
		return nil
	}
	return h.Section(h.Aria("label", "Tables of the scenario"),
		markup.Lines(g.Map(v.Named, func(p table.Piece) g.Node { return markup.Piece(p) })...), g.Raw("\n"))
}

func (v *view) gpus() g.Node {
	if len(v.GPUs.Rows) == 0 {
		return nil
	}
	return markup.Section("gpus", "GPUs", markup.Table(v.GPUs))
}

// notices shows failures first, then warnings.
func (v *view) notices() g.Node {
	if !v.hasNotices() {
		return nil
	}

	var failures, warnings g.Node
	if len(v.Failures) > 0 {
		failures = h.Ul(h.Class("cards"), markup.Lines(g.Map(v.Failures, v.failureOf)...), g.Raw("\n"))
	}
	if len(v.Notices) > 0 {
		warnings = h.Ul(h.Class("notices"), markup.Lines(g.Map(v.Notices, v.noticeOf)...), g.Raw("\n"))
	}

	return markup.Section("notices", "Failures and warnings", failures, warnings)
}

func (v *view) failureOf(f report.FailureGroup) g.Node {
	return h.Li(
		h.P(markup.Badge(f.Verdict, f.Verdict), g.Text(" "),
			g.If(f.Class != "", g.Group{h.B(g.Text(f.Class)), g.Text(", ")}),
			g.Text(steps(len(f.Steps))+": "), v.stepLinks(f.Steps)), markup.Lines(
			h.P(g.Text(f.Message), markup.Advice(f.Do)),
			g.If(len(f.Tail) > 0, markup.Verbatim(strings.Join(f.Tail, "\n")+"\n")),
			g.If(f.Log != "", h.P(h.Class("small"), g.Text("Log: "), h.Code(g.Text(f.Log))))))
}

func (v *view) noticeOf(n report.Notice) g.Node {
	messages := g.Map(n.Messages, func(m report.Message) g.Node {
		return h.Li(g.Text(m.Text+" "), h.Span(h.Class("small"), g.Text("("), v.stepLinks(m.Steps), g.Text(")")))
	})

	severity := string(n.Severity)
	return h.Li(h.Class(severity), h.Details(
		h.Summary(markup.Badge(severity, severity), g.Text(" "), h.B(g.Text(n.Code)),
			g.Text(" "+steps(n.Count)+": "+n.Meaning), markup.Advice(n.Do)),
		markup.Lines(markup.Paragraph("", markup.If(n.Why != "", "Why it matters: ")+n.Why), h.Ul(messages))))
}

// about says what is known of the run, its client included.
func (v *view) about() g.Node {
	client := g.Map(v.Client, func(n report.Notice) g.Node {
		return g.Text(n.Code + " in " + steps(n.Count) + ". ")
	})
	if len(client) == 0 {
		client = g.Group{g.Text("no warning about it")}
	}

	prefixed := func(class, prefix string, all []string) g.Node {
		return markup.Lines(g.Map(all, func(s string) g.Node { return markup.Paragraph(class, prefix+s) })...)
	}

	return markup.Section("facts", "The run",
		h.Dl(h.Class("facts"), g.Map(v.Facts, markup.Fact),
			markup.Lines(h.Div(h.Dt(g.Text("Load client")), h.Dd(client)))),
		prefixed("small", "", v.Notes), prefixed("loud", "Folder: ", v.Problems),
		prefixed("small", "Left out: ", v.Left))
}
