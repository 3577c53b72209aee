package harness

import (
	"fmt"
	"slices"

	"benchrig/launchers"
	"benchrig/scenarios"
)

// RecipeWarnings lists what is known to be wrong with the recipes of a
// scenario, for some versions of their engines or for all, each with its place.
func RecipeWarnings(sc *scenarios.Scenario) []string {
	if sc.Method == scenarios.LlamaBench {
		return nil
	}
	var all []string
	add := func(pos scenarios.Pos, format string, values ...any) {
		text := fmt.Sprintf("%s: %s", pos, fmt.Sprintf(format, values...))
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, v := range sc.Variants {
		kind, known := launchers.Lookup(v.Server.Launcher)
		if !known {
			continue
		}
		spec := baseSpec(sc, v, kind, Box{})
		for _, c := range launchers.Conflicts(kind, spec, "") {
			pos := v.Pos
			for _, arg := range v.Server.Args {
				if arg.Name == c.Arg && arg.Pos.Line > 0 {
					pos = arg.Pos
				}
			}
			add(pos, "variant %s: %s", v.Name, c.Message)
		}
		if speculatesAlone(sc, v) {
			add(v.Pos, "variant %s: %s", v.Name, aloneText)
		}
	}
	return all
}
