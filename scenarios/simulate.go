package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/schema"
)

// Simulation says how a scenario runs on the simulator in place of its
// engines.
type Simulation struct {
	On     bool
	Device string  // a name in SimDevices; "": guessed from what the scenario says of itself
	Speed  float64 // how many times as fast as the engines played; 0: defaultSimSpeed
}

// Launchers of simulated servers. The second is no launcher that a file may
// name: llama-server becomes it.
const (
	SimLauncher      = "simulator"
	SimLlamaLauncher = "simulator-llamacpp"
)

// BenchProgram stands in argvs of simulated programs for bench itself.
const BenchProgram = "${bench}"

const (
	defaultSimSpeed  = 10
	defaultSimDevice = "mi300x"
	// simLifeNoise is by how much lives of one server differ, relative standard
	// deviation: what repeats of real engines show.
	simLifeNoise = "0.006"
	// missingEnv is the value of a variable that is not set where it does not
	// matter: a simulated server believes any key.
	missingEnv = "not-set-under-sim"
)

// SimDevices are the devices that the simulator knows.
func SimDevices() []string { return []string{"mi300x", "h100", "strix-halo", "cpu"} }

func simulateBlock() schema.Block[Simulation] {
	return schema.Block[Simulation]{
		Name: "under simulate:", Doc: "bench run --sim, and plan and validate, put the simulator in the place of every engine. No GPU is used, hooks, checks and " +
			"notifications are skipped, and all figures are marked as simulated. Arguments that the simulator has no use for are dropped, and plan names them.",
		Example: "\ndevice: mi300x\nspeed: 20\n",
		Fields: []schema.Field[Simulation]{
			schema.FlagKey("on", "The flag --sim sets it.", func(s *Simulation) *bool { return &s.On }).DefaultNote("false"),
			schema.EnumKey("device", "Whose speed and memory to assume. --sim-device sets it.", SimDevices(), func(s *Simulation) *string { return &s.Device }).
				DefaultNote("by name, description and vars; else " + defaultSimDevice),
			schema.NumberKey("speed", "How many times as fast as the engine played. Figures are those of this speed, but for llama-bench's own. --sim-speed sets it.", schema.Positive(false),
				func(s *Simulation) *float64 { return &s.Speed }).DefaultNote(fmt.Sprint(defaultSimSpeed)),
		},
	}
}

// simulating tells from the tree alone whether the scenario will be simulated.
func simulating(root *schema.Node) bool {
	n := root.Get("simulate")
	return n != nil && n.Kind == schema.Mapping && n.Get("on") != nil && n.Get("on").Kind == schema.Boolean && n.Get("on").Value().(bool)
}

// simulate turns a checked scenario into one whose servers are all simulated.
// What is changed beside the launcher is noted, never silent.
func (p *parser) simulate(s *Scenario) {
	sim := &s.Simulation
	if sim.Device == "" {
		sim.Device = p.guessDevice(s)
	}
	if sim.Speed == 0 {
		sim.Speed = defaultSimSpeed
	}
	s.simNote("every server is simulated on %s, %g times as fast as the engine it plays", sim.Device, sim.Speed)
	p.simulateLoad(s)
	for i := range s.Variants {
		s.simulateVariant(&s.Variants[i])
	}
	s.simulateProgram()
	s.skipAround()
	s.Telemetry, s.Settle = Telemetry{Off: true}, Settle{}
	s.locals = slices.DeleteFunc(s.locals, func(l localPath) bool { return l.what != datasetPath || !p.opts.Exists(l.path) })
}

func (s *Scenario) simNote(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(s.SimNotes, note) {
		s.SimNotes = append(s.SimNotes, note)
	}
}

// guessDevice looks for a device in what the author wrote.
func (p *parser) guessDevice(s *Scenario) string {
	said := []string{s.Name, s.Description}
	for _, v := range p.vars.raw.Pairs {
		v.Value.Flatten("", func(_ string, n *schema.Node) { said = append(said, n.Text) })
	}
	all := strings.ToLower(strings.ReplaceAll(strings.Join(said, " "), " ", "-"))
	for _, device := range SimDevices() {
		if device != "cpu" && strings.Contains(all, device) {
			return device
		}
	}
	return defaultSimDevice
}

// simulateVariant keeps what a variant says of speed and limits, and drops
// what is of this box or of the engine alone.
func (s *Scenario) simulateVariant(v *Variant) {
	if v.Server.Launcher == SimLauncher {
		return
	}
	v.Played = new(v.Server)
	if v.Hooks = (Hooks{}); s.Method == LlamaBench { // the program does the rest: its arguments stay
		v.Server.Launcher, v.Server.GPUs, v.Server.Container = SimLlamaLauncher, GPUs{None: true}, Container{}
		return
	}
	sv := v.Server
	if sv.Nodes > 1 {
		s.simNote("variant %s: simulated on one node instead of %d", v.Name, sv.Nodes)
	}
	args, dropped := simArgs(sv)
	if len(dropped) > 0 {
		s.simNote("variant %s: no effect in the simulator: %s", v.Name, strings.Join(dropped, ", "))
	}
	args = append(args, envEffects(sv.Env)...)
	args = append(args,
		Arg{Name: "sim-device", Value: s.Simulation.Device},
		Arg{Name: "sim-speed", Value: asNumber(s.Simulation.Speed)},
		Arg{Name: "sim-life-noise", Value: simLifeNoise})
	if prefix := s.pathPrefix(); prefix != "" {
		args = append(args, Arg{Name: "root-path", Value: prefix})
	}
	v.Server = Server{
		Launcher: SimLauncher, Model: sv.Model, ServedName: sv.ServedName, Env: sv.Env, APIKey: sv.APIKey, Smoke: sv.Smoke,
		Args: overlayed(args, sv.SimArgs), Host: "127.0.0.1", Replicas: max(1, sv.Replicas), GPUs: GPUs{None: true}, Stop: sv.Stop,
		Ready: Ready{Timeout: sv.Ready.Timeout, Stall: sv.Ready.Stall},
	}
	if sv.Launcher == "llamacpp" {
		v.Server.Launcher = SimLlamaLauncher
	}
	if v.Notes != "" {
		v.Notes += "; "
	}
	v.Notes += "the simulator stands for " + sv.Launcher
}

// overlayed lays arguments over others, by their names.
func overlayed(base, top []Arg) []Arg {
	out := slices.Clone(base)
	for _, a := range top {
		at := slices.IndexFunc(out, func(b Arg) bool { return argName(b.Name) == argName(a.Name) })
		if at < 0 {
			out = append(out, a)
			continue
		}
		out[at] = a
	}
	return out
}

// pathPrefix is what stands before the usual path of the endpoint, as servers
// behind a proxy have it.
func (s *Scenario) pathPrefix() string {
	if len(s.Points) == 0 {
		return ""
	}
	prefix, ok := strings.CutSuffix(s.Points[0].Endpoint, apiNamed(s.Points[0].API).path)
	if !ok {
		return ""
	}
	return prefix
}

// simulateProgram puts the simulator's llama-bench in the place of the real
// one.
func (s *Scenario) simulateProgram() {
	if s.Method != LlamaBench {
		return
	}
	s.LlamaBench.Binary = []string{
		BenchProgram, "simulate-llama-bench", "--sim-device", s.Simulation.Device, "--sim-speed", asNumber(s.Simulation.Speed).String(),
	}
}

// skipAround drops what would touch the box or tell somebody.
func (s *Scenario) skipAround() {
	var skipped []string
	add := func(what string, n int) {
		if n > 0 {
			skipped = append(skipped, fmt.Sprintf("%d %s", n, what))
		}
	}
	count := func(h Hooks) int { return len(h.Before) + len(h.After) }
	add("hooks", count(s.Hooks.Run)+count(s.Hooks.Variant)+count(s.Hooks.Step)+s.variantHooks)
	add("checks", len(s.Checks))
	add("notifications", len(s.Notify))
	if len(skipped) > 0 {
		s.simNote("skipped: %s", strings.Join(skipped, ", "))
	}
	s.Hooks, s.Checks, s.Notify = LevelHooks{}, nil, nil
}
