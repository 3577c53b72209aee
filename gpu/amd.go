package gpu

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// amdVendorID is AMD's PCI vendor id as sysfs writes it.
const amdVendorID = "0x1002"

// amdCard is a graphics card that the amdgpu driver serves.
type amdCard struct {
	folder string // its device folder in sysfs
	pci    string
	vram   *int64
	gtt    *int64
}

// amdGPU is a device with the places where its values are.
type amdGPU struct {
	Device
	folder string  // of its card in sysfs; "" where no card matches
	node   kfdNode // its zero value without the compute driver
}

// whole says that what the card tells is told of this device: it is the only
// or the first partition. Power is counted once per socket.
func (g amdGPU) whole() bool { return g.PartitionIndex == nil || *g.PartitionIndex == 0 }

// amdDevices lists what HIP would count. Without the compute driver it lists
// the cards in PCI order, with a note. A display controller of another vendor,
// and a card without amdgpu, are no devices.
func amdDevices(root string) ([]Device, []string) {
	gpus, notes := amdGPUs(root)
	var devices []Device
	for _, gpu := range gpus {
		devices = append(devices, gpu.Device)
	}
	return devices, notes
}

func amdGPUs(root string) ([]amdGPU, []string) {
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
		return gpus, []string{"amd: no compute driver (/sys/class/kfd): GPUs are listed in PCI order, ROCm may not see them"}
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

// amdGPUsOf finds devices of an inventory again; those that are not under root
// are left out.
func amdGPUsOf(root string, devices []Device) []amdGPU {
	gpus, _ := amdGPUs(root)
	return slices.DeleteFunc(gpus, func(g amdGPU) bool {
		return !slices.ContainsFunc(devices, func(d Device) bool { return d.ID() == g.ID() })
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
	g := amdGPU{folder: c.folder, node: node, Device: Device{Index: index, Vendor: AMD, PCI: c.pci, VRAMBytes: c.vram, GTTBytes: c.gtt}}
	if c.folder != "" {
		g.Name = readText(filepath.Join(c.folder, "product_name"))
		g.Partition = readText(filepath.Join(c.folder, "current_compute_partition"))
		g.MemoryMode = readText(filepath.Join(c.folder, "current_memory_partition"))
		if id, err := strconv.ParseUint(readText(filepath.Join(c.folder, "unique_id")), 16, 64); err == nil && id != 0 {
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
	case "gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1037", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153":
		return true
	}
	if folder == "" || suspended(readText(filepath.Join(folder, "power/runtime_status"))) {
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
		if err != nil || readText(filepath.Join(folder, "vendor")) != amdVendorID {
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
	slices.SortFunc(cards, func(a, b amdCard) int { return cmp.Compare(a.pci, b.pci) })
	return cards
}

// readText is the trimmed text of a small file; "" if it cannot be read.
func readText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func readBytes(path string) *int64 {
	n, err := strconv.ParseInt(readText(path), 10, 64)
	if err != nil || n <= 0 {
		return nil
	}
	return &n
}

// driverVersions reads the versions of the kernel drivers that are loaded.
func driverVersions(root string) map[string]string {
	versions := map[string]string{}
	if version := readText(filepath.Join("/", root, "sys/module/amdgpu/version")); version != "" {
		versions[AMD] = version
	}
	if version := nvidiaVersion(readText(filepath.Join("/", root, "proc/driver/nvidia/version"))); version != "" {
		versions[NVIDIA] = version
	}
	return versions
}

// nvidiaVersion finds the version number in the driver's self-description,
// whose wording differs between the open and the closed module.
func nvidiaVersion(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for word := range strings.FieldsSeq(line) {
		if major, minor, ok := strings.Cut(word, "."); ok && digits(major) && digits(strings.ReplaceAll(minor, ".", "")) {
			return word
		}
	}
	return ""
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
