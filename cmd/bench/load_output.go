package main

import (
	"fmt"
	"time"

	"github.com/benchrig/bench/harness/progress"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printLoad prints the result block on stdout, and below it what is to be
// known about the figures.
func printLoad(e env, f *vllmcli.Flags, r *results.Result) error {
	shown, err := f.ShownMetrics()
	if err != nil {
		return usageError(err)
	}
	compat := results.Generation(f.Dataset.Compat)
	if compat == "" {
		err = detail.Block(e.stdout, r, shown...)
	} else {
		err = detail.CompatBlock(e.stdout, r, compat, shown...)
	}
	if err != nil {
		return err
	}
	return detail.Remarks(e.stdout, r, table.Options{Width: e.width, Color: e.width > 0})
}

// printAgents says what each agent did and how well its clock is known.
func printAgents(e env, result *results.Result) {
	if result.Client == nil {
		return
	}
	for _, a := range result.Client.Agents {
		limit := ""
		if a.MaxConcurrency > 0 {
			limit = fmt.Sprintf(", at most %d at once", a.MaxConcurrency)
		}
		fmt.Fprintf(e.Stderr, "agent %s on %s: %d requests%s, clock known within %.3f ms\n", a.Name, a.Host, a.Requests,
			limit, a.OffsetBoundS*1000)
	}
}

// loadProgress is the progress of bench load on stderr: one line that is
// rewritten on a terminal, else one every ten seconds.
type loadProgress struct {
	e        env
	quiet    bool
	last     time.Time
	anything bool
}

func newLoadProgress(e env, quiet bool) *loadProgress {
	return &loadProgress{e: e, quiet: quiet, last: time.Now()}
}

func (p *loadProgress) update(u load.Progress) {
	if p.quiet || !p.e.screen.Rewriting && time.Since(p.last) < progress.PlainPeriod {
		return
	}
	p.last, p.anything = time.Now(), true
	text := progressText(u)
	if p.e.screen.Rewriting {
		fmt.Fprintf(p.e.Stderr, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(p.e.Stderr, text)
}

func (p *loadProgress) end() {
	if p.anything && p.e.screen.Rewriting {
		fmt.Fprintln(p.e.Stderr)
	}
}

// progressText is how far a pass is, in a line.
func progressText(u load.Progress) string {
	total := ""
	if u.Total > 0 {
		total = fmt.Sprintf("/%d", u.Total)
	}
	return fmt.Sprintf("%d%s requests, %d in flight, %d failed, %d chunks, %.0f s",
		u.Completed+u.Failed, total, u.InFlight, u.Failed, u.OutputChunks, u.Elapsed.Seconds())
}
