package telemetry

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// warnOfTelemetry adds the doubts that a step's telemetry gives. Those that the
// scenario ignores are noted only.
func (m *Monitor) warnOfTelemetry(result *results.Result) {
	t := result.Telemetry
	doubts := telemetry.Warnings(t)
	if other := m.otherLimits(t); other != "" {
		doubts = append(doubts, results.Warning{Code: results.WarnPowerLimit, Message: other})
	}
	for _, w := range doubts {
		if throttling(w.Code) && m.Scenario.Telemetry.OnThrottle == scenarios.ReactIgnore {
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
func (m *Monitor) otherLimits(t *results.Telemetry) string {
	if m.limits == nil {
		m.limits = map[string]float64{}
		if m.FirstLimits != nil {
			m.limits = m.FirstLimits()
		}
	}

	var all []string
	for _, g := range t.GPUs {
		if g.LimitChanged {
			all = append(all, fmt.Sprintf("the power limit of GPU %d changed during the pass", g.Index))
		}
		first, known := m.limits[g.Device]
		switch {
		case g.PowerLimitW == nil:
		case !known:
			m.limits[g.Device] = *g.PowerLimitW
		case telemetry.OtherLimit(first, *g.PowerLimitW):
			all = append(all, fmt.Sprintf("GPU %d has a power limit of %.4g W, and had %.4g W in the run's first step",
				g.Index, *g.PowerLimitW, first))
		}
	}

	return strings.Join(all, "; ")
}

// MustRepeat says why a measured step is to be repeated if it still may; nil
// if it stands as it is.
func (m *Monitor) MustRepeat(result *results.Result) *results.Failure {
	if result.Verdict == results.Failed {
		return nil
	}
	for _, w := range result.Warnings {
		repeated := throttling(w.Code) && m.Scenario.Telemetry.OnThrottle == scenarios.ReactRepeat ||
			w.Code == results.WarnForeignGPUUser && m.Scenario.Telemetry.OnForeign == scenarios.ReactRepeat
		if repeated {
			return results.Failf(results.FailDisturbed, "%s: %s", w.Code, w.Message)
		}
	}
	return nil
}
