package check

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Scenario checks what keys mean for others once the whole scenario has been decoded
// from root: methods, clients, searches, studies, prices.
func Scenario(f *File, root *schema.Node) {
	c := &scenarioCheck{f, root}
	c.checkPrice(root.Get("price"))
	c.checkMethod()
	c.checkClient()
	c.checkNext()
}

// scenarioCheck checks a scenario as a whole.
type scenarioCheck struct {
	*File
	root *schema.Node
}

// checkMethod checks what the method means for variants and points.
func (c *scenarioCheck) checkMethod() {
	s := c.Scenario
	switch {
	case s.RunsProgram():
		c.forbid(c.root, fmt.Sprintf("method %s sends no requests: say what it tests under %s:", s.Method,
			s.Method), "load")
	case s.Method == scenarios.ColdStart:
		c.forbid(c.root, "method cold-start sends no requests: say in which states of the caches it starts servers "+
			"under cold-start:", "load")
	}
	c.checkBaseline()
	for i := range s.Variants {
		c.checkExtrapolate(&s.Variants[i], s.Method)
	}

	program, runs := engines.MeasuringProgram(string(s.Method))
	if s.Method == scenarios.SQZB {
		c.checkSQZB()
	}
	for i := range s.Variants {
		switch {
		case runs:
			c.checkProgram(&s.Variants[i], program)
		case s.Method == scenarios.ColdStart:
			c.checkColdStart(&s.Variants[i], s.ColdStart)
		}
	}
}

// checkColdStart: one server of this machine, whose caches bench can set.
func (c *scenarioCheck) checkColdStart(v *scenarios.Variant, run scenarios.ColdStartRun) {
	sv, kind := &v.Server, v.Server.Kind()
	var own []string
	if run.Compile != nil {
		own = kind.Caches.Compile
	}
	if run.Hub != nil {
		own = append(slices.Clone(own), kind.Caches.Hub...)
	}
	set := slices.IndexFunc(own, func(name string) bool { _, set := sv.Env[name]; return set })

	switch {
	case sv.Launcher == "":
	case kind.External:
		c.errorf(v.Pos, "variant %s: method cold-start needs servers that bench starts", v.Name)
	case sv.Replicas > 1:
		c.errorf(v.Pos, "variant %s: method cold-start starts one server, and there are %d replicas", v.Name,
			sv.Replicas)
	case run.Compile != nil && kind.Caches.Compile == nil:
		c.errorf(v.Pos, "variant %s: compile-cache: no variable is known by which launcher %s takes a folder for "+
			"compiled code", v.Name, sv.Launcher)
	case run.Hub != nil && kind.Caches.Hub == nil:
		c.errorf(v.Pos, "variant %s: hub-cache: no variable is known by which launcher %s takes a folder for "+
			"downloaded models", v.Name, sv.Launcher)
	case set >= 0:
		c.errorf(v.Pos, "variant %s: env sets %s, which method cold-start sets: leave it out", v.Name, own[set])
	case own != nil && sv.Container.Image != "":
		c.errorf(v.Pos, "variant %s: compile-cache and hub-cache are for servers without a container: give "+
			"page-cache only", v.Name)
	}
}

func (c *scenarioCheck) checkBaseline() {
	s := c.Scenario
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
	}
	if s.Baseline != "" && !slices.Contains(names, s.Baseline) {
		c.errorf(c.root.At("baseline"), "baseline %q is not a variant%s", s.Baseline,
			schema.DidYouMean(s.Baseline, names))
	}
}

// checkExtrapolate: what is multiplied must be one server of ours, alone.
func (c *scenarioCheck) checkExtrapolate(v *scenarios.Variant, m scenarios.Method) {
	switch {
	case v.Extrapolate <= 1:
	case v.Server.Replicas > 1:
		c.errorf(v.Pos, "variant %s: extrapolate multiplies one replica, and there are %d: give one of the two",
			v.Name, v.Server.Replicas)
	case v.Server.Kind().External:
		c.errorf(v.Pos, "variant %s: extrapolate is for servers that bench starts: what runs beside an external "+
			"one is not known", v.Name)
	case m != scenarios.Serving:
		c.errorf(v.Pos, "variant %s: extrapolate is for method serving", v.Name)
	}
}

// checkSQZB: the two passes must see the very same prompts, and the first must
// generate.
func (c *scenarioCheck) checkSQZB() {
	for _, v := range c.Scenario.Variants {
		if v.Server.Kind().External {
			c.errorf(v.Pos, "variant %s: method sqzb needs two server starts, and an external server is not "+
				"started by bench", v.Name)
		}
	}

	load := c.root.Get("load")
	if load == nil {
		load = schema.EmptyMapping(c.root.Pos)
	}

	for _, l := range c.Scenario.Points {
		switch {
		case l.Dataset.Kind != "tok_inputs" && !l.Dataset.TokenIDs:
			c.errorf(load.At("dataset"), "method sqzb sends token ids: use dataset tok_inputs, or tokens: ids "+
				"where the dataset has it")
		case l.OutputLen == 1:
			c.errorf(load.At("output-len"), "method sqzb compares with answers of one token: output-len must be "+
				"above 1")
		case l.Duration > 0:
			c.errorf(load.At("duration"), "method sqzb sends the same prompts in both passes: use num-prompts, not "+
				"duration")
		case l.PrefixCache == scenarios.CacheWarm:
			c.errorf(load.At("prefix-cache"),
				"method sqzb needs every prompt to be computed: prefix-cache must not be warm")
		default:
			continue
		}
		return // once is enough
	}
}

// checkProgram: the program takes the place of the server.
func (c *scenarioCheck) checkProgram(v *scenarios.Variant, program engines.Measuring) {
	s := c.Scenario
	sv := &v.Server
	refuse := func(format string, args ...any) {
		c.errorf(v.Pos, "variant %s: %s", v.Name, fmt.Sprintf(format, args...))
	}

	switch {
	case sv.Launcher == "":
	case !program.Replaces(sv.Kind()):
		refuse("method %s needs launcher %s", s.Method, program.Launcher)
	case sv.Replicas > 1:
		refuse("method %s starts no replicas", s.Method)
	case sv.Nodes > 1, len(v.Components) > 0:
		refuse("method %s runs one program on one machine: nodes and components are not allowed here",
			s.Method)
	case sv.Container.Image != "":
		refuse("container is not allowed here: method %s runs its program without one", s.Method)
	case sv.Smoke.Path != "":
		refuse("smoke is not allowed here: method %s starts no server", s.Method)
	case sv.Binary != nil && (program.Words == nil || s.Program.Binary != nil):
		refuse("binary is not allowed here: the program of method %s is named in %s:", s.Method,
			s.Method)
	case sv.Model != "" && s.Program.Models != nil:
		refuse("model is not allowed here: %s: lists models", s.Method)
	case sv.Model == "" && s.Program.Models == nil && program.Several:
		refuse("model is missing, and %s: lists no models", s.Method)
	case sv.Model == "" && s.Program.Models == nil:
		refuse("model is missing")
	}
}
