package detail

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printClient prints how far the load client can have moved the figures of a step.
func printClient(p *table.Printer, r *results.Result) {
	var lines []string
	if b := r.Figures.ClientAtMost; b != nil {
		for _, l := range ClientBounds(r.Figures) {
			lines = append(lines, l.line())
		}
		if b.ThroughputShare != nil && b.TurnaroundS != nil {
			lines = append(lines, fmt.Sprintf(
				"throughput: at most %.2f %% too low by the client; requests were sent %.2f ms "+
					"later than they could have been, on average", 100**b.ThroughputShare, 1000**b.TurnaroundS))
		}
	}
	if c := r.Client; c != nil {
		lines = append(lines, contentionParts(c)...)
	}
	hosts := agentHosts(r.Client)
	if len(lines)+len(hosts) == 0 {
		return
	}

	p.Section("Load client")
	for _, line := range lines {
		p.Wrapped("  ", line)
	}
	for _, host := range hosts {
		printNode(p, "agent on", host)
	}
}

// agentHosts are the hosts of load agents, as far as they were sampled.
func agentHosts(c *results.ClientReport) []results.NodeTelemetry {
	if c == nil {
		return nil
	}
	var hosts []results.NodeTelemetry
	for _, a := range c.Agents {
		if a.Telemetry != nil {
			hosts = append(hosts, *a.Telemetry)
		}
	}
	return hosts
}

// contentionParts say where the threads of the client ran, and which cores were wanted
// and not had during a pass.
func contentionParts(c *results.ClientReport) []string {
	var parts []string
	if c.PinnedCPUs != "" {
		parts = append(parts, "reader threads on CPUs "+text.Clean(c.PinnedCPUs))
	}
	if c.Nice != 0 {
		parts = append(parts, fmt.Sprintf("reader threads at nice %d", c.Nice))
	}
	if c.PlaceRefused != "" {
		parts = append(parts, "reader threads could not be placed so: "+text.Clean(c.PlaceRefused))
	}

	if c.StarvedMaxS != nil && c.StarvedS != nil {
		parts = append(parts, fmt.Sprintf("ready to run but without a core: up to %.1f ms at a time, %.2f s in total",
			1000**c.StarvedMaxS, *c.StarvedS))
	}
	if c.CPUPressureS != nil && c.DurationS > 0 {
		parts = append(parts, fmt.Sprintf("some program waited for a core during %.0f %% of the pass (PSI)",
			min(100**c.CPUPressureS/c.DurationS, 100)))
	}
	if c.StealS != nil && *c.StealS > 0 {
		parts = append(parts, fmt.Sprintf("the hypervisor took %.2f s of the machine's CPUs (steal)", *c.StealS))
	}

	return parts
}

// ClientBound is a figure with how far the client can have moved it.
type ClientBound struct {
	Name    string  // "TTFT"
	Figures []Bound // median first
}

// Bound is one of them, in seconds.
type Bound struct {
	Name          string // "median"
	Value, AtMost float64
	Added         bool // the client can only have made it longer
}

// ClientBounds lists median and percentiles of the latencies that are known.
func ClientBounds(f *results.Figures) []ClientBound {
	b := f.ClientAtMost
	if b == nil {
		return nil
	}

	var all []ClientBound
	for _, l := range []struct {
		name  string
		dist  results.Dist
		bound results.DistBound
	}{{"TTFT", f.TTFT, b.TTFT}, {"TPOT", f.TPOT, b.TPOT}, {"ITL", f.ITL, b.ITL}, {"E2EL", f.E2EL, b.E2EL}} {
		out := ClientBound{Name: l.name}
		note := func(name string, value *float64, bound results.FigureBound) {
			if value != nil && bound.AtMostS != nil {
				out.Figures = append(out.Figures, Bound{name, *value, *bound.AtMostS, bound.Added})
			}
		}
		note("median", l.dist.Median, l.bound.Median)
		for _, p := range l.bound.Percentiles {
			if p.P != 50 {
				note(metrics.PercentileName(p.P), metrics.At(l.dist, p.P), p.FigureBound)
			}
		}
		if out.Figures != nil {
			all = append(all, out)
		}
	}
	return all
}

func (l ClientBound) line() string {
	parts := make([]string, len(l.Figures))
	for i, b := range l.Figures {
		parts[i] = fmt.Sprintf("%s %s %.2f ms, client at most %s", b.Name, l.Name, 1000*b.Value, b.Text())
	}
	return strings.Join(parts, "; ")
}

// Text is the bound with its sign, in milliseconds.
func (b Bound) Text() string {
	sign := "±"
	if b.Added {
		sign = "+"
	}
	return fmt.Sprintf("%s%.2f", sign, 1000*b.AtMost)
}
