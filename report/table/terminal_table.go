package table

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	tty "github.com/jedib0t/go-pretty/v6/text"
)

// Pieces prints pieces for a terminal.
func (p *Printer) Pieces(parts []Piece) {
	for _, piece := range parts {
		switch {
		case piece.Title == "":
		case piece.Below:
			p.Line("")
			p.Line(piece.Title)
		default:
			p.Section(piece.Title)
		}

		for _, line := range piece.Intro {
			p.Wrapped("  ", line)
		}

		p.Table(piece.Table)
		for _, line := range piece.Notes {
			p.Wrapped("  ", line)
		}

		if piece.Verbatim != "" {
			p.Line("")
			p.out.WriteString(piece.Verbatim)
		}
	}
}

// Table prints a table with its legend, in several parts where it is too wide.
func (p *Printer) Table(c Table) {
	if len(c.Rows) == 0 {
		return
	}

	p.Line("")
	for i, part := range p.split(c) {
		if i > 0 {
			p.Line("")
		}
		for line := range strings.SplitSeq(part, "\n") {
			p.Line(line)
		}
	}

	if c.Best != "" {
		p.Wrapped("", p.bestMark()+" "+c.Best)
	}

	for _, line := range c.Legend {
		p.Wrapped("", line)
	}
}

// mark shows a best figure: bold, or with a star where there is no bold.
func (p *Printer) mark(s string) string {
	if p.opts.Color {
		return p.Bold(s)
	}
	return "*" + s
}

func (p *Printer) bestMark() string {
	if p.opts.Color {
		return p.Bold("bold:")
	}
	return "*"
}

// split renders the table, as several where the width asks for it. Each of
// those begins with the table's keys, variant, point and verdict where it has
// none of its own, so that none shows figures without their doubts.
func (p *Printer) split(c Table) []string {
	all := indices(0, len(c.Columns))
	whole := p.render(c, all, false)
	if p.opts.Width <= 0 || widest(whole) <= p.opts.Width {
		return []string{whole}
	}

	keys := c.Keys
	if keys == nil {
		keys = []int{0, 1, len(c.Columns) - 1}
	}

	rest := slices.DeleteFunc(all, func(i int) bool { return slices.Contains(keys, i) })
	var parts []string
	for len(rest) > 0 {
		n := len(rest)
		part := p.render(c, slices.Concat(keys, rest[:n]), true)
		for n > 1 && widest(part) > p.opts.Width {
			n--
			part = p.render(c, slices.Concat(keys, rest[:n]), true)
		}
		parts = append(parts, part)
		rest = rest[n:]
	}

	return parts
}

func widest(s string) int {
	width := 0
	for line := range strings.SplitSeq(s, "\n") {
		width = max(width, tty.StringWidthWithoutEscSequences(strings.TrimRight(line, " ")))
	}
	return width
}

// render draws the picked columns; narrow: with the short texts.
func (p *Printer) render(c Table, pick []int, narrow bool) string {
	t := table.NewWriter()
	t.SetStyle(plainStyle())
	head := make(table.Row, len(pick))
	configs := make([]table.ColumnConfig, len(pick))
	for i, at := range pick {
		h := c.Columns[at]
		head[i] = strings.TrimSuffix(h.Head+"\n"+h.Unit, "\n")
		configs[i] = table.ColumnConfig{Number: i + 1, Align: tty.AlignRight, AlignHeader: tty.AlignRight}
		if h.Text {
			configs[i].Align, configs[i].AlignHeader = tty.AlignLeft, tty.AlignLeft
		}
	}

	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, r := range c.Rows {
		if r.NewGroup {
			t.AppendSeparator()
		}
		fields := make(table.Row, len(pick))
		for i, at := range pick {
			e := r.Cells[at]
			switch {
			case e.Best:
				fields[i] = p.mark(e.Text)
			case narrow && e.Short != "":
				fields[i] = e.Short
			default:
				fields[i] = e.Text
			}
		}
		t.AppendRow(fields)
	}

	return t.Render()
}

// indices counts from from to before to.
func indices(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// plainStyle has no lines but those below the head and between points.
func plainStyle() table.Style {
	style := table.StyleLight
	style.Format = table.FormatOptions{}
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	return style
}
