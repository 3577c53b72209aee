package amd

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// drmHolders lists the processes that hold video memory of these devices through
// their render nodes (/dev/dri/renderD*), as Vulkan programs do, which the compute
// driver does not list. The kernel counts it in /proc/PID/fdinfo. Processes that
// may not be looked into are not seen.
func drmHolders(options device.Options, devices []device.Device) []results.GPUHolder {
	ids := map[string]string{} // by PCI address
	for _, d := range devices {
		if d.PCI != "" && d.PartitionIndex == nil { // parts of a GPU have one address
			ids[d.PCI] = d.ID()
		}
	}

	base := filepath.Join("/", options.Root, "proc")
	entries, err := os.ReadDir(base)
	if err != nil || len(ids) == 0 {
		return nil
	}

	var holders []results.GPUHolder
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() && options.Root == "" {
			continue
		}
		folder := filepath.Join(base, entry.Name())
		for id, bytes := range drmMemory(folder, ids) {
			holders = append(holders, results.GPUHolder{
				PID: pid, Device: id, Bytes: &bytes, Name: device.ReadText(filepath.Join(folder, "comm")),
			})
		}
	}
	return holders
}

// drmMemory is the video memory that a process holds through render nodes, by
// device. A client that has several descriptors counts once.
func drmMemory(folder string, ids map[string]string) map[string]int64 {
	memory := map[string]int64{}
	links, err := os.ReadDir(filepath.Join(folder, "fd"))
	if err != nil { // of another user, or gone
		return memory
	}

	counted := map[string]bool{}
	for _, link := range links {
		target, err := os.Readlink(filepath.Join(folder, "fd", link.Name()))
		if err != nil || !strings.HasPrefix(target, "/dev/dri/") {
			continue
		}
		client := readDRM(filepath.Join(folder, "fdinfo", link.Name()))
		id, known := ids[client.pci]
		if key := client.pci + " " + client.id; known && client.vram > 0 && !counted[key] {
			counted[key] = true
			memory[id] += client.vram
		}
	}
	return memory
}

// drmClient is one opening of a device of the graphics driver.
type drmClient struct {
	id, pci string
	vram    int64 // bytes
}

// readDRM reads lines such as "drm-memory-vram:\t1024 KiB".
func readDRM(path string) drmClient {
	var client drmClient
	file, err := os.Open(path)
	if err != nil {
		return client
	}
	defer func() { _ = file.Close() }() // it was only read

	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "drm-client-id":
			client.id = value
		case "drm-pdev":
			client.pci = strings.ToLower(value)
		case "drm-memory-vram", "drm-total-vram":
			client.vram = max(client.vram, drmBytes(value))
		}
	}
	return client
}

// drmBytes reads a number with a unit, 0 for another text.
func drmBytes(text string) int64 {
	const kib = 1 << 10
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	factor := map[string]int64{"": 1, "KiB": kib, "MiB": kib * kib, "GiB": kib * kib * kib}[unit]
	if err != nil || n < 0 || factor == 0 || n > (1<<62)/factor {
		return 0
	}
	return n * factor
}

// withDRM adds the holders through render nodes to those that the compute driver
// or a tool lists. Memory of the compute driver is counted there, too: of one
// process on one device the greater number counts.
func withDRM(listed, drm []results.GPUHolder) []results.GPUHolder {
	for _, holder := range drm {
		same := func(h results.GPUHolder) bool {
			return h.PID == holder.PID && (h.Device == holder.Device || h.Device == "")
		}

		found := false
		for i := range listed {
			if !same(listed[i]) {
				continue
			}
			found = true
			if listed[i].Bytes == nil || *listed[i].Bytes < *holder.Bytes {
				listed[i].Bytes = holder.Bytes
			}
		}
		if !found {
			listed = append(listed, holder)
		}
	}

	sortHolders(listed)
	return listed
}
