package amd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// toolDevice is how one of AMD's tools names a device. What it does not say is
// "" or nil.
type toolDevice struct {
	index     int
	pci       string
	partition *int
	node      *int    // number in the topology of the compute driver
	kfdID     *uint64 // the compute driver's own id
}

// matchTool finds the device of the inventory for each index of a tool: by
// node, by id, by PCI address and partition. Tools count in the order of PCI
// addresses; where they say nothing else, that order serves if both know as
// many devices. A device that is not known is absent.
func matchTool(listed []toolDevice, gpus []amdGPU) map[int]amdGPU {
	matches := map[int]amdGPU{}
	anonymous := true
	for _, device := range listed {
		if device.pci != "" || device.node != nil || device.kfdID != nil {
			anonymous = false
		}
		if gpu, ok := device.find(gpus); ok {
			matches[device.index] = gpu
		}
	}

	if anonymous && len(listed) == len(gpus) {
		inOrder := slices.SortedStableFunc(slices.Values(gpus), byAddress)
		for _, device := range listed {
			if device.index < len(inOrder) {
				matches[device.index] = inOrder[device.index]
			}
		}
	}

	return matches
}

func byAddress(a, b amdGPU) int {
	part := func(g amdGPU) int {
		if g.PartitionIndex == nil {
			return 0
		}
		return *g.PartitionIndex
	}
	return cmp.Or(cmp.Compare(a.PCI, b.PCI), cmp.Compare(part(a), part(b)))
}

func (d toolDevice) find(gpus []amdGPU) (amdGPU, bool) {
	var there []amdGPU // at its address
	for _, gpu := range gpus {
		if d.pci != "" && slot(gpu.PCI) != slot(device.NormalPCI(d.pci)) {
			continue
		}
		switch {
		case d.node != nil && gpu.node.folder != "":
			if gpu.node.number == *d.node {
				return gpu, true
			}
		case d.kfdID != nil && gpu.node.id != 0:
			if gpu.node.id == *d.kfdID {
				return gpu, true
			}
		}
		if d.pci != "" {
			there = append(there, gpu)
		}
	}

	if len(there) == 1 {
		return there[0], true
	}
	if d.partition != nil {
		for _, gpu := range there {
			if gpu.PartitionIndex != nil && *gpu.PartitionIndex == *d.partition {
				return gpu, true
			}
		}
	}

	return amdGPU{}, false
}

// slot is a PCI address without its function: tools number the partitions of
// a GPU there.
func slot(address string) string {
	before, _, _ := strings.Cut(address, ".")
	return before
}
