// Package progress writes what happens in a run as lines.
//
// What goes in: updates of the runner, what live.json says, a log. What comes out:
// a line for each event, the same as JSON in the log, and on a terminal a line that
// is rewritten while requests run. It decides nothing and never fails a run.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

// plainPeriod is how often a running step is reported where lines cannot be
// rewritten.
const plainPeriod = 10 * time.Second

// Progress shows the user what happens. It is safe for concurrent use.
type Progress struct {
	out           io.Writer
	terminal      bool // lines can be rewritten
	log           zerolog.Logger
	began         time.Time // of the current launch
	lastPlain     time.Time
	rewriting     bool
	launchFailure *results.Failure // of the launch, said once
	hidden        func() bool      // what goes on is shown otherwise; nil: never

	mu   sync.Mutex // guards all above
	head string     // which step of how many
}

// New reports the run in dir on out; terminal says that lines there can be
// rewritten. While hidden reports true, progress is shown otherwise.
func New(out io.Writer, terminal bool, log zerolog.Logger, dir string, hidden func() bool) *Progress {
	fmt.Fprintf(out, "results: %s\n", dir)
	return &Progress{out: out, terminal: terminal, log: log, hidden: hidden}
}

// Observe reports an event.
func (p *Progress) Observe(u status.Update) {
	p.mu.Lock()
	defer p.mu.Unlock()

	head := fmt.Sprintf("[%d/%d]", u.Index, u.Total)
	p.head = head
	step := fmt.Sprintf("%s %s %s r%d:", head, u.Step.Variant, u.Step.Point, u.Step.Repeat)
	life := head + " " + u.Step.Variant
	if u.Pass > 1 {
		step = fmt.Sprintf("%s %s %s r%d, pass %d:", head, u.Step.Variant, u.Step.Point, u.Step.Repeat, u.Pass)
		life = fmt.Sprintf("%s, pass %d", life, u.Pass)
	}

	switch u.Kind {
	case status.LifeStopping, status.StepBegun: // nothing that needs saying
	case status.LifeLaunching:
		p.began = time.Now()
		p.line(u, "%s: launching", life)
	case status.LifeReady:
		p.line(u, "%s: ready after %.1f s at %s", life, time.Since(p.began).Seconds(), addresses(u.Servers))
	case status.LifeFailed:
		p.launchFailure = u.Failure
		p.line(u, "%s: launch failed: %s", life, u.Failure.Error())
	case status.StepSettling:
		p.line(u, "%s waiting: %s", step, u.Message)
	case harness.TestMeasured:
		p.line(u, "%s %s", step, u.Message)
	case status.StepWarning:
		p.line(u, "%s warning: %s", step, u.Message)
	case status.HookRan:
		p.hook(u)
	case status.StepNotNeeded:
		p.line(u, "%s %s: %s", step, u.Failure.Class, u.Failure.Message)
	case status.StepProgress:
		p.running(step, u)
	case status.StepEnded:
		p.line(u, "%s %s", step, report.Outcome(u.Result, p.launchFailure))
	case status.LifeEnded:
		if u.Failure != nil {
			p.line(u, "%s could not be proven gone: %s", u.Life, u.Failure.Error())
		}
	}
}

// Waiting reports what takes long and has no requests to count. It is called
// once a second.
func (p *Progress) Waiting(l results.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const worth = 2 // seconds, where the line can be rewritten
	switch {
	case l.Phase == results.LiveMeasuring && l.Requests != nil, p.hidden != nil && p.hidden():
	case p.terminal && l.PhaseS >= worth:
		fmt.Fprintf(p.out, "\r\x1b[K%s %s", p.head, text.Clean(live.Line(l)))
		p.rewriting = true
	case !p.terminal && l.PhaseS >= plainPeriod.Seconds() && time.Since(p.lastPlain) >= plainPeriod:
		fmt.Fprintf(p.out, "%s %s\n", p.head, text.Clean(live.Line(l)))
		p.lastPlain = time.Now()
	}
}

func (p *Progress) line(u status.Update, format string, args ...any) {
	line := text.Clean(fmt.Sprintf(format, args...)) // messages hold words of servers and tools
	if p.rewriting {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.rewriting = false
	}
	fmt.Fprintln(p.out, line)
	entry := p.log.Info().Str("event", string(u.Kind)).Str("life", u.Life).Str("step", u.Step.ID)
	entry.Msg(line)
	p.lastPlain = time.Now()
}

func (p *Progress) running(step string, u status.Update) {
	shown := fmt.Sprintf("%s %d/%d requests, %d in flight, %d failed", step, u.Progress.Completed+u.Progress.Failed,
		u.Progress.Total, u.Progress.InFlight, u.Progress.Failed)
	if p.hidden != nil && p.hidden() {
		return
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", shown)
		p.rewriting = true
		return
	}
	if time.Since(p.lastPlain) >= plainPeriod {
		p.line(u, "%s", shown)
	}
}

// hook reports a hook that did not do what it should, and notes the others.
func (p *Progress) hook(u status.Update) {
	h := u.Hook
	what := fmt.Sprintf("%s %s (%s)", h.When, h.Name, h.Level)
	switch {
	case h.OK:
		p.log.Info().Str("event", string(u.Kind)).Str("life", u.Life).Str("step", u.Step.ID).Float64("took_s",
			h.TookS).Msg(what + ": " + h.Message)
	case h.When == "notify":
		p.log.Warn().Str("event", string(u.Kind)).Msg(what + ": " + h.Message)
	default:
		p.line(u, "%s failed: %s", what, h.Message)
	}
}

func addresses(servers []results.Server) string {
	urls := make([]string, len(servers))
	for i, s := range servers {
		urls[i] = s.BaseURL
	}
	return strings.Join(urls, ", ")
}
