package session

import (
	"fmt"
	"io"
	"slices"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/scenarios"
)

// Warnings are what may keep steps of a scenario from running, and what is
// perhaps not meant.
func Warnings(sc *scenarios.Scenario) []string {
	warnings := []string{}
	for _, warning := range slices.Concat(sc.Warnings, plan.RecipeWarnings(sc)) {
		warnings = append(warnings, fmt.Sprint(warning))
	}
	for _, problem := range sc.Problems() {
		warnings = append(warnings, problem.Error())
	}
	return warnings
}

// Warn writes Warnings and further ones, and what --sim changed.
func Warn(w io.Writer, sc *scenarios.Scenario, further ...string) {
	for _, warning := range slices.Concat(Warnings(sc), further) {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	WarnSimulated(w, sc)
}

// WarnSimulated writes what --sim changed in a scenario.
func WarnSimulated(w io.Writer, sc *scenarios.Scenario) {
	for _, note := range sc.SimNotes {
		fmt.Fprintf(w, "simulated: %s\n", note)
	}
}
