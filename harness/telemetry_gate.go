package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// doubtTelemetry adds the doubts that a step's telemetry gives. Those that the
// scenario ignores are noted only.
func (r *Runner) doubtTelemetry(result *results.Result) {
	t := result.Telemetry
	doubts := telemetry.Warnings(t)
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
		case telemetry.OtherLimit(first, *g.PowerLimitW):
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
