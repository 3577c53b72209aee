package step

import (
	"context"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// watchdog ends a pass in which requests are outstanding and none gets a token
// for the limit. What a server says of its health does not count.
type watchdog struct {
	limits scenarios.Watchdog
	end    func(*results.Failure)

	watch *awake.Watch // for time in which nobody could look

	mu     sync.Mutex // guards what follows
	since  time.Time  // of the last sign of progress
	lost   awake.Lost // until then
	chunks int64
	ended  int // requests that have ended
}

// guardProgress returns a context that ends when the pass goes beyond a limit, and
// the function that must get every snapshot of its progress. A limit of 0 never
// ends it.
func guardProgress(ctx context.Context, limits scenarios.Watchdog) (
	guarded context.Context, observe func(load.Progress), free func(),
) {
	guarded, endPass := context.WithCancelCause(ctx)
	guarded = context.WithValue(guarded, enderKey{}, endPass)
	w := &watchdog{
		limits: limits, end: func(why *results.Failure) { End(guarded, why) }, since: time.Now(),
		watch: awake.Notice(guarded),
	}
	return guarded, w.observe, func() { endPass(nil) }
}

type enderKey struct{}

// End ends the pass that a context belongs to, for a reason. Whoever watches a pass
// is given its context.
func End(ctx context.Context, why *results.Failure) {
	if end, ok := ctx.Value(enderKey{}).(context.CancelCauseFunc); ok {
		end(why)
	}
}

// observe takes in a snapshot. A request that ends moves the pass as a token does:
// the client's own limits ended it, or the server.
func (w *watchdog) observe(p load.Progress) {
	if w.limits.Stall <= 0 {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	ended := p.Completed + p.Failed
	if p.OutputChunks != w.chunks || ended != w.ended || p.InFlight == 0 {
		w.chunks, w.ended, w.since, w.lost = p.OutputChunks, ended, time.Now(), w.watch.Lost()
		return
	}

	if idle := time.Since(w.since) - w.watch.Lost().Since(w.lost).Stopped; idle >= w.limits.Stall {
		w.end(results.Failf(results.FailNoProgress,
			"no token of any request for %s while %d were outstanding (watchdog.stall is %s)",
			idle.Round(time.Second), p.InFlight, w.limits.Stall))
	}
}

// notifyBoth passes the progress of a pass to the watchdog and to another
// observer; nil: there is none.
func notifyBoth(watchdog, other func(load.Progress)) func(load.Progress) {
	return func(p load.Progress) {
		watchdog(p)
		if other != nil {
			other(p)
		}
	}
}

// countersWentBack returns a failure if a counter of a server is less than it was,
// also if only for a while: the server is not the one that the pass began with,
// and the figures belong to neither.
func countersWentBack(servers []Server, before, after []map[string]float64,
	between []results.ServerMetrics,
) *results.Failure {
	for i, s := range servers {
		fell := scrape.CountersWentBack(before[i], after[i])
		for _, m := range between {
			if m.Replica == s.Info().Replica {
				fell = append(fell, m.WentBack...)
			}
		}
		if len(fell) > 0 {
			return results.Failf(results.FailRestarted,
				"counter %s of %s went back during the pass: the server was restarted", fell[0], s.Info().BaseURL)
		}
	}

	return nil
}
