package plan

import (
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
)

// restartOf is the scenario's policy, or that of a method whose steps each have
// programs of their own.
func restartOf(sc *scenarios.Scenario) scenarios.Restart {
	if sc.Method == scenarios.SQZB || !sc.Method.SendsRequests() {
		return scenarios.RestartStep
	}
	return sc.Restart
}

// kindOf is what a variant launches.
func kindOf(sc *scenarios.Scenario, v scenarios.Variant) (engines.Kind, bool) {
	if program, ok := engines.MeasuringProgram(string(sc.Method)); ok {
		return programKind(sc, v, program), true
	}
	return engines.Lookup(v.Server.Launcher)
}

// withSecondPass plans the life of the second pass behind that of the first:
// the same servers, started again.
func withSecondPass(life Life, names namer) Life {
	second := life
	second.ID, second.Steps, second.EstimateS = names.name("%s-pass-%d", life.ID, 2), []Step{}, 0
	life.EstimateS *= 2
	life.SecondPass = &second
	return life
}
