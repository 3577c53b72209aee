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

// Brief prints the verdict, the counts and the narrow table of a run, and what
// failed or was warned of, each in a line.
func Brief(w io.Writer, run *results.Run, form table.Format, opts table.Options) error {
	if form == table.ForMarkdown {
		out := &bytes.Buffer{}
		markdownBrief(out, run)
		_, err := w.Write(out.Bytes())

		return err
	}

	p := table.NewPrinter(opts)
	printHead(p, run)
	p.Table(grid.Brief(run))
	for i, g := range collectFailures(run) {
		if i == 0 {
			p.Line("")
		}
		p.Wrapped("", fmt.Sprintf("%s%s, %s: %s", g.verdict, g.classText(), text.Count(len(g.steps), "step"),
			g.words()))
	}

	for i, g := range collectWarnings(run) {
		if i == 0 {
			p.Line("")
		}
		p.Wrapped("", fmt.Sprintf("%s %s: %s", g.code, g.severityText(), g.entry.Meaning))
	}
	if open := openSteps(run); open > 0 && run.Dir != "" {
		p.Line("")
		p.Wrapped("", fmt.Sprintf("%s left; to continue: bench resume %s", text.Count(open, "step"),
			text.Clean(run.Dir)))
	}

	return p.Flush(w)
}

// printHead prints what comes before all figures: the run, the verdict, counts.
func printHead(p *table.Printer, run *results.Run) {
	h := headlineOf(run)
	p.Line(p.Bold(h.title))
	if h.simulated != "" {
		p.Wrapped("", p.Loud(h.simulated))
	}

	for _, text := range StandingOf(run).Lines {
		p.Wrapped("", p.Bold(text))
	}

	for _, text := range []string{h.counts, h.unfinished, h.about, h.description, h.sets} {
		if text != "" {
			p.Wrapped("", text)
		}
	}
}

// openSteps counts the steps that a resumed run would still run.
func openSteps(run *results.Run) int {
	n := 0
	for _, s := range run.Steps {
		if s.State == results.StepInterrupted || s.Result.Verdict == results.NotRun {
			n++
		}
	}

	return n
}

// tailLines is how much of a server's log the overview quotes.
const tailLines = 3

// Write prints the report of a run: what won and how sure that is, the table of
// variants and points, what failed or is suspect, the differences and other
// tables, and the other warnings.
func Write(w io.Writer, run *results.Run, opts table.Options) error {
	p := table.NewPrinter(opts)
	printHead(p, run)
	p.Table(grid.LayOutRun(run))
	printFailures(p, collectFailures(run))
	printWarnings(p, "Suspect", collectSuspicions(run))
	p.Pieces(differenceParts(run))
	p.Pieces(scenarioParts(run))
	p.Pieces(grid.CostParts(run))
	printGPUTable(p, grid.CompareGPUs(run))
	printNotes(p, notes(run))
	printWarnings(p, "Warnings", collectOther(run))
	if len(run.Problems) > 0 {
		p.Section("Folder")
		for _, problem := range run.Problems {
			p.Wrapped("  ", text.Clean(problem))
		}
	}

	return p.Flush(w)
}

func printFailures(p *table.Printer, groups []failures) {
	if len(groups) == 0 {
		return
	}

	p.Section("Failures")
	for _, g := range groups {
		p.Wrapped("  ", p.Bad(g.verdict)+g.classText()+", "+text.Count(len(g.steps), "step")+": "+text.Few(g.steps))
		p.Wrapped("    ", g.words())
		if do := g.do(); do != "" {
			p.Wrapped("    ", "What to do: "+do)
		}
		for _, line := range text.Tail(g.failure.LogTail, tailLines) {
			p.Wrapped("    | ", line)
		}
		if g.log != "" {
			p.Wrapped("    ", "log: "+g.log)
		}
	}
}

func printWarnings(p *table.Printer, title string, groups []doubts) {
	if len(groups) == 0 {
		return
	}

	p.Section(title)
	for _, g := range groups {
		shown := g.shown()
		p.Wrapped("  ", fmt.Sprintf("%s %s: %s", g.code, g.severityText(), g.entry.Meaning))
		if g.entry.Do != "" {
			p.Wrapped("    ", "What to do: "+g.entry.Do)
		}
		for _, m := range g.messages[:min(len(g.messages), shown)] {
			p.Wrapped("    ", text.Few(m.steps)+": "+m.words())
		}
		if more := len(g.messages) - shown; more > 0 {
			p.Line("    and " + text.Count(more, "other message") + " (see the steps' own reports)")
		}
	}
}

// printGPUTable prints the table of GPUs.
func printGPUTable(p *table.Printer, c table.Table) {
	if len(c.Rows) == 0 {
		return
	}
	p.Section("GPUs")
	p.Table(c)
}

// printNotes prints the lines about other readings and answers.
func printNotes(p *table.Printer, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Section("Notes")
	for _, line := range lines {
		p.Wrapped("  ", line)
	}
}
