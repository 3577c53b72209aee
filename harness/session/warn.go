package session

import (
	"fmt"
	"io"
	"slices"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/scenarios"
)

// Warn writes what may keep steps of a scenario from running, and what is
// perhaps not meant.
func Warn(w io.Writer, sc *scenarios.Scenario) {
	for _, warning := range slices.Concat(sc.Warnings, plan.RecipeWarnings(sc)) {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	WarnSimulated(w, sc)
	for _, problem := range sc.Problems() {
		fmt.Fprintf(w, "warning: %s\n", problem)
	}
}

// WarnSimulated writes what --sim changed in a scenario.
func WarnSimulated(w io.Writer, sc *scenarios.Scenario) {
	for _, note := range sc.SimNotes {
		fmt.Fprintf(w, "simulated: %s\n", note)
	}
}
