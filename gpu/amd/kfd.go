package amd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// kfdNode is a device of ROCm's compute driver, which is what HIP counts, in
// this order. A GPU in a compute partition mode has several.
type kfdNode struct {
	number     int    // of the node in the topology
	folder     string // in sysfs
	id         uint64 // the driver's own, "gpu_id"; 0 if unknown
	pci        string
	uniqueID   uint64
	gfx        string // "gfx942"
	localBytes *int64 // memory of its own bank
}

// kfdNodes lists the nodes of the compute topology that are GPUs.
func kfdNodes(root string) []kfdNode {
	base := filepath.Join("/", root, "sys/class/kfd/kfd/topology/nodes")
	var nodes []kfdNode
	for _, n := range numbered(base, "") {
		folder := filepath.Join(base, strconv.Itoa(n))
		if properties := readProperties(filepath.Join(folder, "properties")); properties["simd_count"] > 0 {
			node := newKFDNode(properties)
			node.number, node.folder = n, folder
			node.id, _ = strconv.ParseUint(device.ReadText(filepath.Join(folder, "gpu_id")), 10, 64)
			node.localBytes = localMemory(folder)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// numbered lists the numbers of the entries of a folder that are named prefix
// and a number, ascending.
func numbered(folder, prefix string) []int {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var numbers []int
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), prefix)
		if n, err := strconv.Atoi(digits); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

func newKFDNode(properties map[string]uint64) kfdNode {
	location := properties["location_id"] // bus, device and function in 8, 5 and 3 bits
	node := kfdNode{
		pci: fmt.Sprintf("%04x:%02x:%02x.%x", properties["domain"], location>>8&0xff, location>>3&0x1f,
			location&7),
		uniqueID: properties["unique_id"],
	}
	if version := properties["gfx_target_version"]; version > 0 {
		node.gfx = fmt.Sprintf("gfx%d%x%x", version/10000, version/100%100, version%100)
	}
	return node
}

// localMemory is the size of a node's first bank of device memory.
func localMemory(folder string) *int64 {
	bank := readProperties(filepath.Join(folder, "mem_banks/0/properties"))
	const public, private = 1, 2 // heap types of frame buffers
	size := bank["size_in_bytes"]
	if heap := bank["heap_type"]; (heap != public && heap != private) || size == 0 || size > 1<<60 {
		return nil
	}
	total := int64(size)
	return &total
}

// readProperties reads lines of a name and a number; others are left out.
func readProperties(path string) map[string]uint64 { return parseProperties(device.ReadText(path)) }

func parseProperties(text string) map[string]uint64 {
	properties := map[string]uint64{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		if n, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
			properties[fields[0]] = n
		}
	}
	return properties
}
