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

// Markdown prints the report of a run as Markdown for a pull request: the
// verdict, one table that fits its width, what failed and what was warned of;
// all else that the terminal's report has is folded away.
func Markdown(w io.Writer, run *results.Run) error {
	out := &bytes.Buffer{}
	markdownBrief(out, run)
	folded(out, "All figures", func(out *bytes.Buffer) { table.MarkdownTable(out, grid.LayOutRun(run)) })
	foldedPieces(out, "Differences", differenceParts(run))
	foldedPieces(out, "Tables of the scenario", scenarioParts(run))
	foldedPieces(out, "Cost", grid.CostParts(run))
	folded(out, "GPUs", func(out *bytes.Buffer) { table.MarkdownTable(out, grid.CompareGPUs(run)) })
	folded(out, "Notes", func(out *bytes.Buffer) { markdownList(out, notes(run)) })
	if len(run.Problems) > 0 {
		out.WriteString("\n## Folder\n")
		markdownList(out, text.CleanAll(run.Problems))
	}

	_, err := w.Write(out.Bytes())

	return err
}

// markdownBrief prints what a reader needs first.
func markdownBrief(out *bytes.Buffer, run *results.Run) {
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

	table.MarkdownTable(out, grid.Brief(run))
	markdownFailures(out, collectFailures(run))
	markdownWarnings(out, collectWarnings(run))
}

// folded prints a part that opens with a click; nothing where draw prints
// nothing.
func folded(out *bytes.Buffer, title string, draw func(*bytes.Buffer)) {
	inside := &bytes.Buffer{}
	draw(inside)
	if inside.Len() == 0 {
		return
	}

	fmt.Fprintf(out, "\n<details>\n<summary>%s</summary>\n%s\n</details>\n", title, inside)
}

func foldedPieces(out *bytes.Buffer, title string, pieces []table.Piece) {
	folded(out, title, func(out *bytes.Buffer) { table.MarkdownPieces(out, pieces) })
}

func markdownList(out *bytes.Buffer, lines []string) {
	if len(lines) > 0 {
		out.WriteString("\n")
	}
	for _, line := range lines {
		fmt.Fprintf(out, "- %s\n", table.Escape(line))
	}
}

func markdownFailures(out *bytes.Buffer, groups []failures) {
	if len(groups) == 0 {
		return
	}

	out.WriteString("\n## Failures\n\n")
	for _, g := range groups {
		fmt.Fprintf(out, "- **%s**%s, %s: %s\n", table.Escape(g.verdict), table.Escape(g.classText()),
			text.Count(len(g.steps), "step"), table.Escape(text.Few(g.steps)))
		fmt.Fprintf(out, "  - %s\n", table.Escape(g.words()))
		if do := g.do(); do != "" {
			fmt.Fprintf(out, "  - *What to do: %s*\n", table.Escape(do))
		}
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

func markdownWarnings(out *bytes.Buffer, groups []doubts) {
	if len(groups) == 0 {
		return
	}
	out.WriteString("\n## Warnings\n\n")
	for _, g := range groups {
		fmt.Fprintf(out, "- **%s** %s: %s", table.Escape(string(g.code)), g.severityText(),
			table.Escape(g.entry.Meaning))
		if g.entry.Do != "" {
			fmt.Fprintf(out, " *What to do: %s*", table.Escape(g.entry.Do))
		}
		out.WriteString("\n")
		for _, m := range g.messages[:min(len(g.messages), g.shown())] {
			fmt.Fprintf(out, "  - %s: %s\n", table.Escape(text.Few(m.steps)), table.Escape(m.words()))
		}
		if more := len(g.messages) - g.shown(); more > 0 {
			fmt.Fprintf(out, "  - and %s\n", text.Count(more, "other message"))
		}
	}
}
