package parse

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishLlamaBench makes the paths of llama-bench: absolute.
func (p *parser) finishLlamaBench(n *schema.Node, s *scenarios.Scenario) {
	if n == nil || n.Kind != schema.Mapping || s.Method != scenarios.LlamaBench {
		return
	}
	run := &s.LlamaBench
	p.noTilde(n, "binary")
	if len(run.Binary) > 0 && strings.Contains(run.Binary[0], "/") {
		run.Binary[0] = p.abs(run.Binary[0])
		s.NeedFile("llama-bench.binary", run.Binary[0], n.At("binary"))
	}
	for i, model := range run.Models {
		p.noTilde(n.Get("models"), "")
		run.Models[i] = p.abs(model)
		s.NeedFile("model", run.Models[i], n.At("models"))
	}
}

// readPoints reads load:, which a method without a client has none of.
func (p *parser) readPoints(root *schema.Node, s *scenarios.Scenario) {
	if s.Method != scenarios.LlamaBench {
		p.readLoad(root, s)
		return
	}
	p.forbid(root, "method llama-bench sends no requests: say what it tests under llama-bench:", "load")
	s.Points = []scenarios.Load{{Label: "all"}}
}

// checkMethod checks what the method means for variants and points.
func (p *parser) checkMethod(root *schema.Node, s *scenarios.Scenario) {
	p.checkBaseline(root, s)
	for i := range s.Variants {
		p.checkExtrapolate(&s.Variants[i], s.Method)
	}
	switch s.Method {
	case scenarios.SQZB:
		p.checkSQZB(root, s)
	case scenarios.LlamaBench:
		for i := range s.Variants {
			p.checkLlamaBench(&s.Variants[i], s)
		}
	case scenarios.Serving:
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

// checkLlamaBench: the program takes the place of the server.
func (p *parser) checkLlamaBench(v *scenarios.Variant, s *scenarios.Scenario) {
	sv := &v.Server
	switch {
	case sv.Launcher == "":
	case sv.Launcher != "llamacpp" && sv.Launcher != "simulator":
		p.errs.Add(v.Pos, "variant %s: method llama-bench is of launcher llamacpp", v.Name)
	case sv.Replicas > 1:
		p.errs.Add(v.Pos, "variant %s: method llama-bench starts no replicas", v.Name)
	case sv.Smoke.Path != "":
		p.errs.Add(v.Pos, "variant %s: smoke is not allowed here: method llama-bench starts no server", v.Name)
	case sv.Binary != nil:
		p.errs.Add(v.Pos, "variant %s: binary is not allowed here: the program of method llama-bench stands in "+
			"llama-bench:", v.Name)
	case sv.Model != "" && s.LlamaBench.Models != nil:
		p.errs.Add(v.Pos, "variant %s: model is not allowed here: llama-bench: lists models", v.Name)
	case sv.Model == "" && s.LlamaBench.Models == nil:
		p.errs.Add(v.Pos, "variant %s: model is missing, and llama-bench: lists no models", v.Name)
	}
}
