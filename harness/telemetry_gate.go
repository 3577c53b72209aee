package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchrig/metrics"
	"benchrig/results"
	"benchrig/scenarios"
)

// settle waits until the GPUs of a step are as calm as the scenario asks. When
// its time is up the step runs, with a warning; for what a GPU does not tell
// it does not wait.
func (r *Runner) settle(ctx context.Context, a attempt, w *watcher, result *results.Result) {
	asked := r.Scenario.Settle
	if asked.Timeout <= 0 || len(w.devices) == 0 || asked.MaxTemp <= 0 && asked.Power <= 0 {
		return
	}
	began, told := time.Now(), time.Time{}
	w.await(ctx, min(asked.Timeout, r.patience()))
	for {
		restless, silent := r.restless(w)
		waited := time.Since(began)
		if len(restless) == 0 || waited >= asked.Timeout || ctx.Err() != nil {
			if all := append(restless, silent...); len(all) > 0 {
				result.Warnings = append(result.Warnings, results.Warning{
					Code: results.WarnNotSettled, Message: fmt.Sprintf("after %.0f s: %s", waited.Seconds(), strings.Join(all, "; ")),
				})
			}
			return
		}
		if time.Since(told) >= settleTell {
			told = time.Now()
			r.observe(Update{
				Kind: StepSettling, Index: r.done + 1, Step: a.StepRef,
				Message: fmt.Sprintf("%s (waited %.0f s of %s)", strings.Join(restless, "; "), waited.Seconds(), asked.Timeout),
			})
		}
		pause(ctx, min(settlePoll, asked.Timeout-waited))
	}
}

// restless says which GPUs are not as calm as asked, and which do not tell.
func (r *Runner) restless(w *watcher) (restless, silent []string) {
	asked, last := r.Scenario.Settle, w.latest()
	for _, d := range w.devices {
		g, read := last[d.ID()]
		hottest := hottestOf(g)
		idle, idleKnown := r.watching.idle[d.ID()]
		switch {
		case !read:
			silent = append(silent, fmt.Sprintf("GPU %d gives no readings", d.Index))
		case asked.MaxTemp > 0 && hottest == nil:
			silent = append(silent, fmt.Sprintf("GPU %d does not tell its temperature", d.Index))
		case asked.MaxTemp > 0 && *hottest > asked.MaxTemp:
			restless = append(restless, fmt.Sprintf("GPU %d has %.0f degrees C, %.0f are asked", d.Index, *hottest, asked.MaxTemp))
		case asked.Power > 0 && (g.PowerW == nil || !idleKnown):
			silent = append(silent, fmt.Sprintf("GPU %d does not tell its power, now or when it was idle", d.Index))
		case asked.Power > 0 && *g.PowerW > asked.Power*idle:
			restless = append(restless, fmt.Sprintf("GPU %d draws %.0f W, %.0f W are asked (%.4g times idle)", d.Index, *g.PowerW, asked.Power*idle, asked.Power))
		}
	}
	return restless, silent
}

// hottestOf is the temperature of a GPU's hottest sensor.
func hottestOf(g results.GPUReading) *float64 {
	var hottest *float64
	for _, c := range []*float64{g.EdgeC, g.HotspotC, g.MemoryC} {
		if c != nil && (hottest == nil || *c > *hottest) {
			hottest = c
		}
	}
	return hottest
}

// doubtTelemetry adds the doubts that a step's telemetry gives. Those that the
// scenario ignores are noted only.
func (r *Runner) doubtTelemetry(result *results.Result) {
	t := result.Telemetry
	doubts := metrics.TelemetryWarnings(t)
	if other := r.otherLimits(t); other != "" {
		doubts = append(doubts, results.Warning{Code: results.WarnPowerLimit, Message: other})
	}
	for _, w := range doubts {
		if throttling(w.Code) && r.Scenario.Telemetry.OnThrottle == scenarios.ReactIgnore {
			t.Notes = append(t.Notes, fmt.Sprintf("%s (ignored): %s", w.Code, w.Message))
			continue
		}
		result.Warnings = append(result.Warnings, w)
	}
}

func throttling(code results.WarningCode) bool {
	return code == results.WarnThrottled || code == results.WarnPowerLimit
}

// otherLimits says which GPUs had another power limit than in the run's first
// step that knew it, or got one during the pass.
func (r *Runner) otherLimits(t *results.Telemetry) string {
	if r.watching.limits == nil {
		r.watching.limits = r.limitsBefore()
	}
	var all []string
	for _, g := range t.GPUs {
		if g.LimitChanged {
			all = append(all, fmt.Sprintf("the power limit of GPU %d changed during the pass", g.Index))
		}
		first, known := r.watching.limits[g.Device]
		switch {
		case g.PowerLimitW == nil:
		case !known:
			r.watching.limits[g.Device] = *g.PowerLimitW
		case metrics.OtherLimit(first, *g.PowerLimitW):
			all = append(all, fmt.Sprintf("GPU %d has a power limit of %.4g W, and had %.4g W in the run's first step", g.Index, *g.PowerLimitW, first))
		}
	}
	return strings.Join(all, "; ")
}

// limitsBefore are the first power limits of a run that was resumed.
func (r *Runner) limitsBefore() map[string]float64 {
	limits := map[string]float64{}
	if r.Resume == nil {
		return limits
	}
	run, err := results.Read(r.Folder.Dir())
	if err != nil {
		return limits // then the first step from here on is the first
	}
	slices.SortStableFunc(run.Steps, func(a, b results.Step) int { return strings.Compare(a.Result.StartedAt, b.Result.StartedAt) })
	for _, step := range run.Steps {
		if step.Result.Telemetry == nil {
			continue
		}
		for _, g := range step.Result.Telemetry.GPUs {
			if _, known := limits[g.Device]; !known && g.PowerLimitW != nil {
				limits[g.Device] = *g.PowerLimitW
			}
		}
	}
	return limits
}

// mustRepeat says why a measured step is to be repeated if it still may; nil
// if it stands as it is.
func (r *Runner) mustRepeat(result *results.Result) *results.Failure {
	if result.Verdict == results.Failed {
		return nil
	}
	for _, w := range result.Warnings {
		repeated := throttling(w.Code) && r.Scenario.Telemetry.OnThrottle == scenarios.ReactRepeat ||
			w.Code == results.WarnForeignGPUUser && r.Scenario.Telemetry.OnForeign == scenarios.ReactRepeat
		if repeated {
			return results.Failf(results.FailDisturbed, "%s: %s", w.Code, w.Message)
		}
	}
	return nil
}
