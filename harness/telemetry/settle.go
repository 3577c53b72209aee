package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// When a clock counts as calm.
const (
	stableFor    = 3 * time.Second
	stableWithin = 0.02 // of the highest
	nearIdle     = 1.1  // times that of the idle GPU
)

// settle waits until the GPUs of a step are as calm as the scenario asks. When
// its time is up the step runs, with a warning; for what a GPU does not tell
// it does not wait.
func (m *Monitor) settle(ctx context.Context, ref results.StepRef, w *watcher, result *results.Result) {
	asked := m.Scenario.Settle
	if asked.Timeout <= 0 || len(w.devices) == 0 || !asked.Asks() {
		return
	}

	began, reportedAt := time.Now(), time.Time{}
	gate := settleGate{asked: asked, known: m, clocks: map[string][]clockAt{}}
	w.await(ctx, min(asked.Timeout, m.patience()))
	for {
		restless, silent := gate.look(w)
		waited := time.Since(began)
		if len(restless) == 0 || waited >= asked.Timeout || ctx.Err() != nil {
			if all := append(restless, silent...); len(all) > 0 {
				result.Warnf(results.WarnNotSettled, "after %.0f s: %s", waited.Seconds(), strings.Join(all, "; "))
			}
			return
		}
		if time.Since(reportedAt) >= settleReportPeriod {
			reportedAt = time.Now()
			m.Observe(status.Update{
				Kind: status.StepSettling, Step: ref,
				Message: fmt.Sprintf("%s (waited %.0f s of %s)", strings.Join(restless, "; "), waited.Seconds(),
					asked.Timeout),
			})
		}
		sleep.For(ctx, min(settlePoll, asked.Timeout-waited))
	}
}

// settleGate judges readings of GPUs by what the scenario asks.
type settleGate struct {
	asked  scenarios.Settle
	known  *Monitor
	clocks map[string][]clockAt // by device, of the last stableFor and one before
}

type clockAt struct {
	at time.Time
	hz float64
}

// look says which GPUs are not as calm as asked, and which do not tell.
func (s *settleGate) look(w *watcher) (restless, silent []string) {
	last := w.latest()
	for _, d := range w.devices {
		g, read := last[d.ID()]
		if !read {
			silent = append(silent, fmt.Sprintf("GPU %d gives no readings", d.Index))
			continue
		}
		still, mute := s.clock(d, g)
		warm, unknown := s.warmth(d, g)
		if still = cmp.Or(warm, still); still != "" {
			restless = append(restless, still)
		} else if mute = cmp.Or(unknown, mute); mute != "" {
			silent = append(silent, mute)
		}
	}

	return restless, silent
}

// warmth judges temperature and power.
func (s *settleGate) warmth(d device.Device, g results.GPUReading) (restless, silent string) {
	hottest := status.HottestOf(g)
	idle, idleKnown := s.known.idle[d.ID()]
	switch {
	case s.asked.MaxTemp > 0 && hottest != nil && *hottest > s.asked.MaxTemp:
		return fmt.Sprintf("GPU %d has %.0f degrees C, the limit is %.0f", d.Index, *hottest, s.asked.MaxTemp), ""
	case s.asked.Power > 0 && g.PowerW != nil && idleKnown && *g.PowerW > s.asked.Power*idle:
		return fmt.Sprintf("GPU %d draws %.0f W, the limit is %.0f W (%.4g times idle)", d.Index, *g.PowerW,
			s.asked.Power*idle, s.asked.Power), ""
	case s.asked.MaxTemp > 0 && hottest == nil:
		return "", fmt.Sprintf("GPU %d does not report its temperature", d.Index)
	case s.asked.Power > 0 && (g.PowerW == nil || !idleKnown):
		return "", fmt.Sprintf("GPU %d does not report its power, now or when it was idle", d.Index)
	}
	return "", ""
}

// clock judges the clock of the cores.
func (s *settleGate) clock(d device.Device, g results.GPUReading) (restless, silent string) {
	idle, idleKnown := s.known.idleHz[d.ID()]
	switch {
	case s.asked.Clock == "":
		return "", ""
	case g.CoreHz == nil || s.asked.Clock == scenarios.ClockIdle && !idleKnown:
		return "", fmt.Sprintf("GPU %d does not report its clock, now or when it was idle", d.Index)
	case s.asked.Clock == scenarios.ClockIdle && *g.CoreHz > nearIdle*idle:
		return fmt.Sprintf("GPU %d runs at %.0f MHz, the limit is %.0f MHz (%.4g times idle)", d.Index, *g.CoreHz/1e6,
			nearIdle*idle/1e6, nearIdle), ""
	case s.asked.Clock == scenarios.ClockStable && !s.stable(d.ID(), *g.CoreHz):
		return fmt.Sprintf("the clock of GPU %d moves, or was not watched for %s: %.0f MHz now", d.Index, stableFor,
			*g.CoreHz/1e6), ""
	}
	return "", ""
}

// stable takes in a clock and reports whether it has stood still long enough.
func (s *settleGate) stable(device string, hz float64) bool {
	now := time.Now()
	seen := append(s.clocks[device], clockAt{now, hz})
	for len(seen) > 1 && now.Sub(seen[1].at) >= stableFor {
		seen = seen[1:]
	}
	s.clocks[device] = seen
	low, high := hz, hz
	for _, c := range seen {
		low, high = min(low, c.hz), max(high, c.hz)
	}
	return now.Sub(seen[0].at) >= stableFor && high-low <= stableWithin*high
}
