package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Thresholds of the doubts about telemetry.
const (
	energyTolerance = 0.05 // counter against readings
	gapShare        = 0.05 // of the readings that failed
)

// Warnings lists the doubts that the telemetry of a step gives.
func Warnings(t *results.Telemetry) []results.Warning {
	if t == nil || t.Sum == nil {
		return nil
	}
	var all []results.Warning
	for _, check := range []func(*results.Telemetry) *results.Warning{
		warnThrottled, warnPowerCapped, warnPowerUnknown,
		warnEnergy, warnGaps,
	} {
		if w := check(t); w != nil {
			all = append(all, *w)
		}
	}
	return all
}

// warnThrottled is about slowing down for any reason but the power limit, at
// which a GPU under load may run all the time.
func warnThrottled(t *results.Telemetry) *results.Warning {
	return throttleWarning(t, results.WarnThrottled, "slowed down",
		func(reason string) bool { return reason != results.ThrottlePower })
}

func warnPowerCapped(t *results.Telemetry) *results.Warning {
	return throttleWarning(t, results.WarnPowerCapped, "ran at the power limit",
		func(reason string) bool { return reason == results.ThrottlePower })
}

func throttleWarning(t *results.Telemetry, code results.WarningCode, what string,
	counts func(string) bool,
) *results.Warning {
	var parts []string
	for _, g := range t.GPUs {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(g.Pass.Throttle)) {
			if share := g.Pass.Throttle[reason]; counts(reason) && share > 0 {
				reasons = append(reasons, fmt.Sprintf("%s %s of the time", reason, percentOf(share)))
			}
		}
		if reasons != nil {
			parts = append(parts, fmt.Sprintf("GPU %d %s (%s)", g.Index, what, strings.Join(reasons, ", ")))
		}
	}

	if parts == nil {
		return nil
	}

	return &results.Warning{Code: code, Message: strings.Join(parts, "; ")}
}

// percentOf prints a share that is not 0 so that it does not look like 0.
func percentOf(share float64) string {
	if share < 0.001 {
		return "less than 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

func warnPowerUnknown(t *results.Telemetry) *results.Warning {
	if t.Sum.Pass.NoEnergy == "" {
		return nil
	}
	return metrics.Warnf(results.WarnPowerUnknown, "there is no energy and no energy per token: %s",
		t.Sum.Pass.NoEnergy)
}

// warnEnergy speaks of the GPU that disagrees most.
func warnEnergy(t *results.Telemetry) *results.Warning {
	worst := slices.MaxFunc(t.GPUs, func(a, b results.GPUFigures) int {
		return cmp.Compare(disagreement(a), disagreement(b))
	})
	if disagreement(worst) <= energyTolerance {
		return nil
	}
	return metrics.Warnf(results.WarnEnergy, "GPU %d: its energy counter says %.1f J, its power readings give %.1f J "+
		"(%+.1f %%)",
		worst.Index, *worst.Pass.CounterJ, *worst.Pass.EnergyJ, 100**worst.Pass.Disagreement)
}

// disagreement is 0 where nothing can be said.
func disagreement(g results.GPUFigures) float64 {
	if g.Pass.Disagreement == nil || g.Pass.ToS-g.Pass.FromS < shortestWindowS {
		return 0
	}
	return math.Abs(*g.Pass.Disagreement)
}

func warnGaps(t *results.Telemetry) *results.Warning {
	limit := longestGapS
	if t.PeriodS != nil {
		limit = max(limit, longestGapPeriods**t.PeriodS)
	}
	tooLong := t.LongestGapS != nil && *t.LongestGapS > limit
	tooMany := float64(t.Gaps) > gapShare*float64(t.Readings+t.Gaps)
	if !tooLong && !tooMany {
		return nil
	}
	longest := 0.0
	if t.LongestGapS != nil {
		longest = *t.LongestGapS
	}
	return metrics.Warnf(results.WarnTelemetryGaps, "%s of the GPUs, %d failed, the longest time without one %.1f s: "+
		"peaks may have been missed", text.Count(t.Readings, "reading"), t.Gaps, longest)
}
