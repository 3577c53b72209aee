// Package device is what every source of figures about a GPU shares: the
// Device itself and what it is set to, a Sampler and its Readings, and how a
// vendor's program is run and its text is cut.
//
// What goes in: text and numbers of drivers and programs. What comes out:
// values in base units, null where the source has none. It knows no vendor's
// format; gpu/amd and gpu/nvidia do.
package device

import (
	"cmp"
	"context"
	"fmt"
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

	Unified bool `json:"unified_memory"` // its memory is the CPU's: an APU, a superchip
	// AMD: compute mode, "SPX", "CPX"; NVIDIA: MIG profile; "" if none or unknown
	Partition      string `json:"partition"`
	PartitionIndex *int   `json:"partition_index"` // which part of its GPU it is, from 0; null: it is the whole GPU
	MemoryMode     string `json:"memory_mode"`     // AMD: "NPS1", "NPS4"; "" if none or unknown

	Parts []Part `json:"parts,omitempty"` // MIG devices; its figures are those of the whole GPU
	Facts *Facts `json:"facts,omitempty"` // what it is set to; null: not known
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

// IDIfNamed is ID, but "" for a device that only has a place in a list.
func (d Device) IDIfNamed() string {
	if d.UUID == "" && d.PCI == "" {
		return ""
	}
	return d.ID()
}

// Options say where to look. The zero value is this machine.
type Options struct {
	// Root is put before /sys and /proc. With a root other than "" NVML is not
	// asked, because it knows only this machine.
	Root string

	// RunTool runs a program and returns its stdout; nil runs it for real, for
	// at most ten seconds. An error that wraps exec.ErrNotFound says that the
	// program is not there.
	RunTool func(ctx context.Context, argv []string) ([]byte, error)
}
