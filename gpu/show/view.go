// Package show prints the GPUs of this machine: once, or every second.
//
// An inventory and readings go in; a table, lines or JSON come out. It decides
// nothing about what it shows.
package show

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// View is one look at the GPUs of this machine.
type View struct {
	Inventory gpu.Inventory       `json:"inventory"`
	Samplers  []Sampler           `json:"samplers"`
	Holders   []results.GPUHolder `json:"holders"`
	Notes     []string            `json:"notes"`
}

// Sampler is one sampler and one reading of each GPU by it.
type Sampler struct {
	Name string `json:"name"`
	// how often it is read during a run, unless the scenario says otherwise
	PeriodS  float64              `json:"period_s"`
	TookS    float64              `json:"took_s"` // this reading
	Readings []results.GPUReading `json:"readings"`
}

// Read takes one reading of each GPU by each sampler.
func (v *View) Read(ctx context.Context, samplers []device.Sampler) {
	for _, sampler := range samplers {
		began := time.Now()
		readings, err := sampler.Read(ctx)
		if err != nil {
			v.Notes = append(v.Notes, err.Error())
		}
		s := Sampler{
			Name: sampler.Name(), PeriodS: device.DefaultPeriod(sampler.Name()).Seconds(),
			TookS: time.Since(began).Seconds(), Readings: []results.GPUReading{},
		}
		for _, reading := range readings {
			s.Readings = append(s.Readings, reading.GPUReading)
		}
		v.Samplers = append(v.Samplers, s)
	}
}

// ReadHolders finds the processes that hold memory of the GPUs.
func (v *View) ReadHolders(ctx context.Context, options device.Options) {
	if len(v.Inventory.GPUs) == 0 {
		return
	}
	watcher := gpu.NewWatcher(options, v.Inventory)
	defer func() { _ = watcher.Close() }()
	holders, err := watcher.Holders(ctx)
	if err != nil {
		v.Notes = append(v.Notes, err.Error())
	}
	v.Holders = append(v.Holders, holders...)
	v.Notes = append(v.Notes, watcher.Notes()...)
}

// reading is what a sampler said of a device, and which; nil if none did.
func (v *View) reading(device string) (*results.GPUReading, string) {
	for _, s := range v.Samplers {
		at := slices.IndexFunc(s.Readings, func(r results.GPUReading) bool { return r.Device == device })
		if at >= 0 {
			return &s.Readings[at], s.Name
		}
	}
	return nil, ""
}

// Print writes the view as a table.
func (v *View) Print(w io.Writer) error {
	if len(v.Inventory.GPUs) == 0 {
		fmt.Fprintln(w, "no GPU")
		writeNotes(w, v.Notes)
		return nil
	}

	v.printDrivers(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "GPU\tREAD BY\tNAME\tPCI\tVRAM GiB\tPOWER W\tBUSY\tTEMP C\tCLOCKS MHz\tTHROTTLE")
	for _, device := range v.Inventory.GPUs {
		reading, by := v.reading(device.ID())
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", placeOf(device), text.OrDash(by), text.OrDash(nameOf(device)),
			text.OrDash(device.PCI), strings.Join(figures(device, reading), "\t"))
	}

	if err := table.Flush(); err != nil {
		return err
	}

	for _, device := range v.Inventory.GPUs {
		fmt.Fprintf(w, "%s is %s\n", placeOf(device), device.ID())
		for _, part := range device.Parts {
			fmt.Fprintf(w, "  MIG %s is %s\n", part.Name, part.UUID)
		}
	}

	for _, holder := range v.Holders {
		fmt.Fprintf(w, "held by pid %d (%s): %s\n", holder.PID, text.OrDash(holder.Name), held(holder, v.Inventory))
	}

	writeNotes(w, v.Notes)
	return nil
}

func (v *View) printDrivers(w io.Writer) {
	var words []string
	for _, vendor := range []string{device.NVIDIA, device.AMD} {
		if version := v.Inventory.Drivers[vendor]; version != "" {
			words = append(words, vendor+" driver "+version)
		}
	}

	if v.Inventory.CUDA != nil {
		words = append(words, "CUDA "+*v.Inventory.CUDA)
	}
	if v.Inventory.ROCm != nil {
		words = append(words, "ROCm "+*v.Inventory.ROCm)
	}
	if len(words) > 0 {
		fmt.Fprintln(w, strings.Join(words, ", "))
	}
}

func placeOf(device device.Device) string { return fmt.Sprintf("%s %d", device.Vendor, device.Index) }

// nameOf is the name with what it is a part of.
func nameOf(device device.Device) string {
	name := device.Name
	if device.PartitionIndex != nil {
		name += fmt.Sprintf(" (part %d, %s/%s)", *device.PartitionIndex, text.OrDash(device.Partition),
			text.OrDash(device.MemoryMode))
	}
	if len(device.Parts) > 0 {
		name += " (MIG, figures of the whole GPU)"
	}
	if device.Unified {
		name += " (memory shared with the CPU)"
	}
	return name
}

func held(holder results.GPUHolder, machine gpu.Inventory) string {
	on := "a GPU"
	for _, device := range machine.GPUs {
		if device.ID() == holder.Device {
			on = placeOf(device)
		}
	}
	if holder.Bytes == nil {
		return "memory of " + on
	}
	return text.Gibibytes(holder.Bytes) + " GiB of " + on
}

// figures are a reading's columns: memory, power, busy, temperature, clocks,
// throttling.
func figures(device device.Device, r *results.GPUReading) []string {
	if r == nil {
		return []string{"-/" + text.Gibibytes(device.VRAMBytes), "-", "-", "-", "-", "-"}
	}

	memory := text.Gibibytes(r.VRAMUsedBytes) + "/" + text.Gibibytes(device.VRAMBytes)
	if r.GTTUsedBytes != nil && device.Unified {
		memory += " + " + text.Gibibytes(r.GTTUsedBytes) + " of the CPU's"
	}

	return []string{
		memory,
		text.Number(r.PowerW, 1, 1) + "/" + text.Number(r.PowerLimitW, 1, 0),
		text.Percent(r.Busy),
		joined(text.Number(r.EdgeC, 1, 0), text.Number(r.HotspotC, 1, 0), text.Number(r.MemoryC, 1, 0)),
		joined(text.Number(r.CoreHz, 1e6, 0), text.Number(r.MemoryHz, 1e6, 0)),
		throttling(r.Throttle),
	}
}

func throttling(reasons []string) string {
	switch {
	case reasons == nil:
		return "-"
	case len(reasons) == 0:
		return "none"
	}
	return strings.Join(reasons, ", ")
}

// joined leaves out what is not known, unless nothing is.
func joined(words ...string) string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "-" })
	return text.OrDash(strings.Join(words, "/"))
}

func writeNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}
