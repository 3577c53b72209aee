// Package gpu says which GPUs this machine has, what they do, who holds their
// memory, and what else of the machine matters to a measurement.
//
// What goes in: the machine, through gpu/nvidia and gpu/amd, or a folder that
// looks like its /sys and /proc. What comes out: an Inventory in the order in
// which engines count devices, HostFacts, the samplers that work here, a
// Recorder of readings with the moment of each, and a Watcher of memory. What
// cannot be learned is null with a note; a failed reading is a gap, never a
// guess. It changes nothing on the machine: no clock, no power limit, no
// process but its own nvidia-smi, amd-smi and rocm-smi.
package gpu

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/gpu/amd"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
)

// Inventory is the GPUs of a machine.
type Inventory struct {
	GPUs    []device.Device   `json:"gpus"`    // never null; by vendor, then index
	Drivers map[string]string `json:"drivers"` // vendor -> version of the kernel driver
	Sources []string          `json:"sources"` // where the devices come from: "nvml", "nvidia-smi", "sysfs"
	CUDA    *string           `json:"cuda"`    // newest version that the driver serves
	ROCm    *string           `json:"rocm"`    // version installed in /opt/rocm; a container may have another
	Notes   []string          `json:"notes"`   // why a source that should have had something gave nothing
}

// Vendor is the vendor whose devices one means by "the GPUs of this machine": the
// only one, or the one with more memory (a workstation with an NVIDIA card
// may have a small AMD GPU within its CPU). It is "" without devices.
func (v Inventory) Vendor() string {
	memory := map[string]int64{}
	best := ""
	for _, device := range v.GPUs {
		if device.VRAMBytes != nil {
			memory[device.Vendor] += *device.VRAMBytes
		}
	}
	for vendor := range v.byVendor {
		if best == "" || memory[vendor] > memory[best] {
			best = vendor
		}
	}
	return best
}

// Of lists the devices of one vendor, by index.
func (v Inventory) Of(vendor string) []device.Device {
	var devices []device.Device
	for _, device := range v.GPUs {
		if device.Vendor == vendor {
			devices = append(devices, device)
		}
	}
	return devices
}

// byVendor yields the devices of each vendor that has any.
func (v Inventory) byVendor(yield func(vendor string, devices []device.Device) bool) {
	for _, vendor := range []string{device.NVIDIA, device.AMD} {
		if devices := v.Of(vendor); len(devices) > 0 && !yield(vendor, devices) {
			return
		}
	}
}

// Count is the number of devices of Vendor.
func (v Inventory) Count() int { return len(v.Of(v.Vendor())) }

// Detect lists the GPUs. A machine without any gives an empty inventory and no
// error; the error is that of ctx.
func Detect(ctx context.Context, options device.Options) (Inventory, error) {
	machine := Inventory{
		GPUs:    []device.Device{},
		Drivers: driverVersions(options.Root),
		Sources: []string{},
		Notes:   []string{},
	}
	machine.addNVIDIA(ctx, options)
	machine.addAMD(ctx, options)
	machine.addFacts(options.Root)
	if err := ctx.Err(); err != nil {
		return Inventory{}, err
	}
	slices.SortStableFunc(machine.GPUs, byVendorAndIndex)
	return machine, nil
}

func byVendorAndIndex(a, b device.Device) int {
	if a.Vendor != b.Vendor {
		if a.Vendor == device.NVIDIA {
			return -1
		}
		return 1
	}
	return a.Index - b.Index
}

// addNVIDIA asks NVML, and nvidia-smi where NVML has no answer (a build
// without cgo, a library of another version).
func (v *Inventory) addNVIDIA(ctx context.Context, options device.Options) {
	if options.Root == "" {
		devices, err := nvidia.NVMLDevices()
		if len(devices) > 0 {
			v.CUDA = nvidia.NVMLCUDA()
			v.add("nvml", devices)
			return
		}
		if err != nil {
			v.Notes = append(v.Notes, err.Error())
		}
	}

	devices, notes, err := nvidia.SMIDevices(ctx, options.RunTool)
	v.Notes = append(v.Notes, notes...)
	if err != nil {
		v.Notes = append(v.Notes, err.Error())
	}
	if len(devices) > 0 {
		v.CUDA = nvidia.AddSMIFacts(ctx, options.RunTool, devices)
	}

	v.add("nvidia-smi", devices)
}

func (v *Inventory) addAMD(ctx context.Context, options device.Options) {
	devices, notes := amd.Devices(options.Root)
	amd.AddTotals(ctx, options, devices)
	v.Notes = append(v.Notes, notes...)
	v.add("sysfs", devices)
}

func (v *Inventory) add(source string, devices []device.Device) {
	if len(devices) == 0 {
		return
	}
	v.GPUs = append(v.GPUs, devices...)
	v.Sources = append(v.Sources, source)
}

// addFacts completes the inventory by what files say.
func (v *Inventory) addFacts(root string) {
	v.ROCm = device.FirstText(root, "opt/rocm/.info/version", "opt/rocm/.info/version-dev")
	for i := range v.GPUs {
		d := &v.GPUs[i]
		if d.Vendor == device.AMD && d.Facts == nil && d.PCI != "" {
			d.Facts = amd.ReadFacts(filepath.Join("/", root, "sys/bus/pci/devices", d.PCI))
		}
		if d.Facts == nil {
			continue
		}
		if unknown := d.Facts.Unknown(d.Vendor); len(unknown) > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%s: not known: %s", d.ID(), strings.Join(unknown, ", ")))
		}
	}
}

// driverVersions reads the versions of the kernel drivers that are loaded.
func driverVersions(root string) map[string]string {
	versions := map[string]string{}
	if version := device.ReadText(filepath.Join("/", root, "sys/module/amdgpu/version")); version != "" {
		versions[device.AMD] = version
	}
	if version := nvidiaVersion(device.ReadText(filepath.Join("/", root,
		"proc/driver/nvidia/version"))); version != "" {
		versions[device.NVIDIA] = version
	}
	return versions
}

// nvidiaVersion finds the version number in the driver's self-description,
// whose wording differs between the open and the closed module.
func nvidiaVersion(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for word := range strings.FieldsSeq(line) {
		if major, minor, ok := strings.Cut(word, "."); ok && device.Digits(major) &&
			device.Digits(strings.ReplaceAll(minor, ".", "")) {
			return word
		}
	}
	return ""
}
