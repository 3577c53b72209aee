package markup

import (
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/benchrig/bench/report/table"
)

// longName is from how many letters on a name may break into lines.
const longName = 24

// Long reports whether a name may break into lines in a table.
func Long(s string) bool { return utf8.RuneCountInString(s) > longName }

// Table is nil without rows.
func Table(t table.Table) g.Node {
	if len(t.Rows) == 0 {
		return nil
	}

	head := h.THead(h.Tr(g.Map(t.Columns, func(c table.Column) g.Node {
		return h.Th(h.Scope("col"), h.Class(NumberClass(c)+If(Long(c.Head), " long")), headOf(c))
	})))
	body := h.TBody(Lines(g.Map(t.Rows, func(r table.Row) g.Node { return rowOf(t.Columns, r) })...), g.Raw("\n"))
	drawn := Lines(h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"), h.Aria("label", "Table"),
		Lines(h.Table(h.Class("sortable"), head, Lines(body)))))

	if t.Best == "" && len(t.Legend) == 0 {
		return drawn
	}
	return append(drawn, Lines(h.Ul(h.Class("legend"),
		g.If(t.Best != "", h.Li(g.Text("bold with ★: "+t.Best))), Texts(t.Legend, h.Li)))...)
}

// PlainTable is a small table: columns of words, then columns of numbers.
func PlainTable(caption string, words, numbers []string, rows g.Group) g.Node {
	heads := g.Map(words, func(s string) g.Node { return ColumnHead("", s, "") })
	for _, s := range numbers {
		heads = append(heads, ColumnHead("n", s, ""))
	}
	return scroll(h.Table(h.Class("plain"), h.Caption(g.Text(caption)), h.THead(h.Tr(heads)), h.TBody(rows)))
}

func headOf(c table.Column) g.Node {
	return g.Group{g.Text(c.Head), g.If(c.Unit != "", g.Group{g.Text(" "), h.Small(g.Text(c.Unit))})}
}

func rowOf(columns []table.Column, r table.Row) g.Node {
	var class g.Node
	if r.NewGroup || r.Unranked {
		class = h.Class(If(r.NewGroup, "new ") + If(r.Unranked, "unranked") + If(r.Failed, " failed"))
	}

	var cells g.Group
	for i, c := range r.Cells {
		if i == 0 {
			cells = append(cells, RowHead(Long(c.Text), g.Text(c.Text)))
			continue
		}
		cells = append(cells, cellOf(columns[i], c))
	}

	return h.Tr(class, cells)
}

func cellOf(column table.Column, c table.Cell) g.Node {
	class := NumberClass(column)
	if column.Text && Long(c.Text) {
		class = "long"
	}

	content := g.Text(c.Text)
	if c.Best {
		content = h.B(content, h.Span(h.Class("star"), h.Aria("label", "best"), g.Text(" ★")))
	}

	return h.Td(g.If(class != "", h.Class(class)), content)
}

// NumberClass is the class that aligns numbers to the right; "" for text.
func NumberClass(c table.Column) string { return If(!c.Text, "n") }

// If is a text under a condition, for the names of classes.
func If(is bool, s string) string {
	if is {
		return s
	}
	return ""
}

// Piece is a table with its title and notes.
func Piece(p table.Piece) g.Node {
	title := h.H2
	if p.Below {
		title = h.H3
	}
	return g.Group{g.If(p.Title != "", title(g.Text(p.Title))), Inside(p)}
}

// Inside is a piece without its title.
func Inside(p table.Piece) g.Node {
	return g.Group{
		Texts(p.Intro, h.P), Table(p.Table), List("legend", p.Notes),
		g.If(p.Verbatim != "", Verbatim(p.Verbatim)),
	}
}
