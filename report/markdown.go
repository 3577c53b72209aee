package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	tty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Markdown prints the report of a run as Markdown, with everything that the
// terminal's report has.
func Markdown(w io.Writer, run *results.Run) error {
	out := &bytes.Buffer{}
	h := headlineOf(run)
	fmt.Fprintf(out, "# %s\n", escape(h.title))
	if h.simulated != "" {
		fmt.Fprintf(out, "\n**%s**\n", escape(h.simulated))
	}
	for _, line := range StandingOf(run).Lines {
		fmt.Fprintf(out, "\n**%s**\n", escape(line))
	}
	for _, line := range []string{h.counts, h.unfinished, h.about, h.description, h.sets} {
		if line != "" {
			fmt.Fprintf(out, "\n%s\n", escape(line))
		}
	}
	markdownFailures(out, collectFailures(run))
	markdownWarnings(out, "Suspect", collectSuspicions(run))
	markdownComparison(out, "Figures", compare(run))
	markdownParts(out, differenceParts(run))
	markdownParts(out, scenarioParts(run))
	markdownParts(out, costParts(run))
	markdownComparison(out, "GPUs", compareGPUs(run))
	markdownNotes(out, notes(run))
	markdownWarnings(out, "Warnings", collectOther(run))
	if len(run.Problems) > 0 {
		out.WriteString("\n## Folder\n\n")
		for _, problem := range run.Problems {
			fmt.Fprintf(out, "- %s\n", escape(text.Clean(problem)))
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func markdownFailures(out *bytes.Buffer, groups []failures) {
	if len(groups) == 0 {
		return
	}
	out.WriteString("\n## Failures\n\n")
	for _, g := range groups {
		fmt.Fprintf(out, "- **%s**%s, %s: %s\n", g.verdict, g.classText(), text.Count(len(g.steps), "step"), escape(text.Few(g.steps)))
		fmt.Fprintf(out, "  - %s\n", escape(text.Clean(g.failure.Message)))
		if g.log != "" {
			fmt.Fprintf(out, "  - log: %s\n", escape(g.log))
		}
		lines := text.Tail(g.failure.LogTail, tailLines)
		if len(lines) == 0 {
			continue
		}
		out.WriteString("\n")
		for _, line := range lines {
			fmt.Fprintf(out, "        %s\n", line)
		}
		out.WriteString("\n")
	}
}

func markdownComparison(out *bytes.Buffer, title string, c Table) {
	if len(c.Rows) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n", title)
	markdownTable(out, c)
}

func markdownTable(out *bytes.Buffer, c Table) {
	if len(c.Rows) == 0 {
		return
	}
	t := table.NewWriter()
	head := make(table.Row, len(c.Columns))
	configs := make([]table.ColumnConfig, len(c.Columns))
	for i, h := range c.Columns {
		head[i] = strings.TrimSpace(h.Head + " " + h.Unit)
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
		fmt.Fprintf(out, "- %s\n", escape(line))
	}
}

func markdownNotes(out *bytes.Buffer, lines []string) {
	if len(lines) == 0 {
		return
	}
	out.WriteString("\n## Notes\n\n")
	for _, line := range lines {
		fmt.Fprintf(out, "- %s\n", escape(line))
	}
}

func markdownWarnings(out *bytes.Buffer, title string, groups []doubts) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	for _, g := range groups {
		fmt.Fprintf(out, "- **%s**, %s\n", g.code, text.Count(g.steps, "step"))
		for _, m := range g.messages {
			fmt.Fprintf(out, "  - %s: %s\n", escape(text.Few(m.steps)), escape(text.Clean(m.text)))
		}
	}
}

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "~", `\~`,
)

// escape keeps the text of others from being read as Markdown or HTML.
func escape(s string) string { return escaper.Replace(s) }

// escapeCell is escape for a field of a table, whose bars the library escapes.
func escapeCell(s string) string { return strings.ReplaceAll(escape(s), `\|`, "|") }
