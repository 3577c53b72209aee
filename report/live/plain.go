package live

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// plainPeriod is the time after which work in progress is reported again, where lines
// cannot be rewritten.
const plainPeriod = 10 * time.Second

// Plain shows a run in lines: each step that ends, work in progress every ten
// seconds, and the end.
type Plain struct {
	Out   io.Writer
	shown map[string]StepState
	last  time.Time
	said  string
}

// Print writes what is new of a view. all: also steps that ended before.
func (p *Plain) Print(v View, now time.Time, all bool) {
	first := p.shown == nil
	if first {
		p.shown = map[string]StepState{}
	}

	done := 0
	for _, s := range v.Steps {
		if ended(s.State) {
			done++
		}
	}

	for _, s := range v.Steps {
		if before, known := p.shown[s.ID]; known && before == s.State {
			continue
		}
		p.shown[s.ID] = s.State
		if ended(s.State) && (!first || all) {
			fmt.Fprintf(p.Out, "[%d/%d] %s\n", done, v.Total, printable(s.Brief()))
			p.last = now
		}
	}

	p.isRunning(v, now)
}

// PrintUntilEnd prints the run in lines until it is over or ctx has ended, and gives the
// last view.
func (f *Follower) PrintUntilEnd(ctx context.Context, out io.Writer) (View, error) {
	plain := Plain{Out: out}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()

	for {
		view, err := f.View()
		if err != nil {
			return view, err
		}
		plain.Print(view, time.Now(), true)
		if view.State.IsOver() {
			return view, nil
		}
		select {
		case <-ctx.Done():
			return view, nil
		case <-tick.C:
		}
	}
}

// ended reports whether a step has a verdict.
func ended(s StepState) bool { return slices.Contains([]StepState{Done, Suspect, Failed, NotRun}, s) }

// isRunning says what is done now, if that is another thing than before or some
// time has passed.
func (p *Plain) isRunning(v View, now time.Time) {
	if v.Now == nil {
		return
	}
	what := v.Now.Step + v.Now.Phase
	if what == p.said && now.Sub(p.last) < plainPeriod {
		return
	}
	p.said, p.last = what, now
	fmt.Fprintln(p.Out, printable(nowLine(v)))
}

// nowLine is the work in progress in one line.
func nowLine(v View) string {
	n := v.Now
	line := n.Phase + ", " + n.Time
	if n.Step != "" {
		line = n.Step + ": " + line
	}
	for _, more := range []string{n.Message, n.Requests, n.Tokens, n.Latency, n.Server} {
		if more != "" {
			line += "; " + more
		}
	}
	if n.Share != nil && n.Requests == "" {
		line += fmt.Sprintf(" (%.0f %%)", 100**n.Share)
	}
	return line
}

// Snapshot writes all that is known of a run at one moment.
func Snapshot(out io.Writer, v View, unicode bool) {
	const width = 100
	f := frame{view: v, width: width, unicode: unicode}
	f.cursor = f.cursor.at(v)
	f.cursor = f.cursor.within(v)
	f.height = len(v.Rows) + 40
	lines := append(f.head(), f.wholeMatrix()...)
	if v.Now != nil {
		lines = append(lines, plainLine(nowLine(v)))
	} else {
		lines = append(lines, f.afterwards())
	}

	for _, g := range v.GPUs {
		lines = append(lines, plainLine(gpuLine(g)))
	}

	for _, s := range v.Steps {
		if s.Why != "" {
			lines = append(lines, plainLine(s.Brief()))
		}
	}

	for i, row := range resultsTable(v, width, unicode) {
		if i == 0 {
			lines = append(lines, line{}, plainLine("results so far"))
		}
		lines = append(lines, plainLine(row))
	}

	for _, l := range lines {
		fmt.Fprintln(out, l.bare())
	}
}

// wholeMatrix is the matrix without scrolling.
func (f *frame) wholeMatrix() []line {
	wide := *f
	for i := range f.view.Columns {
		wide.width += f.columnWidth(i)
	}
	lines := wide.matrix(len(f.view.Rows) + 2)
	if len(lines) == 0 {
		return nil
	}
	return lines[:len(lines)-1] // without the chosen step
}
