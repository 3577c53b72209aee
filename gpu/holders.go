package gpu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// deviceFiles lists processes that have the device file of one of these GPUs open,
// by files under root: the last resort where no driver lists them. It cannot say how
// much memory they hold, knows the GPU by a render node alone, and sees only what
// this user may look at.
func deviceFiles(ctx context.Context, root string, devices []device.Device) ([]results.GPUHolder, error) {
	base := filepath.Join("/", root, "proc")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, fmt.Errorf("look for open GPU devices: %w", err)
	}

	holders := []results.GPUHolder{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() && root == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		folder := filepath.Join(base, entry.Name())
		name := device.ReadText(filepath.Join(folder, "comm"))
		if isMonitor(name) {
			continue
		}
		for _, id := range opened(root, filepath.Join(folder, "fd"), devices) {
			holders = append(holders, results.GPUHolder{PID: pid, Name: name, Device: id})
		}
	}

	return holders, nil
}

// isMonitor reports whether a program looks at GPUs without computing on them. Names
// of processes are cut at 15 bytes.
func isMonitor(name string) bool {
	return slices.Contains([]string{
		"nvidia-smi", "nvidia-persiste", "nv-hostengine", "dcgm-exporter", "nvtop", "amd-smi", "rocm-smi", "amdgpu_top",
	}, name)
}

// opened are the ids of the GPUs whose device files a process has open; "" stands
// for one that its file does not name.
func opened(root, folder string, devices []device.Device) []string {
	links, err := os.ReadDir(folder)
	if err != nil { // of another user, or gone
		return nil
	}

	var ids []string
	for _, link := range links {
		target, err := os.Readlink(filepath.Join(folder, link.Name()))
		if err != nil || !isGPUFile(target) {
			continue
		}
		id, ours := deviceOf(root, target, devices)
		if ours && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}

	if len(ids) > 1 { // one that is named stands for those that are not
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	}
	return ids
}

// deviceOf is the GPU of a device file: a render node leads to a PCI address, and
// may be that of another GPU, such as the desktop's.
func deviceOf(root, file string, devices []device.Device) (id string, ours bool) {
	node, isRender := strings.CutPrefix(file, "/dev/dri/")
	if !isRender {
		return "", true
	}
	link, err := os.Readlink(filepath.Join("/", root, "sys/class/drm", node, "device"))
	if err != nil {
		return "", true // not known
	}
	at := slices.IndexFunc(devices, func(d device.Device) bool { return d.PCI == filepath.Base(link) })
	if at < 0 {
		return "", false
	}
	return devices[at].ID(), true
}

// isGPUFile reports whether a device file is one through which programs compute.
// /dev/nvidiactl is also open in programs that only ask.
func isGPUFile(path string) bool {
	if path == "/dev/kfd" || path == "/dev/nvidia-uvm" {
		return true
	}
	number, ok := strings.CutPrefix(path, "/dev/nvidia")
	if !ok {
		number, ok = strings.CutPrefix(path, "/dev/dri/renderD")
	}
	return ok && device.Digits(number)
}
