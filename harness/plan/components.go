package plan

import (
	"fmt"
	"net"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// Components find each other's memory at ports of their own, which begin here and
// lie so far apart that every rank of a server has one.
const (
	sideChannels      = 5600
	sideChannelStride = 20
)

// componentRecipes are the recipes of a server of several parts: each part's in
// turn, with GPUs that no part before it has on its node.
func componentRecipes(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) (all []Recipe, problem string,
	err error,
) {
	rooms, problem := roomsOf(sc, v, machine)
	needs, err := gpusOfComponents(sc, v, rooms[0].machine)
	if err != nil {
		return nil, "", err
	}
	shares, short := placeComponents(v, needs, rooms)
	if problem == "" {
		problem = short
	}

	var peers []recipe.Peer
	for i, c := range v.Components {
		before := peers
		for _, s := range shares[i] {
			own, lacks, err := componentShare(sc, v, c, s, needs[i])
			if err != nil {
				return nil, "", fmt.Errorf("%w (component %s)", err, c.Name)
			}
			if problem == "" && lacks != "" {
				problem = lacks + " (component " + c.Name + ")"
			}

			for _, r := range own {
				r.Spec = asPart(r.Spec, c, len(all), machine)
				r.Spec.Peers = before
				if len(all) > 0 {
					r.Spec.ServedName = servedBehind(r, all[0])
				}
				if r.Spec.Inner = i < len(v.Components)-1; r.Spec.Inner {
					r.Spec.Smoke = recipe.Smoke{} // it is for what takes requests
				}
				r.Spec = s.room.placed(r.Spec, c.Server.Interface)
				s.room.taken = append(s.room.taken, r.Spec.GPUs...)
				peers = append(slices.Clip(peers), PeerOf(r.Spec))
				all = append(all, r)
			}
		}
	}

	return all, problem, nil
}

// componentShare are the recipes of those servers of a component that run on one node.
func componentShare(sc *scenarios.Scenario, v scenarios.Variant, c scenarios.Component, s share, need int) ([]Recipe,
	string, error,
) {
	v.Components, v.Server = nil, c.Server
	v.Server.Replicas = s.servers
	if need > 0 {
		v.Server.GPUs.List, v.Server.GPUs.Count = freeOf(s.room.machine, s.room.taken), need
	}
	return recipesOf(sc, v, s.room.machine)
}

// asPart is the spec of a server that is number at among those of all parts, which
// decides on its place in logs and the ports that are tried first.
func asPart(spec recipe.Spec, c scenarios.Component, at int, machine Machine) recipe.Spec {
	if c.Server.Port == 0 && spec.Port != 0 {
		spec.Port += at - spec.Replica
	}
	spec.Component, spec.Replica, spec.Replicas = c.Name, at, max(2, spec.Replicas)
	spec.SideChannel = sideChannels + at*sideChannelStride + machine.PortOffset
	return spec
}

// servedBehind is the name of the model of a part: what requests ask of a router of
// another kind is the name under which the first part serves the same model.
func servedBehind(r, first Recipe) string {
	if r.Spec.ServedName != "" || r.Kind.Name == first.Kind.Name || r.Spec.Model != first.Spec.Model {
		return r.Spec.ServedName
	}
	return first.Kind.API.ServedName(first.Spec)
}

// PeerOf is a server as the components after it know it.
func PeerOf(spec recipe.Spec) recipe.Peer {
	return recipe.Peer{
		Component: spec.Component, Host: spec.Reached(), Port: spec.Port, SideChannel: spec.SideChannel,
	}
}

// gpusOfComponents are how many GPUs each server of a part is to be given; 0: it
// lists its own, or needs none.
func gpusOfComponents(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) ([]int, error) {
	needs := make([]int, len(v.Components))
	for i, c := range v.Components {
		part := v
		part.Components, part.Server = nil, c.Server
		kind, ok := kindOf(sc, part)
		if !ok {
			return nil, variantError(v, fmt.Errorf("component %s: unknown launcher %q", c.Name, c.Server.Launcher))
		}
		need, err := gpusEach(kind, part)
		if err != nil {
			return nil, variantError(v, fmt.Errorf("component %s: %w", c.Name, err))
		}
		onCPU := machine.usable() == 0 && need == 1 && c.Server.GPUs.Count == 0
		if !c.Server.GPUs.None && c.Server.GPUs.List == nil && !onCPU {
			needs[i] = need
		}
	}
	return needs, nil
}

// room is a node of the job with what servers on it can have.
type room struct {
	node    recipe.Node
	away    bool // it is another machine than this one
	several bool // the job has other nodes, which must reach servers here
	machine Machine
	taken   []int // GPUs of servers on it
	needed  int   // GPUs of servers that are placed on it
}

// share are servers of a component that run on one node.
type share struct {
	room    *room
	servers int
}

// roomsOf are the nodes for the components of a server, this one first. What is not
// known of another node is assumed to be as here.
func roomsOf(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) (rooms []*room, problem string) {
	need := nodesOf(v)
	if need == 1 {
		return []*room{{machine: machine, taken: listedGPUs(v, 0)}}, ""
	}
	if machine.Granted == nil && machine.GPUs == 0 { // not on a node yet
		machine.GPUs = sc.Slurm.GPUsOfNode()
	}

	nodes, problem := nodesFor(v, need, machine)
	for at, node := range nodes {
		there := machine
		if at > 0 {
			there.Devices, there.Allowed, there.CPUs = nil, nil, nil
			there.GPUs, there.Granted = machine.usable(), nil
			if node.GPUs != nil {
				there.GPUs, there.Granted = len(node.GPUs), node.GPUs
			}
		}
		rooms = append(rooms, &room{
			node: node, away: at > 0, several: true, machine: there, taken: listedGPUs(v, at),
		})
	}
	return rooms, problem
}

// placeComponents says on which nodes the servers of each component run: where node:
// says, else on the first node with enough GPUs, those without GPUs on the first. A
// node that has too few is given more, with the problem.
func placeComponents(v scenarios.Variant, needs []int, rooms []*room) (shares [][]share, problem string) {
	for i, c := range v.Components {
		if c.Node > 0 {
			rooms[c.Node-1].needed += needs[i] * max(1, c.Server.Replicas)
		}
	}

	shares = make([][]share, len(v.Components))
	for i, c := range v.Components {
		if c.Node > 0 {
			shares[i] = []share{{rooms[c.Node-1], max(1, c.Server.Replicas)}}
			continue
		}
		counts := make([]int, len(rooms))
		for range max(1, c.Server.Replicas) {
			at := slices.IndexFunc(rooms, func(r *room) bool {
				return needs[i] == 0 || r.needed+needs[i] <= r.free()
			})
			if at < 0 {
				at = len(rooms) - 1
			}
			rooms[at].needed += needs[i]
			counts[at]++
		}
		for at, n := range counts {
			if n > 0 {
				shares[i] = append(shares[i], share{rooms[at], n})
			}
		}
	}

	for _, r := range rooms {
		if short := r.makeRoom(); short != "" && problem == "" {
			problem = short
		}
	}
	return shares, problem
}

// free is how many GPUs there are to choose from.
func (r *room) free() int { return len(freeOf(r.machine, r.taken)) }

// makeRoom gives the node as many GPUs as its servers need, if it has too few, and
// says so.
func (r *room) makeRoom() (problem string) {
	need, free := r.needed, r.free()
	if need <= free {
		return ""
	}

	r.machine.GPUs, r.machine.Allowed, r.machine.Granted = need+len(r.taken), nil, nil
	for _, listed := range r.taken {
		r.machine.GPUs = max(r.machine.GPUs, listed+1+need)
	}
	on := ""
	if r.several {
		on = " on node " + r.node.Name
	}
	return fmt.Sprintf("its components need %s%s, and %d are free for them", text.Count(need, "GPU"), on, free)
}

// placed is the spec of a server on the node. Where the job has several, it listens
// at the node's address, unless it takes the requests and runs beside bench.
func (r *room) placed(spec recipe.Spec, network string) recipe.Spec {
	if !r.several {
		return spec
	}
	spec.Span = recipe.Span{
		Nodes: []recipe.Node{r.node}, Interface: network,
		Step: r.away || spec.Container.JobStep(), Away: r.away,
	}
	ip := net.ParseIP(spec.Host)
	local := spec.Host == "localhost" || ip != nil && ip.IsLoopback()
	if local && (r.away || spec.Inner) {
		spec.Host = r.node.Address
	}
	return spec
}

// listedGPUs are those that parts on a node name by index; a part without node: that
// names some is on the first.
func listedGPUs(v scenarios.Variant, node int) []int {
	var all []int
	for _, c := range v.Components {
		if max(0, c.Node-1) == node {
			all = append(all, c.Server.GPUs.List...)
		}
	}
	return all
}

// freeOf are the GPUs to choose from that are not taken, as gpus: counts them.
func freeOf(machine Machine, taken []int) []int {
	free := []int{}
	if machine.Allowed != nil && len(machine.Allowed.By) > 0 {
		for _, d := range machine.Allowed.Devices {
			if !slices.Contains(taken, d.Index) {
				free = append(free, d.Index)
			}
		}
		return free
	}

	for at := range machine.GPUs {
		index := at
		if machine.Granted != nil {
			index = machine.Granted[at]
		}
		if !slices.Contains(taken, index) {
			free = append(free, at)
		}
	}
	return free
}
