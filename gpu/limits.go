package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu/device"
)

// Limits are the GPUs that this process may use.
type Limits struct {
	Devices []device.Device // in the order in which a program would count them
	By      []string        // what leaves the others out, "CUDA_VISIBLE_DEVICES=6,7"; nil: nothing does
	Parts   []string        // MIG devices that a variable names
	Notes   []string        // where the variables cannot tell
}

// LimitsOf says which GPUs of the machine a process with this environment may
// use: those whose device files it can open, as a container or a scheduler's
// cgroup leaves them, and of these the ones that the variables name. Programs
// count within the first, so the variables do too.
func LimitsOf(env map[string]string, options device.Options, inventory Inventory) Limits {
	vendor := inventory.Vendor()
	all := inventory.Of(vendor)
	var limits Limits

	usable := slices.DeleteFunc(slices.Clone(all), func(d device.Device) bool {
		path := deviceFile(options.Root, d)
		return path != "" && !canOpen(path)
	})

	if len(usable) < len(all) {
		limits.By = append(limits.By, "the permissions of the GPUs' files in /dev")
	}

	limits.Devices, limits.Notes = VisibleTo(env, Inventory{GPUs: usable})
	for _, name := range []string{device.ROCRVisible, device.HIPVisible, device.CUDAVisible} {
		list, set := env[name]
		if !set || name != device.CUDAVisible && vendor == device.NVIDIA || name == device.CUDAVisible &&
			vendor == device.AMD && env[device.HIPVisible] != "" {
			continue
		}
		if len(limits.Devices) < len(usable) {
			limits.By = append(limits.By, name+"="+list)
		}
		for _, entry := range entriesOf(list) {
			if strings.HasPrefix(entry, "MIG-") {
				limits.Parts = append(limits.Parts, entry)
			}
		}
	}

	return limits
}

// deviceFile is the file through which programs compute on a device; "" where
// it is not known, or where a folder stands for the machine that has no /dev.
func deviceFile(root string, d device.Device) string {
	dev := filepath.Join("/", root, "dev")
	if _, err := os.Stat(dev); err != nil || d.PCI == "" {
		return ""
	}

	switch d.Vendor {
	case device.AMD:
		// the pattern is well formed
		nodes, _ := filepath.Glob(filepath.Join("/", root, "sys/bus/pci/devices", d.PCI, "drm/renderD*"))
		if len(nodes) == 1 {
			return filepath.Join(dev, "dri", filepath.Base(nodes[0]))
		}
	case device.NVIDIA:
		about := device.ReadText(filepath.Join("/", root, "proc/driver/nvidia/gpus", d.PCI, "information"))
		for line := range strings.Lines(about) {
			if minor, ok := strings.CutPrefix(line, "Device Minor:"); ok && device.Digits(strings.TrimSpace(minor)) {
				return filepath.Join(dev, "nvidia"+strings.TrimSpace(minor))
			}
		}
	}

	return ""
}

// canOpen asks the kernel without opening the file, which would wake a GPU that
// sleeps. The answer includes what a cgroup forbids.
func canOpen(path string) bool { return unix.Access(path, unix.R_OK|unix.W_OK) == nil }

// String says what bounds the GPUs, for a message.
func (l Limits) String() string {
	indices := make([]string, len(l.Devices))
	for i, d := range l.Devices {
		indices[i] = fmt.Sprint(d.Index)
	}
	what := strings.Join(l.By, " and ")
	switch len(indices) {
	case 0:
		return what + " leaves no GPU"
	case 1:
		return what + " leaves GPU " + indices[0]
	}

	return what + " leaves GPUs " + strings.Join(indices, ", ")
}
