package harness

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Notifier tells somebody how a run goes. It works after ctx has ended, takes
// seconds at most, and what goes wrong is in the record alone.
type Notifier interface {
	Notify(ctx context.Context, n scenarios.Notify, m hooks.Message) results.HookRecord
}

// notifyFailure tells of the first step that failed for good.
func (r *Runner) notifyFailure(result *results.Result) {
	if r.hooks.told || result.Verdict != results.Failed || result.Failure.Class == results.FailSkipped {
		return
	}
	r.hooks.told = true
	m := r.message(hooks.NotifyFirstFailure)
	m.Step, m.Reason = result.Step.ID, result.Failure.Error()
	r.notify(context.Background(), m)
}

func (r *Runner) notifyEnd(ctx context.Context) {
	m := r.message(hooks.NotifyEnd)
	if why := r.outcome.Ended; why != nil {
		m.Reason = why.Error()
	}
	r.notify(ctx, m)
}

func (r *Runner) message(event string) hooks.Message {
	host, _ := os.Hostname() // "" where the system does not know
	o := r.outcome
	return hooks.Message{
		Event: event, Scenario: r.Scenario.Name, Run: r.RunID, Host: host, Folder: r.absDir(),
		OK: o.OK, Suspect: o.Suspect, Failed: o.Failed, NotRun: o.NotRun, Planned: len(r.Plan.Refs()) - o.Spared, TookS: time.Since(r.hooks.began).Seconds(),
	}
}

func (r *Runner) notify(ctx context.Context, m hooks.Message) {
	for _, n := range r.Scenario.Notify {
		if r.Notifier == nil || !slices.Contains(n.On, m.Event) {
			continue
		}
		record := r.Notifier.Notify(ctx, n, m)
		_ = r.tell(results.Event{Kind: results.HookFinished, Step: m.Step, Hook: &record}) // a notification fails nothing
		r.observe(status.Update{Kind: status.HookRan, Index: r.done, Hook: &record})
	}
}
