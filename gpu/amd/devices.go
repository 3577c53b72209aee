// Package amd reads AMD GPUs: sysfs and the compute driver (kfd), amd-smi and
// rocm-smi.
//
// What goes in: a machine, or a folder that looks like its /sys and /proc, and
// what AMD's programs print. What comes out: devices in the order in which HIP
// counts them, what they are set to, readings by three samplers, and the
// processes that hold memory. A suspended GPU is never woken; a value that a
// source does not have is null.
package amd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// vendorID is AMD's PCI vendor id as sysfs writes it.
const vendorID = "0x1002"

// amdCard is a graphics card that the amdgpu driver serves.
type amdCard struct {
	folder string // its device folder in sysfs
	pci    string
	vram   *int64
	gtt    *int64
}

// amdGPU is a device with the places where its values are.
type amdGPU struct {
	device.Device
	folder string  // of its card in sysfs; "" where no card matches
	node   kfdNode // its zero value without the compute driver
}

// ownsCardReadings says that the card's readings belong to this device: it is the only
// or the first partition. Power is counted once per socket.
func (g amdGPU) ownsCardReadings() bool { return g.PartitionIndex == nil || *g.PartitionIndex == 0 }

// Devices lists what HIP would count. Without the compute driver it lists
// the cards in PCI order, with a note. A display controller of another vendor,
// and a card without amdgpu, are not devices.
func Devices(root string) ([]device.Device, []string) {
	gpus, notes := listGPUs(root)
	var devices []device.Device
	for _, gpu := range gpus {
		devices = append(devices, gpu.Device)
	}
	return devices, notes
}

func listGPUs(root string) ([]amdGPU, []string) {
	cards := amdCards(root)
	nodes := kfdNodes(root)
	if len(nodes) == 0 {
		if len(cards) == 0 {
			return nil, nil
		}
		var gpus []amdGPU
		for i, card := range cards {
			gpus = append(gpus, card.gpu(i, kfdNode{}))
		}
		return gpus, []string{"amd: no compute driver (/sys/class/kfd): GPUs are listed in PCI order, ROCm may not " +
			"see them"}
	}

	sharers := map[string]int{}
	for _, node := range nodes {
		sharers[node.pci]++
	}

	seen := map[string]int{}
	var gpus []amdGPU
	for i, node := range nodes {
		card := amdCard{pci: node.pci}
		if at := slices.IndexFunc(cards, func(c amdCard) bool { return c.pci == node.pci }); at >= 0 {
			card = cards[at]
		}
		gpu := card.gpu(i, node)
		if sharers[node.pci] > 1 {
			gpu.PartitionIndex = new(seen[node.pci])
			seen[node.pci]++
		}
		if gpu.PartitionIndex != nil || gpu.VRAMBytes == nil {
			gpu.VRAMBytes = node.localBytes
		}
		gpus = append(gpus, gpu)
	}

	dropSharedIDs(gpus)
	return gpus, nil
}

// gpusOf finds devices of an inventory again; those that are not under root
// are left out.
func gpusOf(root string, devices []device.Device) []amdGPU {
	gpus, _ := listGPUs(root)
	return slices.DeleteFunc(gpus, func(g amdGPU) bool {
		return !slices.ContainsFunc(devices, func(d device.Device) bool { return d.ID() == g.ID() })
	})
}

// dropSharedIDs takes away unique ids that several partitions have, as with
// drivers that give all of them the id of their GPU.
func dropSharedIDs(gpus []amdGPU) {
	count := map[string]int{}
	for _, gpu := range gpus {
		count[gpu.UUID]++
	}
	for i := range gpus {
		if count[gpus[i].UUID] > 1 {
			gpus[i].UUID = ""
		}
	}
}

func (c amdCard) gpu(index int, node kfdNode) amdGPU {
	g := amdGPU{folder: c.folder, node: node, Device: device.Device{
		Index: index, Vendor: device.AMD, PCI: c.pci,
		VRAMBytes: c.vram, GTTBytes: c.gtt,
	}}
	if c.folder != "" {
		g.Name = device.ReadText(filepath.Join(c.folder, "product_name"))
		g.Partition = device.ReadText(filepath.Join(c.folder, "current_compute_partition"))
		g.MemoryMode = device.ReadText(filepath.Join(c.folder, "current_memory_partition"))
		if id, err := strconv.ParseUint(device.ReadText(filepath.Join(c.folder, "unique_id")), 16, 64); err == nil &&
			id != 0 {
			g.UUID = fmt.Sprintf("GPU-%016x", id)
		}
	}

	if node.uniqueID != 0 {
		g.UUID = fmt.Sprintf("GPU-%016x", node.uniqueID)
	}
	if node.gfx != "" {
		g.Name = cmp.Or(g.Name, "AMD "+node.gfx)
	}

	g.Unified = unified(c.folder, node.gfx)
	return g
}

// unified says that a GPU sits in a CPU and has no memory of its own: by the
// name of its kind, or by the driver's table, which has another format then.
func unified(folder, gfx string) bool {
	switch gfx {
	case "gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1037", "gfx1103", "gfx1150",
		"gfx1151", "gfx1152", "gfx1153":
		return true
	}
	if folder == "" || suspended(device.ReadText(filepath.Join(folder, "power/runtime_status"))) {
		return false
	}
	table, err := os.ReadFile(filepath.Join(folder, "gpu_metrics"))
	return err == nil && len(table) > 2 && (table[2] == 2 || table[2] == 3)
}

// suspended reads power/runtime_status. Reading other attributes of a
// suspended GPU wakes it or fails.
func suspended(status string) bool { return strings.HasPrefix(status, "suspend") }

// amdCards lists /sys/class/drm/cardN, without their connectors, in PCI order.
func amdCards(root string) []amdCard {
	base := filepath.Join("/", root, "sys/class/drm")
	var cards []amdCard
	for _, n := range numbered(base, "card") {
		folder, err := filepath.EvalSymlinks(filepath.Join(base, "card"+strconv.Itoa(n), "device"))
		if err != nil || device.ReadText(filepath.Join(folder, "vendor")) != vendorID {
			continue
		}
		card := amdCard{
			folder: folder,
			pci:    strings.ToLower(filepath.Base(folder)),
			vram:   readBytes(filepath.Join(folder, "mem_info_vram_total")),
			gtt:    readBytes(filepath.Join(folder, "mem_info_gtt_total")),
		}
		if card.vram != nil {
			cards = append(cards, card)
		}
	}

	slices.SortStableFunc(cards, func(a, b amdCard) int { return cmp.Compare(a.pci, b.pci) })
	return cards
}

func readBytes(path string) *int64 {
	n, err := strconv.ParseInt(device.ReadText(path), 10, 64)
	if err != nil || n <= 0 {
		return nil
	}
	return &n
}
