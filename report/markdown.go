package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Markdown prints the report of a run as Markdown, with everything that the
// terminal's report has.
func Markdown(w io.Writer, run *results.Run) error {
	out := &bytes.Buffer{}
	h := headlineOf(run)
	fmt.Fprintf(out, "# %s\n", table.Escape(h.title))
	if h.simulated != "" {
		fmt.Fprintf(out, "\n**%s**\n", table.Escape(h.simulated))
	}

	for _, line := range StandingOf(run).Lines {
		fmt.Fprintf(out, "\n**%s**\n", table.Escape(line))
	}

	for _, line := range []string{h.counts, h.unfinished, h.about, h.description, h.sets} {
		if line != "" {
			fmt.Fprintf(out, "\n%s\n", table.Escape(line))
		}
	}

	markdownFailures(out, collectFailures(run))
	markdownWarnings(out, "Suspect", collectSuspicions(run))
	markdownComparison(out, "Figures", grid.LayOutRun(run))
	table.MarkdownPieces(out, differenceParts(run))
	table.MarkdownPieces(out, scenarioParts(run))
	table.MarkdownPieces(out, grid.CostParts(run))
	markdownComparison(out, "GPUs", grid.CompareGPUs(run))
	markdownNotes(out, notes(run))
	markdownWarnings(out, "Warnings", collectOther(run))
	if len(run.Problems) > 0 {
		out.WriteString("\n## Folder\n\n")
		for _, problem := range run.Problems {
			fmt.Fprintf(out, "- %s\n", table.Escape(text.Clean(problem)))
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
		fmt.Fprintf(out, "- **%s**%s, %s: %s\n", g.verdict, g.classText(), text.Count(len(g.steps), "step"),
			table.Escape(text.Few(g.steps)))
		fmt.Fprintf(out, "  - %s\n", table.Escape(text.Clean(g.failure.Message)))
		if g.log != "" {
			fmt.Fprintf(out, "  - log: %s\n", table.Escape(g.log))
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

func markdownComparison(out *bytes.Buffer, title string, c table.Table) {
	if len(c.Rows) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n", title)
	table.MarkdownTable(out, c)
}

func markdownNotes(out *bytes.Buffer, lines []string) {
	if len(lines) == 0 {
		return
	}
	out.WriteString("\n## Notes\n\n")
	for _, line := range lines {
		fmt.Fprintf(out, "- %s\n", table.Escape(line))
	}
}

func markdownWarnings(out *bytes.Buffer, title string, groups []doubts) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	for _, g := range groups {
		fmt.Fprintf(out, "- **%s** %s: %s *What to do: %s*\n", g.code, g.severityText(), table.Escape(g.entry.Meaning),
			table.Escape(g.entry.Do))
		for _, m := range g.messages {
			fmt.Fprintf(out, "  - %s: %s\n", table.Escape(text.Few(m.steps)), table.Escape(text.Clean(m.text)))
		}
	}
}
