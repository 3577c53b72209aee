package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/scenarios"
)

// streamsOfLoop is for how many streams another thread of the client reads.
const streamsOfLoop = 256

// ClientPlace is where the threads of the load client run that read, with the reason
// in words; zero where nothing was asked for, or the machine has no room.
func ClientPlace(sc *scenarios.Scenario, machine Machine) (place cpus.Place, why string) {
	c := sc.Client
	if c.Elsewhere() {
		return cpus.Place{}, ""
	}
	if c.Priority == scenarios.PriorityHigh {
		place.Nice = scenarios.HighNice
	}

	switch c.CPUs {
	case "":
		return place, ""
	case scenarios.AutoCPUs:
		choice := chooseCPUs(sc, machine)
		place.CPUs = choice.Client
		return place, choice.Why
	}
	place.CPUs, _ = cpus.Parse(c.CPUs) // it was checked
	return place, "as the scenario says"
}

// chooseCPUs divides the machine between the client and servers without CPUs of
// their own.
func chooseCPUs(sc *scenarios.Scenario, machine Machine) cpus.Choice {
	if machine.CPUs == nil {
		return cpus.Choice{Why: "no cores of its own: the CPUs of this machine are not known"}
	}

	var taken cpus.Set
	for _, v := range sc.Variants {
		set, _ := cpus.Parse(v.Server.CPUs) // it was checked; none is empty
		taken = append(taken, set...)
	}
	streams := 1
	for _, l := range sc.Points {
		streams = max(streams, l.MaxConcurrency)
	}
	return machine.CPUs.Choose((streams+streamsOfLoop-1)/streamsOfLoop, taken)
}

// serverPlace is where a server runs that has these GPUs. A problem is what this
// machine lacks for it.
func serverPlace(sc *scenarios.Scenario, s scenarios.Server, machine Machine, gpus []int,
) (p cpus.Place, problem string) {
	p.Nice = s.Nice
	switch {
	case s.CPUs != "":
		p.CPUs, _ = cpus.Parse(s.CPUs) // it was checked
	case sc.Client.CPUs == scenarios.AutoCPUs && !sc.Client.Elsewhere():
		p.CPUs = chooseCPUs(sc, machine).Servers
	}

	node, problem := numaNode(s, machine, gpus)
	if node == nil {
		return p, problem
	}
	if machine.CPUs == nil {
		return p, "numa: the CPUs of this machine are not known"
	}
	near, known := machine.CPUs.Nodes[*node]
	if !known {
		return p, fmt.Sprintf("numa: this machine has no node %d", *node)
	}

	p.Node = node
	if len(p.CPUs) == 0 {
		p.CPUs = machine.CPUs.Allowed
	}
	if p.CPUs = p.CPUs.Both(near); len(p.CPUs) == 0 {
		return p, fmt.Sprintf("numa: none of the CPUs that the server may use is on node %d, which has %s", *node, near)
	}
	return p, ""
}

// numaNode is the node that a server should run on; nil: any.
func numaNode(s scenarios.Server, machine Machine, gpus []int) (node *int, problem string) {
	switch s.NUMA {
	case "":
		return nil, ""
	case scenarios.AutoNUMA:
	default:
		n, _ := strconv.Atoi(s.NUMA) // it was checked
		return &n, ""
	}

	var found []int
	for _, d := range machine.Devices {
		if machine.CPUs == nil || !slices.Contains(gpus, d.Index) {
			continue
		}
		if n := machine.CPUs.NodeOf(d.PCI); n != nil && !slices.Contains(found, *n) {
			found = append(found, *n)
		}
	}
	switch len(found) {
	case 1:
		return &found[0], ""
	case 0:
		return nil, "numa: auto: the NUMA node of the server's GPUs is not known: give its number, or leave the key out"
	}
	return nil, fmt.Sprintf("numa: auto: the server's GPUs are on several NUMA nodes (%v): leave the key out", found)
}

// Agents say where the load of a scenario comes from, if not from this machine: a
// host, or the command that starts an agent.
func Agents(sc *scenarios.Scenario) []string {
	agents := slices.Clone(sc.Client.Hosts)
	for _, argv := range sc.Client.Commands {
		agents = append(agents, commandLine(nil, argv))
	}
	return agents
}

// clientNote says where the load client runs; "" where nothing was asked for.
func clientNote(sc *scenarios.Scenario, machine Machine) string {
	place, why := ClientPlace(sc, machine)
	note := why
	if len(place.CPUs) > 0 {
		note = "CPUs " + place.CPUs.String() + ": " + why
	}
	if place.Nice == 0 {
		return note
	}
	if note != "" {
		note += "; "
	}
	return note + fmt.Sprintf("nice %d, where that is permitted", place.Nice)
}
