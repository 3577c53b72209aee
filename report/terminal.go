package report

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	tty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Options say how a report for terminals looks.
type Options struct {
	Width int  // columns; 0: no limit
	Color bool // bold and colours by escape sequences
}

// tailLines is how much of a server's log the overview quotes.
const tailLines = 3

// Write prints the report of a run: what won and how sure that is, what failed
// or is suspect, the tables over variants and points, and the other doubts.
func Write(w io.Writer, run *results.Run, opts Options) error {
	p := &printer{opts: opts}
	h := headlineOf(run)
	p.line(p.bold(h.title))
	if h.simulated != "" {
		p.line(p.loud(h.simulated))
	}
	for _, text := range StandingOf(run).Lines {
		p.wrapped("", p.bold(text))
	}
	for _, text := range []string{h.counts, h.unfinished, h.about, h.description, h.sets} {
		if text != "" {
			p.wrapped("", text)
		}
	}
	printFailures(p, collectFailures(run))
	printWarnings(p, "Suspect", collectSuspicions(run))
	p.comparison(compare(run))
	p.parts(differenceParts(run))
	p.parts(scenarioParts(run))
	p.parts(costParts(run))
	printGPUTable(p, compareGPUs(run))
	printNotes(p, notes(run))
	printWarnings(p, "Warnings", collectOther(run))
	if len(run.Problems) > 0 {
		p.section("Folder")
		for _, problem := range run.Problems {
			p.wrapped("  ", text.Clean(problem))
		}
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

// printer collects lines for a terminal.
type printer struct {
	out  bytes.Buffer
	opts Options
}

func (p *printer) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

func (p *printer) section(title string) {
	p.line("")
	p.line(p.bold(title))
}

// wrapped prints text within the width, every line behind indent.
func (p *printer) wrapped(indent, s string) {
	if room := p.opts.Width - len(indent); p.opts.Width > 0 && room >= 20 {
		s = tty.WrapSoft(s, room)
	}
	for line := range strings.SplitSeq(s, "\n") {
		p.line(indent + strings.TrimRight(line, " "))
	}
}

func (p *printer) bold(s string) string { return p.styled(s, tty.Bold) }
func (p *printer) loud(s string) string { return p.styled(s, tty.Bold, tty.FgYellow) }
func (p *printer) bad(s string) string  { return p.styled(s, tty.Bold, tty.FgRed) }

// styled writes the sequences itself: the library's own switch for colours is
// global and follows the process's terminal.
func (p *printer) styled(s string, colors ...tty.Color) string {
	if !p.opts.Color {
		return s
	}
	return tty.Escape(s, tty.Colors(colors).EscapeSeq())
}

func printFailures(p *printer, groups []failures) {
	if len(groups) == 0 {
		return
	}
	p.section("Failures")
	for _, g := range groups {
		p.line("  " + p.bad(g.verdict) + g.classText() + ", " + text.Count(len(g.steps), "step") + ": " + text.Few(g.steps))
		p.wrapped("    ", text.Clean(g.failure.Message))
		for _, line := range text.Tail(g.failure.LogTail, tailLines) {
			p.line("    | " + line)
		}
		if g.log != "" {
			p.line("    log: " + g.log)
		}
	}
}

func printWarnings(p *printer, title string, groups []doubts) {
	if len(groups) == 0 {
		return
	}
	p.section(title)
	for _, g := range groups {
		shown := 3
		if g.code == results.WarnFewSamples {
			shown = 1 // the table marks every figure that it is about
		}
		p.line("  " + string(g.code) + ", " + text.Count(g.steps, "step"))
		for _, m := range g.messages[:min(len(g.messages), shown)] {
			p.wrapped("    ", text.Few(m.steps)+": "+text.Clean(m.text))
		}
		if more := len(g.messages) - shown; more > 0 {
			p.line("    and " + text.Count(more, "other message") + " (see the steps' own reports)")
		}
	}
}

func (p *printer) comparison(c Table) {
	if len(c.Rows) == 0 {
		return
	}
	p.line("")
	for i, part := range p.split(c) {
		if i > 0 {
			p.line("")
		}
		for line := range strings.SplitSeq(part, "\n") {
			p.line(line)
		}
	}
	if c.Best != "" {
		p.wrapped("", p.bestMark()+" "+c.Best)
	}
	for _, line := range c.Legend {
		p.wrapped("", line)
	}
}

// mark shows a best figure: bold, or with a star where there is no bold.
func (p *printer) mark(s string) string {
	if p.opts.Color {
		return p.bold(s)
	}
	return "*" + s
}

func (p *printer) bestMark() string {
	if p.opts.Color {
		return p.bold("bold:")
	}
	return "*"
}

// split renders the table, as several where the width asks for it. Each of
// those begins with the table's keys, variant, point and verdict where it has
// none of its own, so that none shows figures without their doubts.
func (p *printer) split(c Table) []string {
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
func (p *printer) render(c Table, pick []int, narrow bool) string {
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
