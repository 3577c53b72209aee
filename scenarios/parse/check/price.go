package check

import (
	"github.com/benchrig/bench/scenarios/schema"
)

// checkPrice finds a price that prices nothing.
func (c *scenarioCheck) checkPrice(n *schema.Node) {
	if n == nil || n.Kind != schema.Mapping || n.Has("gpu-hour") || n.Has("kwh") {
		return
	}
	for _, v := range c.Scenario.Variants {
		if v.Price.GPUHour > 0 || v.Price.KWh > 0 {
			return
		}
	}
	c.errorf(n.Pos, "price has no effect: give gpu-hour or kwh, here or in a variant")
}
