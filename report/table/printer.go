package table

import (
	"bytes"
	"io"
	"strings"

	tty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/benchrig/bench/internal/text"
)

// Options say how a report for terminals looks.
type Options struct {
	Width int  // columns; 0: no limit
	Color bool // bold and colours by escape sequences
}

// Printer collects lines for a terminal.
type Printer struct {
	out  bytes.Buffer
	opts Options
}

// NewPrinter makes an empty printer.
func NewPrinter(opts Options) *Printer { return &Printer{opts: opts} }

// Write appends text as it is.
func (p *Printer) Write(b []byte) (int, error) { return p.out.Write(b) }

// String is what was printed so far. Names and messages come from files that anybody
// may have written: none of them commands the terminal.
func (p *Printer) String() string {
	if p.opts.Color {
		return text.OnlyColours(p.out.String())
	}
	return text.WithoutCommands(p.out.String())
}

// Flush writes what was printed, without blank lines before it.
func (p *Printer) Flush(w io.Writer) error {
	_, err := io.WriteString(w, strings.TrimLeft(p.String(), "\n"))

	return err
}

// Line prints one line, without the blanks at its end.
func (p *Printer) Line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// Section begins a part of the report below a blank line.
func (p *Printer) Section(title string) {
	p.Line("")
	p.Line(p.Bold(title))
}

// Wrapped prints text within the width, every line behind indent.
func (p *Printer) Wrapped(indent, s string) {
	if room := p.opts.Width - len(indent); p.opts.Width > 0 && room >= 20 {
		s = tty.WrapSoft(s, room)
	}
	for line := range strings.SplitSeq(s, "\n") {
		p.Line(indent + strings.TrimRight(line, " "))
	}
}

// Bold is text in bold, where the terminal has colours.
func (p *Printer) Bold(s string) string { return p.styled(s, tty.Bold) }

// Loud is text that must not be missed.
func (p *Printer) Loud(s string) string { return p.styled(s, tty.Bold, tty.FgYellow) }

// Bad is text about a failure.
func (p *Printer) Bad(s string) string { return p.styled(s, tty.Bold, tty.FgRed) }

// styled writes the sequences itself: the library's own switch for colours is
// global and follows the process's terminal.
func (p *Printer) styled(s string, colors ...tty.Color) string {
	if !p.opts.Color {
		return s
	}
	return tty.Escape(s, tty.Colors(colors).EscapeSeq())
}
