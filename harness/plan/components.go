package plan

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/launchers/ports"
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
// turn, with GPUs that no part before it has.
func componentRecipes(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) (all []Recipe, problem string,
	err error,
) {
	needs, err := gpusOfComponents(sc, v, machine)
	if err != nil {
		return nil, "", err
	}

	machine, problem = roomFor(v, needs, machine)
	taken := listedGPUs(v)
	var peers []recipe.Peer
	for i, c := range v.Components {
		part := v
		part.Components, part.Server = nil, c.Server
		if needs[i] > 0 {
			part.Server.GPUs.List, part.Server.GPUs.Count = freeOf(machine, taken), needs[i]
		}
		own, lacks, err := Recipes(sc, part, machine)
		if err != nil {
			return nil, "", fmt.Errorf("%w (component %s)", err, c.Name)
		}
		if problem == "" && lacks != "" {
			problem = lacks + " (component " + c.Name + ")"
		}

		before := peers
		for _, r := range own {
			r.Spec = asPart(r.Spec, c, len(all), machine)
			r.Spec.Peers = before
			if len(all) > 0 {
				r.Spec.ServedName = servedBehind(r, all[0])
			}
			if r.Spec.Inner = i < len(v.Components)-1; r.Spec.Inner {
				r.Spec.Smoke = recipe.Smoke{} // it is for what takes requests
			}
			taken = append(taken, r.Spec.GPUs...)
			peers = append(slices.Clip(peers), PeerOf(r.Spec))
			all = append(all, r)
		}
	}

	return all, problem, nil
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
	return first.Kind.ServedName(first.Spec)
}

// PeerOf is a server as the components after it know it.
func PeerOf(spec recipe.Spec) recipe.Peer {
	return recipe.Peer{
		Component: spec.Component, Host: ports.Reachable(spec.Host), Port: spec.Port, SideChannel: spec.SideChannel,
	}
}

// gpusOfComponents are how many GPUs each server of a part is to be given; 0: it
// lists its own, or needs none.
func gpusOfComponents(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) ([]int, error) {
	needs := make([]int, len(v.Components))
	for i, c := range v.Components {
		part := v
		part.Server = c.Server
		kind, ok := kindOf(sc, part, machine)
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

// roomFor is the machine, or one that has enough GPUs for all parts and the problem
// that this one has not.
func roomFor(v scenarios.Variant, needs []int, machine Machine) (_ Machine, problem string) {
	total := 0
	for i, c := range v.Components {
		total += needs[i] * max(1, c.Server.Replicas)
	}
	free := freeOf(machine, listedGPUs(v))
	if total <= len(free) {
		return machine, ""
	}

	problem = fmt.Sprintf("variant %q: its components need %d GPUs, and %d are free for them", v.Name, total, len(free))
	machine.GPUs, machine.Allowed, machine.Granted = total+len(listedGPUs(v)), nil, nil
	for _, listed := range listedGPUs(v) {
		machine.GPUs = max(machine.GPUs, listed+1+total)
	}
	return machine, problem
}

// listedGPUs are those that parts name by index.
func listedGPUs(v scenarios.Variant) []int {
	var all []int
	for _, c := range v.Components {
		all = append(all, c.Server.GPUs.List...)
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
