package plan

import (
	"time"

	"github.com/benchrig/bench/scenarios"
)

// A step for which the scenario sets no deadline may take usualLimit, or that many
// times its estimate where that is longer: a server that sends without end must
// not hold up a run for ever.
const (
	usualLimit    = 6 * time.Hour
	timesEstimate = 10
)

// StepLimit is how long a step may take once its servers are up, and whether the
// scenario says so (deadlines.step).
func StepLimit(sc *scenarios.Scenario, s Step) (limit time.Duration, asked bool) {
	if sc.StepDeadline > 0 {
		return sc.StepDeadline, true
	}
	return max(usualLimit, time.Duration(timesEstimate*s.EstimateS*float64(time.Second))), false
}

// LimitNote says which limit steps have without a deadline of their own.
func LimitNote() string {
	return "a step is ended after 6 h, or ten times its estimate if that is longer; deadlines.step sets another limit"
}
