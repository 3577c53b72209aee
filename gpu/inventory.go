// Package gpu says which GPUs a box has, what they do, who holds their memory,
// and what else of the box matters to a measurement.
//
// What goes in: the machine (NVML, the vendors' tools, sysfs), or a folder
// that looks like its /sys and /proc. What comes out: an Inventory in the
// order in which engines count devices, HostFacts, readings by Samplers and a
// Recorder with the moment of each, and a Watcher of memory; what cannot be
// learned is null with a note, a failed reading is a gap, never a guess. It
// changes nothing on the box: no clock, no power limit, no process but its own
// nvidia-smi, amd-smi and rocm-smi.
package gpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// The vendors of a Device.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
)

// Device is one GPU, or one partition of a GPU that engines count as a device.
type Device struct {
	Index     int    `json:"index"` // as CUDA in PCI order or HIP counts; counted for each vendor from 0
	Vendor    string `json:"vendor"`
	Name      string `json:"name"`       // "" if unknown
	UUID      string `json:"uuid"`       // as CUDA or ROCr spell it, "GPU-..."; "" if unknown
	PCI       string `json:"pci"`        // domain:bus:device.function in lower case; "" if unknown
	VRAMBytes *int64 `json:"vram_bytes"` // null where memory is shared with the CPU or unknown
	GTTBytes  *int64 `json:"gtt_bytes"`  // host memory that an AMD GPU may use; all that counts on an APU

	Unified        bool   `json:"unified_memory"`  // its memory is the CPU's: an APU, a superchip
	Partition      string `json:"partition"`       // AMD: compute mode, "SPX", "CPX"; NVIDIA: MIG profile; "" if none or unknown
	PartitionIndex *int   `json:"partition_index"` // which part of its GPU it is, from 0; null: it is the whole GPU
	MemoryMode     string `json:"memory_mode"`     // AMD: "NPS1", "NPS4"; "" if none or unknown

	Parts []Part `json:"parts,omitempty"` // MIG devices; its figures are those of the whole GPU
	Facts *Facts `json:"facts,omitempty"` // what it is set to; null if nothing says
}

// Part is a MIG device of a GPU.
type Part struct {
	Index     int    `json:"index"`
	Name      string `json:"name"` // profile, "3g.40gb"
	UUID      string `json:"uuid"` // "MIG-..."
	VRAMBytes *int64 `json:"vram_bytes"`
}

// ID names the device in results: its UUID where known, else its PCI address,
// with the number of the partition if it is one, else vendor and index.
func (d Device) ID() string {
	address := d.PCI
	if address != "" && d.PartitionIndex != nil {
		address = fmt.Sprintf("%s/%d", address, *d.PartitionIndex)
	}
	return cmp.Or(d.UUID, address, fmt.Sprintf("%s:%d", d.Vendor, d.Index))
}

// Inventory is the GPUs of a box.
type Inventory struct {
	GPUs    []Device          `json:"gpus"`    // never null; by vendor, then index
	Drivers map[string]string `json:"drivers"` // vendor -> version of the kernel driver
	Sources []string          `json:"sources"` // where the devices come from: "nvml", "nvidia-smi", "sysfs"
	CUDA    *string           `json:"cuda"`    // newest version that the driver serves
	ROCm    *string           `json:"rocm"`    // version installed in /opt/rocm; a container may have another
	Notes   []string          `json:"notes"`   // why a source that should have had something gave nothing
}

// Vendor is the vendor whose devices one means by "the GPUs of this box": the
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
	for _, vendor := range []string{NVIDIA, AMD} {
		if len(v.Of(vendor)) > 0 && (best == "" || memory[vendor] > memory[best]) {
			best = vendor
		}
	}
	return best
}

// Of lists the devices of one vendor, by index.
func (v Inventory) Of(vendor string) []Device {
	var devices []Device
	for _, device := range v.GPUs {
		if device.Vendor == vendor {
			devices = append(devices, device)
		}
	}
	return devices
}

// Count is the number of devices of Vendor.
func (v Inventory) Count() int { return len(v.Of(v.Vendor())) }

// Options say where to look. The zero value is this machine.
type Options struct {
	// Root stands before /sys and /proc. With a root other than "" NVML is not
	// asked, because it knows only this machine.
	Root string

	// RunTool runs a program and returns its stdout; nil runs it for real, for
	// at most ten seconds. An error that wraps exec.ErrNotFound says that the
	// program is not there.
	RunTool func(ctx context.Context, argv []string) ([]byte, error)
}

// Detect lists the GPUs. A box without any gives an empty inventory and no
// error; the error is that of ctx.
func Detect(ctx context.Context, options Options) (Inventory, error) {
	box := Inventory{
		GPUs:    []Device{},
		Drivers: driverVersions(options.Root),
		Sources: []string{},
		Notes:   []string{},
	}
	box.addNVIDIA(ctx, options)
	box.addAMD(options.Root)
	box.addFacts(options.Root)
	if err := ctx.Err(); err != nil {
		return Inventory{}, err
	}
	slices.SortStableFunc(box.GPUs, byVendorAndIndex)
	return box, nil
}

func byVendorAndIndex(a, b Device) int {
	if a.Vendor != b.Vendor {
		if a.Vendor == NVIDIA {
			return -1
		}
		return 1
	}
	return a.Index - b.Index
}

// addNVIDIA asks NVML, and nvidia-smi where NVML has no answer (a build
// without cgo, a library of another version).
func (v *Inventory) addNVIDIA(ctx context.Context, options Options) {
	if options.Root == "" {
		devices, err := nvmlDevices()
		if len(devices) > 0 {
			v.CUDA = nvmlCUDA()
			v.add("nvml", devices)
			return
		}
		if err != nil {
			v.Notes = append(v.Notes, err.Error())
		}
	}
	devices, err := smiDevices(ctx, options.RunTool)
	if err != nil {
		v.Notes = append(v.Notes, err.Error())
	}
	if len(devices) > 0 {
		v.CUDA = smiFacts(ctx, options.RunTool, devices)
	}
	v.add("nvidia-smi", devices)
}

func (v *Inventory) addAMD(root string) {
	devices, notes := amdDevices(root)
	v.Notes = append(v.Notes, notes...)
	v.add("sysfs", devices)
}

func (v *Inventory) add(source string, devices []Device) {
	if len(devices) == 0 {
		return
	}
	v.GPUs = append(v.GPUs, devices...)
	v.Sources = append(v.Sources, source)
}
