// Package starts turns what is known of a server's start into figures: how long it
// took, until the first token, and which phase took how much of it.
//
// What goes in: a server as its launcher describes it. What comes out: figures in
// seconds. It reads no log and no clock.
package starts

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// phaseTitles are the phases that engines log, for people.
var phaseTitles = map[string]string{
	"weights": "weights", "compile": "compile", "graph-capture": "graph capture", "kv-cache": "KV cache",
	"init": "rest of engine init",
}

// ofInit are the phases that an engine's init contains.
var ofInit = []string{"compile", "graph-capture", "kv-cache"}

// Measures are the figures of a start, those of phases in their order. A phase that
// the engine does not log is not among them; "other" is what no phase explains.
func Measures(s results.Server) []results.Measure {
	all := []results.Measure{
		seconds("start_s", "start, until healthy", readyAt(s)),
		seconds("time_to_first_token_after_launch_s", "launch to first token", at(s, "token", "answer")),
	}

	output := at(s, "output")
	all = append(all, phases(s, output)...)
	if ready, token := readyAt(s), at(s, "token", "answer"); ready != nil && token != nil {
		all = append(all, seconds("start_first_token_s", "first token", new(*token-*ready)))
	}
	return slices.DeleteFunc(all, func(m results.Measure) bool { return m.Value == nil })
}

// phases are the parts of the time until the server is healthy.
func phases(s results.Server, output *float64) []results.Measure {
	parts := []results.Measure{seconds("start_process_s", "process start and imports", output)}
	if s.Startup != nil {
		for _, p := range s.Startup.Phases {
			parts = append(parts, seconds("start_"+strings.ReplaceAll(p.Name, "-", "_")+"_s", titleOf(p.Name),
				withoutParts(s.Startup, p)))
		}
	}

	ready := readyAt(s)
	if ready == nil {
		return parts
	}
	other := *ready
	for _, p := range parts {
		if p.Value != nil {
			other -= *p.Value
		}
	}
	const rounding = 0.1           // of the start: engines log whole seconds of some phases
	if other >= -rounding**ready { // less: phases overlap, as those of several processes do
		parts = append(parts, seconds("start_other_s", "other", new(max(0, other))))
	}
	return parts
}

func titleOf(phase string) string {
	if title := phaseTitles[phase]; title != "" {
		return title
	}
	return phase
}

// withoutParts is the length of a phase; of an engine's init, what is left of it
// without the phases that have a length of their own.
func withoutParts(startup *results.Startup, phase results.StartupPhase) *float64 {
	left := phase.Seconds
	if phase.Name == "init" {
		for _, p := range startup.Phases {
			if slices.Contains(ofInit, p.Name) {
				left -= p.Seconds
			}
		}
	}
	return new(max(0, left))
}

// readyAt is when the server was healthy; of one without a health check, when it
// listed its models, or took connections.
func readyAt(s results.Server) *float64 {
	for _, name := range []string{"health", "model", "tcp"} {
		if v := at(s, name); v != nil {
			return v
		}
	}
	return nil
}

// at is when the first of these rungs was reached, in seconds after the spawn;
// null: it is not known.
func at(s results.Server, rungs ...string) *float64 {
	i := slices.IndexFunc(s.ReadyPhases, func(p results.Phase) bool { return slices.Contains(rungs, p.Name) })
	if i < 0 {
		return nil
	}
	return new(s.ReadyPhases[i].AtS)
}

func seconds(name, title string, value *float64) results.Measure {
	return results.Measure{Name: name, Title: title, Unit: "s", N: 1, Value: value}
}
