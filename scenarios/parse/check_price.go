package parse

import (
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// checkPrice finds a price that prices nothing.
func (p *parser) checkPrice(n *schema.Node, s *scenarios.Scenario) {
	if n == nil || n.Kind != schema.Mapping || n.Has("gpu-hour") || n.Has("kwh") {
		return
	}
	for _, v := range s.Variants {
		if v.Price.GPUHour > 0 || v.Price.KWh > 0 {
			return
		}
	}
	p.errs.Add(n.Pos, "price has no effect: give gpu-hour or kwh, here or in a variant")
}
