package table

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	tty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/benchrig/bench/internal/text"
)

// MarkdownPieces prints pieces as Markdown.
func MarkdownPieces(out *bytes.Buffer, parts []Piece) {
	for _, piece := range parts {
		if piece.Title != "" {
			level := "##"
			if piece.Below {
				level = "###"
			}
			fmt.Fprintf(out, "\n%s %s\n", level, Escape(piece.Title))
		}

		for _, line := range piece.Intro {
			fmt.Fprintf(out, "\n%s\n", Escape(line))
		}

		MarkdownTable(out, piece.Table)
		if len(piece.Notes) > 0 {
			out.WriteString("\n")
		}

		for _, line := range piece.Notes {
			fmt.Fprintf(out, "- %s\n", Escape(line))
		}

		if piece.Verbatim != "" {
			fence := strings.Repeat("`", 3)
			for strings.Contains(piece.Verbatim, fence) {
				fence += "`"
			}
			fmt.Fprintf(out, "\n%stext\n%s%s\n", fence, text.WithoutCommands(piece.Verbatim), fence)
		}
	}
}

// MarkdownTable prints a table as Markdown; nothing where it has no rows.
func MarkdownTable(out *bytes.Buffer, c Table) {
	if len(c.Rows) == 0 {
		return
	}

	t := table.NewWriter()
	head := make(table.Row, len(c.Columns))
	configs := make([]table.ColumnConfig, len(c.Columns))
	for i, h := range c.Columns {
		head[i] = escapeCell(strings.TrimSpace(h.Head + " " + h.Unit))
		configs[i] = table.ColumnConfig{Number: i + 1, Align: tty.AlignRight}
		if h.Text {
			configs[i].Align = tty.AlignLeft
		}
	}

	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, r := range c.Rows {
		fields := make(table.Row, len(r.Cells))
		for i, e := range r.Cells {
			fields[i] = escapeCell(e.Text)
			if e.Best {
				fields[i] = "**" + escapeCell(e.Text) + "**"
			}
		}
		t.AppendRow(fields)
	}

	fmt.Fprintf(out, "\n%s\n", t.RenderMarkdown())
	if c.Best != "" || len(c.Legend) > 0 {
		out.WriteString("\n")
	}

	if c.Best != "" {
		fmt.Fprintf(out, "- **bold**: %s\n", c.Best)
	}

	for _, line := range c.Legend {
		fmt.Fprintf(out, "- %s\n", Escape(line))
	}
}

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#",
	`\#`, "|", `\|`, "~", `\~`,
)

// Escape keeps the text of others from being read as Markdown or HTML, and by a
// terminal as a command.
func Escape(s string) string { return escaper.Replace(text.WithoutCommands(s)) }

// escapeCell is escape for a field of a table, whose bars the library escapes.
func escapeCell(s string) string { return strings.ReplaceAll(Escape(s), `\|`, "|") }
