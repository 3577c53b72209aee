package simulate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
)

// simArgs are a server's arguments as the simulator takes them, and the names
// of those that it has no use for, some with a value that the simulator, as the
// engine, decides by itself.
func simArgs(sv scenarios.Server) (kept []scenarios.Arg, dropped []string) {
	kind := sv.Kind()
	for _, a := range joinParts(sv.Args) {
		name := scenarios.ArgName(a.Name)
		to, known := kind.Sim.Args[name]
		if !known {
			dropped = append(dropped, name)
			continue
		}
		if to == "" {
			to = name
		}
		value, ok := simValue(to, a.Value)
		if !ok {
			dropped = append(dropped, name+" "+textOf(a.Value))
			continue
		}
		kept = append(kept, scenarios.Arg{Name: to, Value: value, Pos: a.Pos})
	}

	if sv.Container.Image != "" {
		dropped = append(dropped, "container")
	}

	slices.Sort(dropped)

	return kept, slices.Compact(dropped)
}

// joinParts makes one argument of the parts of speculative-config that are
// given behind dots.
func joinParts(args []scenarios.Arg) []scenarios.Arg {
	const whole = "speculative-config"
	var out []scenarios.Arg
	at := -1
	for _, a := range args {
		part, ok := strings.CutPrefix(scenarios.ArgName(a.Name), whole+".")
		if !ok {
			out = append(out, a)
			continue
		}
		if at < 0 {
			at = len(out)
			out = append(out, scenarios.Arg{Name: whole, Value: map[string]any{}, Pos: a.Pos})
		}
		out[at].Value.(map[string]any)[part] = a.Value
	}

	return out
}

// envEffects are the switches of the environment whose effect on an engine's
// speed is known, as arguments of the simulator.
func envEffects(env map[string]scenarios.EnvValue) []scenarios.Arg {
	var out []scenarios.Arg
	for _, e := range []struct {
		name, value, arg string
		factor           float64
	}{
		{"VLLM_SWIZZLE_TENSOR", "1", "sim-decode", 1.02}, // measured: 0.9 to 2.5 % less time a token
		{"ROCBLAS_USE_HIPBLASLT", "1", "sim-prefill", 1.10},
	} {
		if v, ok := env[e.name]; ok && v.Value == e.value {
			out = append(out, scenarios.Arg{Name: e.arg, Value: asNumber(e.factor)})
		}
	}
	return out
}

func asNumber(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', -1, 64)) }
