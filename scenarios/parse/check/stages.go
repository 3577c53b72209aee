package check

import (
	"strconv"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// checkProbes: probes are sent beside the load by the same client, and answered with
// tokens.
func (c *loadCheck) checkProbes() {
	if !c.l.Probes.Active() {
		return
	}
	at := c.n.KeyAt("probes")
	if c.Scenario.Client.Elsewhere() {
		c.errorf(at, "probes need a single load client: remove hosts and agent-command under client")
	}
	if why := apiOf(c.l).NoProbes(); why != "" {
		c.errorf(at, "endpoint %s %s", c.l.API, why)
	}
	if c.l.Compat != "" && c.l.Compat != "vllm" {
		c.errorf(at, "compat %s: that client has no probes", c.l.Compat)
	}
}

// Stages names the stages of a load that was decoded from n, sets what they decide
// about the whole, and reports whether they are right.
func Stages(f *File, n *schema.Node, l *scenarios.Load) bool {
	return newLoadCheck(f, n, l, nil).checkStages()
}

func (c *loadCheck) checkStages() bool {
	if len(c.l.Stages) == 0 {
		return true
	}

	list := c.n.Get("stages")
	valid := true
	for i := range c.l.Stages {
		stage := &c.l.Stages[i]
		if stage.Name == "" {
			stage.Name = strconv.Itoa(i + 1)
		}
		valid = c.Name(list.Items[i].At("name"), "name of a stage", stage.Name) && valid
	}
	if err := spec.CheckStages(c.l.Stages); err != nil {
		c.errorf(list.Pos, "%v", err)
		valid = false
	}

	why := "the stages decide"
	c.forbid(c.n, why, "duration", "request-rate", "ramp")
	if peak := spec.PeakConcurrency(c.l.Stages); peak > 0 {
		c.forbid(c.n, why, "max-concurrency")
		if c.Scenario.Client.Elsewhere() {
			c.errorf(list.Pos, "stages with max-concurrency need a single load client: remove hosts and "+
				"agent-command under client")
		}
		c.l.MaxConcurrency = peak
	}
	c.l.Duration = spec.StagesLast(c.l.Stages)
	return valid
}
