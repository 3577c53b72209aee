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

// kfdNode is a device of ROCm's compute driver, which is what HIP counts, in
// this order. A GPU in a compute partition mode has several.
type kfdNode struct {
	pci        string
	uniqueID   uint64
	gfx        string // "gfx942"
	localBytes *int64 // memory of its own bank
}

// amdDevices lists what HIP would count. Without the compute driver it lists
// the cards in PCI order, with a note. A display controller of another vendor,
// and a card without amdgpu, are no devices.
func amdDevices(root string) ([]Device, []string) {
	cards := amdCards(root)
	nodes := kfdNodes(root)
	if len(nodes) == 0 {
		if len(cards) == 0 {
			return nil, nil
		}
		var devices []Device
		for i, card := range cards {
			devices = append(devices, card.device(i))
		}
		return devices, []string{"amd: no compute driver (/sys/class/kfd): GPUs are listed in PCI order, ROCm may not see them"}
	}
	sharers := map[string]int{}
	for _, node := range nodes {
		sharers[node.pci]++
	}
	var devices []Device
	for i, node := range nodes {
		card := amdCard{pci: node.pci}
		if at := slices.IndexFunc(cards, func(c amdCard) bool { return c.pci == node.pci }); at >= 0 {
			card = cards[at]
		}
		device := card.device(i)
		device.Name = cmp.Or(device.Name, strings.TrimSpace("AMD "+node.gfx))
		if node.uniqueID != 0 {
			device.UUID = fmt.Sprintf("GPU-%016x", node.uniqueID)
		}
		if sharers[node.pci] > 1 || device.VRAMBytes == nil {
			device.VRAMBytes = node.localBytes
		}
		devices = append(devices, device)
	}
	return devices, nil
}

func (c amdCard) device(index int) Device {
	device := Device{Index: index, Vendor: AMD, PCI: c.pci, VRAMBytes: c.vram, GTTBytes: c.gtt}
	if c.folder == "" {
		return device
	}
	device.Name = readText(filepath.Join(c.folder, "product_name"))
	if id, err := strconv.ParseUint(readText(filepath.Join(c.folder, "unique_id")), 16, 64); err == nil && id != 0 {
		device.UUID = fmt.Sprintf("GPU-%016x", id)
	}
	return device
}

// amdCards lists /sys/class/drm/cardN, without their connectors, in PCI order.
func amdCards(root string) []amdCard {
	base := filepath.Join("/", root, "sys/class/drm")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var cards []amdCard
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), "card")
		if _, err := strconv.Atoi(number); !ok || err != nil {
			continue
		}
		folder, err := filepath.EvalSymlinks(filepath.Join(base, entry.Name(), "device"))
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

// kfdNodes lists the nodes of the compute topology that are GPUs.
func kfdNodes(root string) []kfdNode {
	base := filepath.Join("/", root, "sys/class/kfd/kfd/topology/nodes")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var numbers []int
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var nodes []kfdNode
	for _, n := range numbers {
		folder := filepath.Join(base, strconv.Itoa(n))
		if properties := readProperties(filepath.Join(folder, "properties")); properties["simd_count"] > 0 {
			node := newKFDNode(properties)
			node.localBytes = localMemory(folder)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func newKFDNode(properties map[string]uint64) kfdNode {
	location := properties["location_id"] // bus, device and function in 8, 5 and 3 bits
	node := kfdNode{
		pci:      fmt.Sprintf("%04x:%02x:%02x.%x", properties["domain"], location>>8&0xff, location>>3&0x1f, location&7),
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
func readProperties(path string) map[string]uint64 {
	properties := map[string]uint64{}
	for line := range strings.Lines(readText(path)) {
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
