// Package markup has the pieces of HTML that reports are made of: text, names
// and tables go in, nodes come out. It decides nothing about a report.
//
// Text and attributes are escaped by gomponents. Only drawings of package chart,
// which escapes, and a page's own style and script are written as they are.
package markup

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/report"
)

// Document is a whole page. head comes after what every page has.
func Document(title string, head []g.Node, body ...g.Node) g.Node {
	return h.Doctype(h.HTML(h.Lang("en"), Lines(
		h.Head(Lines(
			h.Meta(h.Charset("utf-8")),
			Meta("viewport", "width=device-width, initial-scale=1"),
			h.TitleEl(g.Text(title))), Lines(head...), g.Raw("\n")),
		h.Body(g.Group(body), g.Raw("\n"))), g.Raw("\n")))
}

// Meta is what a page says about itself.
func Meta(name, content string) g.Node { return h.Meta(h.Name(name), h.Content(content)) }

// Lines puts each node on a line of its own.
func Lines(nodes ...g.Node) g.Group {
	var all g.Group
	for _, n := range nodes {
		if n != nil {
			all = append(all, g.Raw("\n"), n)
		}
	}
	return all
}

// Section is a part of the page under a heading that names it.
func Section(id, title string, content ...g.Node) g.Node {
	heading := h.H2(h.ID(id+"-h"), g.Text(title))
	return h.Section(h.ID(id), h.Aria("labelledby", id+"-h"), Lines(heading), Lines(content...), g.Raw("\n"))
}

// Paragraph is nil without text.
func Paragraph(class, text string) g.Node {
	if text == "" {
		return nil
	}
	return h.P(g.If(class != "", h.Class(class)), g.Text(text))
}

// Spaced is a word in a class, after a space; nil without text.
func Spaced(class, text string) g.Node {
	if text == "" {
		return nil
	}
	return g.Group{g.Text(" "), h.Span(h.Class(class), g.Text(text))}
}

// Advice says what to do; nil if there is nothing.
func Advice(do string) g.Node {
	if do == "" {
		return nil
	}
	return Spaced("do", "What to do: "+do)
}

// Badge is a word on a coloured ground.
func Badge(class, text string) g.Node { return h.Span(h.Class("badge "+class), g.Text(text)) }

// List is nil without items.
func List(class string, items []string) g.Node {
	if len(items) == 0 {
		return nil
	}
	return h.Ul(g.If(class != "", h.Class(class)), Texts(items, h.Li))
}

// Texts wraps each text in an element.
func Texts(all []string, element func(...g.Node) g.Node) g.Group {
	return g.Map(all, func(s string) g.Node { return element(g.Text(s)) })
}

// ColumnHead is the heading of a column, with its unit if there is one.
func ColumnHead(class, head, unit string) g.Node {
	return h.Th(h.Scope("col"), g.If(class != "", h.Class(class)), g.Text(head),
		g.If(unit != "", g.Group{g.Text(" "), h.Small(g.Text(unit))}))
}

// RowHead is the first cell of a row.
func RowHead(isLong bool, content ...g.Node) g.Node {
	return h.Th(h.Scope("row"), g.If(isLong, h.Class("long")), g.Group(content))
}

// scroll is what moves sideways within itself on narrow screens.
func scroll(content ...g.Node) g.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), g.Group(content))
}

// Folded shows its title; the content on demand.
func Folded(title string, content ...g.Node) g.Node {
	return h.Details(h.Summary(g.Text(title)), g.Group(content))
}

// Verbatim is text with its line breaks.
func Verbatim(text string) g.Node { return h.Pre(h.TabIndex("0"), g.Text(text)) }

// Copied is a text that the page's script offers to copy.
func Copied(text string) g.Node {
	return h.Div(h.Class("copy"), h.Pre(h.TabIndex("0"), h.Code(g.Text(text))))
}

// Titled is nil without content.
func Titled(title string, content g.Node) g.Node {
	if content == nil {
		return nil
	}
	return g.Group{h.H3(g.Text(title)), content}
}

// Facts is a list of facts under a heading; nil without any.
func Facts(title string, all []report.Fact) g.Node {
	if len(all) == 0 {
		return nil
	}
	return g.Group{h.H3(g.Text(title)), h.Dl(h.Class("facts"), g.Map(all, Fact))}
}

// Fact is an entry of a list of facts.
func Fact(f report.Fact) g.Node { return h.Div(h.Dt(g.Text(f.Name)), h.Dd(g.Text(f.Value))) }

// Choice is a labelled list of values of which one is chosen; the first is all.
func Choice(label, id string, values []string) g.Node {
	return h.Label(g.Text(label+" "), h.Select(h.ID(id), h.Option(h.Value(""), g.Text("all")),
		g.Map(values, func(s string) g.Node { return h.Option(h.Value(s), g.Text(s)) })))
}
