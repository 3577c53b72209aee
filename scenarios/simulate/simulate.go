// Package simulate puts the simulator in the place of every engine of a
// scenario.
//
// What goes in: a checked Scenario. What comes out: the same Scenario with
// simulated servers, nothing that would touch the machine or tell anybody, and
// a note for everything else that changed. It starts nothing.
package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/scenarios"
)

// simLifeNoise is by how much servers of one variant differ from start to
// start, relative standard deviation: what repeats of real engines show.
const simLifeNoise = "0.006"

// Apply turns a checked scenario into one whose servers are all simulated.
// What is changed beside the launcher is noted, never silent. vars are the
// texts of the scenario's vars, in which a device may be named; exists tells
// whether a file is on this machine.
func Apply(s *scenarios.Scenario, vars []string, exists func(path string) bool) {
	hooks := 0
	for _, v := range s.Variants {
		hooks += len(v.Hooks.Before) + len(v.Hooks.After)
	}

	sim := &s.Simulation
	if sim.Device == "" {
		sim.Device = guessDevice(s, vars)
	}
	if sim.Speed == 0 {
		sim.Speed = scenarios.DefaultSimSpeed
	}

	simNote(s, "every server is simulated on %s, at %g times the speed of the engine", sim.Device, sim.Speed)
	simulateLoad(s, exists)
	for i := range s.Variants {
		simulateVariant(s, &s.Variants[i])
	}

	simulateProgram(s)
	skipAround(s, hooks)
	s.Telemetry, s.Settle = scenarios.Telemetry{Off: true}, scenarios.Settle{}
	s.ForgetFiles(func(what, path string) bool { return what != scenarios.DatasetFile || !exists(path) })
}

func simNote(s *scenarios.Scenario, format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(s.SimNotes, note) {
		s.SimNotes = append(s.SimNotes, note)
	}
}

// guessDevice looks for a device in what the author wrote.
func guessDevice(s *scenarios.Scenario, vars []string) string {
	said := append([]string{s.Name, s.Description}, vars...)
	all := strings.ToLower(strings.ReplaceAll(strings.Join(said, " "), " ", "-"))
	for _, device := range scenarios.SimDevices() {
		if device != "cpu" && strings.Contains(all, device) {
			return device
		}
	}
	return scenarios.DefaultSimDevice
}

// simulateVariant keeps what a variant says about speed and limits, and drops
// what is of this machine or of the engine alone.
func simulateVariant(s *scenarios.Scenario, v *scenarios.Variant) {
	if v.Server.Launcher == scenarios.SimLauncher {
		return
	}

	v.Original = new(v.Server)
	if len(v.Components) > 0 {
		simNote(s, "variant %s: simulated as one server instead of its %d components", v.Name, len(v.Components))
		v.Components, v.Nodes = nil, 0
	}
	// the program does the rest: its arguments stay
	if v.Hooks = (scenarios.Hooks{}); s.RunsProgram() {
		v.Server.Launcher = cmp.Or(v.Server.Kind().Sim.Kind, scenarios.SimLauncher)
		v.Server.Binary, v.Server.GPUs, v.Server.Container = nil, scenarios.GPUs{None: true}, scenarios.Container{}
		return
	}

	sv := v.Server
	if sv.Nodes > 1 {
		simNote(s, "variant %s: simulated on one node instead of %d", v.Name, sv.Nodes)
	}

	args, dropped := simArgs(sv)
	if len(dropped) > 0 {
		simNote(s, "variant %s: no effect in the simulator: %s", v.Name, strings.Join(dropped, ", "))
	}

	args = append(args, envEffects(sv.Env)...)
	args = append(args,
		scenarios.Arg{Name: "sim-device", Value: s.Simulation.Device},
		scenarios.Arg{Name: "sim-speed", Value: asNumber(s.Simulation.Speed)},
		scenarios.Arg{Name: "sim-life-noise", Value: simLifeNoise})
	if prefix := pathPrefix(s); prefix != "" {
		args = append(args, scenarios.Arg{Name: "root-path", Value: prefix})
	}

	v.Server = scenarios.Server{
		Launcher: scenarios.SimLauncher, Model: sv.Model, ServedName: sv.ServedName, Env: sv.Env, APIKey: sv.APIKey,
		Smoke: sv.Smoke,
		Args:  Overlayed(args, sv.SimArgs), Host: "127.0.0.1", Replicas: max(1,
			sv.Replicas), GPUs: scenarios.GPUs{None: true}, Stop: sv.Stop,
		Ready: scenarios.Ready{Timeout: sv.Ready.Timeout, Stall: sv.Ready.Stall},
	}

	v.Server.Launcher = cmp.Or(sv.Kind().Sim.Kind, v.Server.Launcher)
	if v.Notes != "" {
		v.Notes += "; "
	}

	v.Notes += "the simulator stands for " + sv.Launcher
}

// Overlayed lays arguments over others, by their names.
func Overlayed(base, top []scenarios.Arg) []scenarios.Arg {
	out := slices.Clone(base)
	for _, a := range top {
		at := slices.IndexFunc(out, func(b scenarios.Arg) bool {
			return scenarios.ArgName(b.Name) == scenarios.ArgName(a.Name)
		})
		if at < 0 {
			out = append(out, a)
			continue
		}
		out[at] = a
	}
	return out
}

// pathPrefix precedes the usual path of the endpoint, as servers
// behind a proxy have it.
func pathPrefix(s *scenarios.Scenario) string {
	if len(s.Points) == 0 {
		return ""
	}
	api, err := dialect.APINamed(s.Points[0].API)
	prefix, ok := strings.CutSuffix(s.Points[0].Endpoint, api.DefaultPath)
	if err != nil || !ok {
		return ""
	}
	return prefix
}

// simulateProgram puts the simulator's program in the place of the real one.
func simulateProgram(s *scenarios.Scenario) {
	if !s.RunsProgram() {
		return
	}
	s.Program.Binary = []string{
		scenarios.BenchProgram, engines.SimulateProgram, string(s.Method),
		"--sim-device", s.Simulation.Device, "--sim-speed",
		asNumber(s.Simulation.Speed).String(),
	}
}

// skipAround drops what would touch the machine or tell somebody.
func skipAround(s *scenarios.Scenario, variantHooks int) {
	var skipped []string
	add := func(what string, n int) {
		if n > 0 {
			skipped = append(skipped, fmt.Sprintf("%d %s", n, what))
		}
	}
	count := func(h scenarios.Hooks) int { return len(h.Before) + len(h.After) }
	add("hooks", count(s.Hooks.Run)+count(s.Hooks.Variant)+count(s.Hooks.Step)+variantHooks)
	add("checks", len(s.Checks))
	add("notifications", len(s.Notify))
	if s.Evaluation.Given() {
		skipped = append(skipped, "the evaluation")
	}
	if len(skipped) > 0 {
		simNote(s, "skipped: %s", strings.Join(skipped, ", "))
	}
	s.Hooks, s.Checks, s.Notify, s.Evaluation = scenarios.LevelHooks{}, nil, nil, scenarios.Evaluation{}
}
