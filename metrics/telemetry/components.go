package telemetry

import (
	"maps"
	"slices"

	"github.com/benchrig/bench/results"
)

// OfComponents sums up counters, memory and power of each part of a server of
// several; nil where no server is one. What one GPU of a part does not know
// is null.
func OfComponents(servers []results.Server, t *results.Telemetry) []results.ComponentFigures {
	var all []results.ComponentFigures
	for _, s := range servers {
		if s.Component == "" {
			continue
		}
		at := slices.IndexFunc(all, func(c results.ComponentFigures) bool { return c.Component == s.Component })
		if at < 0 {
			at = len(all)
			all = append(all, results.ComponentFigures{Component: s.Component, GPUs: []int{}})
		}
		addServer(&all[at], s)
	}

	for i := range all {
		addGPUs(&all[i], servers, t)
	}
	return all
}

// addServer adds a server's counters, those that all servers of the part have.
func addServer(c *results.ComponentFigures, s results.Server) {
	c.Servers++
	c.GPUs = append(c.GPUs, s.GPUs...)
	if s.Node != "" && !slices.Contains(c.Nodes, s.Node) {
		c.Nodes = append(c.Nodes, s.Node)
	}
	if c.Servers == 1 {
		c.Counters = map[string]float64{}
		maps.Copy(c.Counters, s.Counters)
		return
	}
	for name := range c.Counters {
		value, has := s.Counters[name]
		if !has {
			delete(c.Counters, name)
			continue
		}
		c.Counters[name] += value
	}
}

// addGPUs adds memory, power and energy of a part's GPUs on all nodes. Partitions
// whose power is another device's are counted with it alone.
func addGPUs(c *results.ComponentFigures, servers []results.Server, t *results.Telemetry) {
	if t == nil || len(c.GPUs) == 0 {
		return
	}

	found := 0
	for _, s := range servers {
		if s.Component != c.Component {
			continue
		}
		for _, g := range gpusOfNode(t, s.Node) {
			if !slices.Contains(s.GPUs, g.Index) {
				continue
			}
			if found++; found == 1 {
				c.VRAMPeak, c.PowerMeanW, c.EnergyJ = g.VRAMPeak, g.Pass.PowerMeanW, g.Pass.EnergyJ
				continue
			}
			c.VRAMPeak = addInt(c.VRAMPeak, g.VRAMPeak)
			if g.CountedWith == "" {
				c.PowerMeanW = addFloat(c.PowerMeanW, g.Pass.PowerMeanW)
				c.EnergyJ = addFloat(c.EnergyJ, g.Pass.EnergyJ)
			}
		}
	}
	if found < len(c.GPUs) {
		c.VRAMPeak, c.PowerMeanW, c.EnergyJ = nil, nil, nil
	}
}

// gpusOfNode are the GPUs that were sampled on a node; "" is that of bench.
func gpusOfNode(t *results.Telemetry, node string) []results.GPUFigures {
	if node == "" {
		return t.GPUs
	}
	for _, n := range t.Nodes {
		if n.Node == node {
			return n.GPUs
		}
	}
	return nil
}
