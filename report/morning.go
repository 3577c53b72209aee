package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Night is a run as it stands the morning after.
type Night struct {
	Run    *results.Run
	Writer bool // a process still carries it out
}

// ReadNights reads the runs of folders that were written to since a moment, the
// oldest first; those that cannot be read are errors beside the others.
func ReadNights(folders []string, since time.Time) ([]Night, error) {
	dirs, err := store.RunsSince(folders, since)
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) })

	var nights []Night
	for _, dir := range dirs {
		folder, failed := store.Open(dir)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		writer := folder.Locked()
		run, failed := store.Read(dir)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		nights = append(nights, Night{run, writer})
	}
	return nights, err
}

// Morning prints what somebody wants to know of the runs of a night: which ended
// and how, what won by how much, what failed and why, and what to do.
func Morning(w io.Writer, nights []Night, opts table.Options) error {
	p := table.NewPrinter(opts)
	good := 0
	for _, n := range nights {
		if n.good() {
			good++
		}
	}
	p.Line(p.Bold(fmt.Sprintf("%s: %d as planned, %d need attention", text.Count(len(nights), "run"), good,
		len(nights)-good)))

	for _, n := range nights {
		n.print(p)
	}
	return p.Flush(w)
}

// good reports whether nothing is to be looked at or done.
func (n Night) good() bool {
	_, last := n.span()
	return n.Run.Finished && !last.IsZero() && n.Run.EndedEarly() == nil && len(n.Run.Problems) == 0 &&
		!slices.ContainsFunc(n.Run.Steps, func(s results.Step) bool { return s.Result.Verdict != results.OK })
}

func (n Night) print(p *table.Printer) {
	h := headlineOf(n.Run)
	p.Line("")
	p.Wrapped("", p.Bold(h.title)+": "+n.standing())
	if h.sets != "" {
		p.Wrapped("  ", h.sets)
	}
	p.Wrapped("  ", h.counts)
	if h.simulated != "" {
		p.Wrapped("  ", h.simulated)
	}
	for _, line := range StandingOf(n.Run).Lines {
		p.Wrapped("  ", line)
	}

	for _, g := range collectFailures(n.Run) {
		if g.failure.Class == results.FailInterrupted {
			continue // how the run ended says it
		}
		p.Wrapped("  ", fmt.Sprintf("%s%s, %s: %s: %s", p.Bad(g.verdict), g.classText(),
			text.Count(len(g.steps), "step"), text.Few(g.steps), g.words()))
		if do := g.do(); do != "" {
			p.Wrapped("    ", "What to do: "+do)
		}
	}
	for _, g := range collectSuspicions(n.Run) {
		p.Wrapped("  ", fmt.Sprintf("suspect: %s, %s: %s", g.code, text.Count(g.steps, "step"), g.entry.Meaning))
		if g.entry.Do != "" {
			p.Wrapped("    ", "What to do: "+g.entry.Do)
		}
	}
	for _, problem := range n.Run.Problems {
		p.Wrapped("  ", "damage in the folder: "+text.Clean(problem))
	}
	for _, line := range n.next() {
		p.Wrapped("  ", line)
	}
}

// standing says how the run ended, and when.
func (n Night) standing() string {
	began, last := n.span()
	at := " at " + last.Format("2006-01-02 15:04") + " after " + last.Sub(began).Round(time.Second).String()
	switch failure := n.Run.EndedEarly(); {
	case last.IsZero():
		return "nothing is recorded of its end"
	case n.Writer:
		return "still running; last event" + at
	case !n.Run.Finished && len(n.Run.Manifest.Groups) > 0:
		return "not finished; last event" + at
	case !n.Run.Finished:
		return "killed; last event" + at
	case failure != nil:
		return "ended early" + at + ": " + text.Clean(failure.Error())
	}
	return "ended" + at
}

// span is when the run began, and the last moment that is recorded of it.
func (n Night) span() (began, last time.Time) {
	for _, e := range n.Run.Events {
		if began.IsZero() || e.Time.Before(began) {
			began = e.Time
		}
		if e.Time.After(last) {
			last = e.Time
		}
	}
	return began, last
}

// next are the commands that are of use now.
func (n Night) next() []string {
	dir := text.Clean(n.Run.Dir)
	failed := slices.ContainsFunc(n.Run.Steps, func(s results.Step) bool { return s.Result.Verdict == results.Failed })
	var lines []string
	switch open := openSteps(n.Run); {
	case n.Writer:
		return []string{"to look at it: bench watch " + dir}
	case !n.Run.Finished && len(n.Run.Manifest.Groups) > 0:
		lines = append(lines, "how its jobs stand: bench watch --once "+dir)
	case open > 0:
		lines = append(lines, fmt.Sprintf("%s left; to continue: bench resume %s", text.Count(open, "step"), dir))
	}
	if failed {
		lines = append(lines, "to try failed steps again: bench resume --retry-failed "+dir)
	}
	return append(lines, "all figures: bench report "+dir)
}
