package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishProgram makes the paths of a program's block absolute.
func (p *parser) finishProgram(n *schema.Node, s *scenarios.Scenario) {
	if n == nil || n.Kind != schema.Mapping || !s.RunsProgram() {
		return
	}
	run := &s.Program
	p.noTilde(n, "binary")
	if len(run.Binary) > 0 && strings.Contains(run.Binary[0], "/") {
		run.Binary[0] = p.abs(run.Binary[0])
		s.NeedFile(string(s.Method)+".binary", run.Binary[0], n.At("binary"))
	}
	for i, model := range run.Models {
		p.noTilde(n.Get("models"), "")
		run.Models[i] = p.abs(model)
		s.NeedFile("model", run.Models[i], n.At("models"))
	}
}

// readPoints reads load:, which a method without a client has none of.
func (p *parser) readPoints(root *schema.Node, s *scenarios.Scenario) {
	switch {
	case s.RunsProgram():
		p.forbid(root, fmt.Sprintf("method %s sends no requests: say what it tests under %s:", s.Method, s.Method),
			"load")
		s.Points = []scenarios.Load{{Label: "all"}}
	case s.Method == scenarios.ColdStart:
		p.forbid(root, "method cold-start sends no requests: say in which states of the caches it starts servers "+
			"under cold-start:", "load")
		s.Points = s.ColdStart.Points()
	default:
		p.readLoad(root, s)
	}
}

// checkMethod checks what the method means for variants and points.
func (p *parser) checkMethod(root *schema.Node, s *scenarios.Scenario) {
	p.checkBaseline(root, s)
	for i := range s.Variants {
		p.checkExtrapolate(&s.Variants[i], s.Method)
	}
	program, runs := engines.MeasuringProgram(string(s.Method))
	if s.Method == scenarios.SQZB {
		p.checkSQZB(root, s)
	}
	for i := range s.Variants {
		switch {
		case runs:
			p.checkProgram(&s.Variants[i], s, program)
		case s.Method == scenarios.ColdStart:
			p.checkColdStart(&s.Variants[i], s.ColdStart)
		}
	}
}

// checkColdStart: one server of this machine, whose caches bench can set.
func (p *parser) checkColdStart(v *scenarios.Variant, c scenarios.ColdStartRun) {
	sv, kind := &v.Server, v.Server.Kind()
	var own []string
	if c.Compile != nil {
		own = kind.CompileCaches
	}
	if c.Hub != nil {
		own = append(slices.Clone(own), kind.HubCaches...)
	}
	set := slices.IndexFunc(own, func(name string) bool { _, set := sv.Env[name]; return set })

	switch {
	case sv.Launcher == "":
	case kind.External:
		p.errs.Add(v.Pos, "variant %s: method cold-start needs servers that bench starts", v.Name)
	case sv.Replicas > 1:
		p.errs.Add(v.Pos, "variant %s: method cold-start starts one server, and there are %d replicas", v.Name,
			sv.Replicas)
	case c.Compile != nil && kind.CompileCaches == nil:
		p.errs.Add(v.Pos, "variant %s: compile-cache: no variable is known by which launcher %s takes a folder for "+
			"compiled code", v.Name, sv.Launcher)
	case c.Hub != nil && kind.HubCaches == nil:
		p.errs.Add(v.Pos, "variant %s: hub-cache: no variable is known by which launcher %s takes a folder for "+
			"downloaded models", v.Name, sv.Launcher)
	case set >= 0:
		p.errs.Add(v.Pos, "variant %s: env sets %s, which method cold-start sets: leave it out", v.Name, own[set])
	case own != nil && sv.Container.Image != "":
		p.errs.Add(v.Pos, "variant %s: compile-cache and hub-cache are for servers without a container: give "+
			"page-cache only", v.Name)
	}
}

func (p *parser) checkBaseline(root *schema.Node, s *scenarios.Scenario) {
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
	}
	if s.Baseline != "" && !slices.Contains(names, s.Baseline) {
		p.errs.Add(root.At("baseline"), "baseline %q is not a variant%s", s.Baseline,
			schema.DidYouMean(s.Baseline, names))
	}
}

// checkExtrapolate: what is multiplied must be one server of ours, alone.
func (p *parser) checkExtrapolate(v *scenarios.Variant, m scenarios.Method) {
	switch {
	case v.Extrapolate <= 1:
	case v.Server.Replicas > 1:
		p.errs.Add(v.Pos, "variant %s: extrapolate multiplies one replica, and there are %d: give one of the two",
			v.Name, v.Server.Replicas)
	case v.Server.Kind().External:
		p.errs.Add(v.Pos, "variant %s: extrapolate is for servers that bench starts: what runs beside an external "+
			"one is not known", v.Name)
	case m != scenarios.Serving:
		p.errs.Add(v.Pos, "variant %s: extrapolate is for method serving", v.Name)
	}
}

// checkSQZB: the two passes must see the very same prompts, and the first must
// generate.
func (p *parser) checkSQZB(root *schema.Node, s *scenarios.Scenario) {
	for _, v := range s.Variants {
		if v.Server.Kind().External {
			p.errs.Add(v.Pos, "variant %s: method sqzb needs two server starts, and an external server is not "+
				"started by bench", v.Name)
		}
	}

	load := root.Get("load")
	if load == nil {
		load = schema.EmptyMapping(root.Pos)
	}

	for _, l := range s.Points {
		switch {
		case l.Dataset.Kind != "tok_inputs" && !l.Dataset.TokenIDs:
			p.errs.Add(load.At("dataset"), "method sqzb sends token ids: use dataset tok_inputs, or tokens: ids "+
				"where the dataset has it")
		case l.OutputLen == 1:
			p.errs.Add(load.At("output-len"), "method sqzb compares with answers of one token: output-len must be "+
				"above 1")
		case l.Duration > 0:
			p.errs.Add(load.At("duration"), "method sqzb sends the same prompts in both passes: use num-prompts, not "+
				"duration")
		case l.PrefixCache == scenarios.CacheWarm:
			p.errs.Add(load.At("prefix-cache"),
				"method sqzb needs every prompt to be computed: prefix-cache must not be warm")
		default:
			continue
		}
		return // once is enough
	}
}

// checkProgram: the program takes the place of the server.
func (p *parser) checkProgram(v *scenarios.Variant, s *scenarios.Scenario, program engines.Measuring) {
	sv := &v.Server
	refuse := func(format string, args ...any) {
		p.errs.Add(v.Pos, "variant %s: %s", v.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case sv.Launcher == "":
	case !program.Replaces(sv.Kind()):
		refuse("method %s needs launcher %s", s.Method, program.Launcher)
	case sv.Replicas > 1:
		refuse("method %s starts no replicas", s.Method)
	case sv.Nodes > 1, len(v.Components) > 0:
		refuse("method %s runs one program on one machine: nodes and components are not allowed here", s.Method)
	case sv.Container.Image != "":
		refuse("container is not allowed here: method %s runs its program without one", s.Method)
	case sv.Smoke.Path != "":
		refuse("smoke is not allowed here: method %s starts no server", s.Method)
	case sv.Binary != nil && (program.Words == nil || s.Program.Binary != nil):
		refuse("binary is not allowed here: the program of method %s is named in %s:", s.Method, s.Method)
	case sv.Model != "" && s.Program.Models != nil:
		refuse("model is not allowed here: %s: lists models", s.Method)
	case sv.Model == "" && s.Program.Models == nil && program.Several:
		refuse("model is missing, and %s: lists no models", s.Method)
	case sv.Model == "" && s.Program.Models == nil:
		refuse("model is missing")
	}
}
