package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/benchrig/bench/load"
)

// Load shows how far a single pass is: one line that is rewritten on a terminal,
// else one every plainPeriod.
type Load struct {
	out       io.Writer
	rewriting bool // lines can be rewritten
	quiet     bool
	last      time.Time
	anything  bool
}

// OfLoad begins to tell on out how far a pass is; quiet says nothing.
func OfLoad(out io.Writer, rewriting, quiet bool) *Load {
	return &Load{out: out, rewriting: rewriting, quiet: quiet, last: time.Now()}
}

// Update says how far the pass is now.
func (l *Load) Update(u load.Progress) {
	if l.quiet || !l.rewriting && time.Since(l.last) < plainPeriod {
		return
	}

	l.last, l.anything = time.Now(), true
	if l.rewriting {
		fmt.Fprintf(l.out, "\r\x1b[K%s", loadText(u))
		return
	}
	fmt.Fprintln(l.out, loadText(u))
}

// End ends a line that was rewritten.
func (l *Load) End() {
	if l.anything && l.rewriting {
		fmt.Fprintln(l.out)
	}
}

// loadText is how far a pass is, in a line.
func loadText(u load.Progress) string {
	total := ""
	if u.Total > 0 {
		total = fmt.Sprintf("/%d", u.Total)
	}
	return fmt.Sprintf("%d%s requests, %d in flight, %d failed, %d chunks, %.0f s",
		u.Completed+u.Failed, total, u.InFlight, u.Failed, u.OutputChunks, u.Elapsed.Seconds())
}
