package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/recipe"
)

// grant is what a scheduler has given this job.
type grant struct {
	job   string        // id
	nodes []recipe.Node // this one first
}

// grantOf reads it from the environment of a job.
func grantOf(ctx context.Context, p machine.Process) (grant, error) {
	job, _ := p.Lookup("SLURM_JOB_ID")
	if n, err := strconv.Atoi(job); err != nil || n < 1 {
		return grant{}, usage.Mark(errors.New("SLURM_JOB_ID is not set: not running in a Slurm job; use bench run or " +
			"bench resume"))
	}
	nodes, err := nodesOfJob(ctx, p)
	return grant{job: job, nodes: nodes}, err
}

// The ports that bench chooses start higher by a multiple of portsOfJob, so
// that jobs on one node look for them in different places.
const (
	portsOfJob = 20
	portRanges = 1000
)

// machine is the part of this machine that the job was given: never more.
func (g grant) machine(p machine.Process) func(gpu.Inventory, string) plan.Machine {
	return func(inventory gpu.Inventory, self string) plan.Machine {
		machine := machine.Here(inventory, self)
		limits := gpu.LimitsOf(grantVars(p, inventory.Vendor()), p.GPUOptions(), inventory)
		visible := limits.Devices
		for _, note := range limits.Notes {
			fmt.Fprintf(p.Stderr, "note: %s\n", note)
		}
		machine.Granted, machine.Nodes = []int{}, g.nodes
		for _, d := range visible {
			machine.Granted = append(machine.Granted, d.Index)
		}
		machine.Devices, machine.GPUs = visible, len(visible)
		n, _ := strconv.Atoi(g.job) // digits, see grantOf
		machine.PortOffset = n % portRanges * portsOfJob
		return machine
	}
}

// grantVars is the variable by which Slurm says which GPUs a job has. It may
// set those of several vendors, which would count within each other. Without
// any, a job has all that it can open: clusters that give out whole nodes name
// no GPUs.
func grantVars(p machine.Process, vendor string) map[string]string {
	names := []string{device.CUDAVisible}
	if vendor == device.AMD {
		names = []string{device.ROCRVisible, device.HIPVisible, device.CUDAVisible}
	}
	for _, name := range names {
		if list, ok := p.Lookup(name); ok {
			return map[string]string{name: list, device.CUDAOrder: device.PCIOrder}
		}
	}
	return nil
}

// granted leaves out GPUs that the job was not given: they are not sampled, and
// their memory is not ours to prove free.
func granted(inventory gpu.Inventory, machine plan.Machine) gpu.Inventory {
	inventory.GPUs = slices.DeleteFunc(slices.Clone(inventory.GPUs), func(d device.Device) bool {
		return !slices.ContainsFunc(machine.Devices, func(b device.Device) bool { return b.ID() == d.ID() })
	})
	return inventory
}

// grantedTo leaves the GPUs in an inventory that the job may use.
func grantedTo(p machine.Process) func(gpu.Inventory) gpu.Inventory {
	return func(inventory gpu.Inventory) gpu.Inventory {
		inventory.GPUs = gpu.LimitsOf(grantVars(p, inventory.Vendor()), p.GPUOptions(), inventory).Devices
		return inventory
	}
}

// GrantedAmong leaves those that the job may use among GPUs given by index; nil: all
// that it may.
func GrantedAmong(p machine.Process, indices []int) func(gpu.Inventory) gpu.Inventory {
	return func(inventory gpu.Inventory) gpu.Inventory {
		inventory = grantedTo(p)(inventory)
		inventory.GPUs = slices.DeleteFunc(slices.Clone(inventory.GPUs), func(d device.Device) bool {
			return indices != nil && !slices.Contains(indices, d.Index)
		})
		return inventory
	}
}

// nodesOfJob are the nodes of this job, this one first, with the addresses by
// which they reach each other; nil where its name is not known.
func nodesOfJob(ctx context.Context, p machine.Process) ([]recipe.Node, error) {
	self, _ := p.Lookup("SLURMD_NODENAME")
	switch n, _ := p.Lookup("SLURM_JOB_NUM_NODES"); {
	case n != "" && n != "1":
	case self == "":
		return nil, nil
	default:
		return []recipe.Node{{Name: self, Address: "127.0.0.1"}}, nil // nobody else is to reach it
	}

	list, _ := p.Lookup("SLURM_JOB_NODELIST")
	listed, err := slurm.Client{}.Nodes(ctx, list)
	if err != nil {
		return nil, err
	}

	var nodes []recipe.Node
	for _, n := range listed {
		nodes = append(nodes, recipe.Node{Name: n.Name, Address: addressOf(ctx, n.Address)})
	}

	at := slices.IndexFunc(nodes, func(n recipe.Node) bool { return n.Name == self })
	if at < 0 {
		return nil, fmt.Errorf("this node, %q by SLURMD_NODENAME, is not one of the job's nodes: %s", self, list)
	}

	nodes[0], nodes[at] = nodes[at], nodes[0]
	return nodes, nil
}

// addressOf is a number where the name has one: engines tell nodes apart by it.
func addressOf(ctx context.Context, name string) string {
	if addresses, err := net.DefaultResolver.LookupHost(ctx, name); err == nil && len(addresses) > 0 {
		return addresses[0]
	}
	return name
}
