package harness

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Notifier reports the progress of a run to somebody. It works after ctx has ended, takes
// seconds at most, and what goes wrong is in the record alone.
type Notifier interface {
	Notify(ctx context.Context, n scenarios.Notify, m hooks.Message) results.HookRecord
}

// notifications informs those whom the scenario names about a run's first failure and about
// its end.
type notifications struct {
	run      *run
	notifier Notifier // nil: nobody is notified
	runID    string
	began    time.Time
	failed   bool // the first failure was reported
}

// failure reports the first step that failed for good.
func (n *notifications) failure(result *results.Result) {
	if n.failed || result.Verdict != results.Failed || result.Failure.Class == results.FailSkipped {
		return
	}
	n.failed = true
	m := n.message(hooks.NotifyFirstFailure)
	m.Step, m.Reason = result.Step.ID, result.Failure.Error()
	n.send(context.Background(), m)
}

// end reports that the run has ended, and why if before its plan did.
func (n *notifications) end(ctx context.Context) {
	m := n.message(hooks.NotifyEnd)
	m.Best, m.Causes = n.best(), n.causes()
	if why := n.run.ledger.outcome.Ended; why != nil {
		m.Reason = why.Error()
	}
	n.send(ctx, m)
}

// causes say why steps have no figures.
func (n *notifications) causes() []string {
	var lines []string
	for _, c := range n.run.ledger.causes {
		lines = append(lines, fmt.Sprintf("%s: %s", text.Count(c.steps, "step"), c.failure.Error()))
	}
	return lines
}

// best are the variants by their best output rate, the fastest first. It is a look
// at the numbers, not a comparison: the report makes that.
func (n *notifications) best() []string {
	rates := slices.SortedStableFunc(maps.Values(n.run.ledger.best), func(a, b rate) int {
		return cmp.Or(cmp.Compare(b.tokens, a.tokens), cmp.Compare(a.variant, b.variant))
	})
	var lines []string
	const most = 3
	for _, r := range rates[:min(most, len(rates))] {
		lines = append(lines, fmt.Sprintf("%s: up to %.1f output tok/s (%s)", r.variant, r.tokens, r.point))
	}
	return lines
}

func (n *notifications) message(event string) hooks.Message {
	host, _ := os.Hostname() // "" where the system does not know
	dir := n.run.folder.Dir()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	o := n.run.ledger.outcome
	return hooks.Message{
		Event: event, Scenario: n.run.scenario.Name, Run: n.runID, Host: host, Folder: dir,
		OK: o.OK, Suspect: o.Suspect, Failed: o.Failed, NotRun: o.NotRun,
		Planned: len(n.run.plan.Refs()) - o.NotNeeded, TookS: time.Since(n.began).Seconds(),
	}
}

func (n *notifications) send(ctx context.Context, m hooks.Message) {
	for _, to := range n.run.scenario.Notify {
		if n.notifier == nil || !slices.Contains(to.On, m.Event) {
			continue
		}
		record := n.notifier.Notify(ctx, to, m)
		// a notification fails nothing
		_ = n.run.record.appendEvent(results.Event{Kind: results.HookFinished, Step: m.Step, Hook: &record})
		n.run.observeHook(status.Update{Kind: status.HookRan, Hook: &record})
	}
}
