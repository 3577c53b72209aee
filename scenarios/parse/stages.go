package parse

import (
	"strconv"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// checkProbes: probes are sent beside the load by the same client, and answered with
// tokens.
func (p *parser) checkProbes(n *schema.Node, l *scenarios.Load, s *scenarios.Scenario) {
	if !l.Probes.Active() {
		return
	}
	at := n.KeyAt("probes")
	if s.Client.Elsewhere() {
		p.errs.Add(at, "probes need a single load client: remove hosts and agent-command under client")
	}
	if why := apiOf(l).NoProbes(); why != "" {
		p.errs.Add(at, "endpoint %s %s", l.API, why)
	}
	if l.Compat != "" && l.Compat != "vllm" {
		p.errs.Add(at, "compat %s: that client has no probes", l.Compat)
	}
}

// readStages names the stages of a load, and sets what they decide about the whole.
func (p *parser) readStages(n *schema.Node, l *scenarios.Load, s *scenarios.Scenario) bool {
	if len(l.Stages) == 0 {
		return true
	}

	list := n.Get("stages")
	valid := true
	for i := range l.Stages {
		stage := &l.Stages[i]
		if stage.Name == "" {
			stage.Name = strconv.Itoa(i + 1)
		}
		if !safeName.MatchString(stage.Name) {
			p.errs.Add(list.Items[i].At("name"), "%s", badName("name of a stage", stage.Name))
			valid = false
		}
	}
	if err := spec.CheckStages(l.Stages); err != nil {
		p.errs.Add(list.Pos, "%v", err)
		valid = false
	}

	why := "the stages decide"
	p.forbid(n, why, "duration", "request-rate", "ramp")
	if peak := spec.PeakConcurrency(l.Stages); peak > 0 {
		p.forbid(n, why, "max-concurrency")
		if s.Client.Elsewhere() {
			p.errs.Add(list.Pos, "stages with max-concurrency need a single load client: remove hosts and "+
				"agent-command under client")
		}
		l.MaxConcurrency = peak
	}
	l.Duration = spec.StagesLast(l.Stages)
	return valid
}
