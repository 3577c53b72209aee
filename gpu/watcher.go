package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/benchrig/bench/gpu/amd"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
	"github.com/benchrig/bench/results"
)

// Watcher shows how much memory of GPUs is in use and by whom: what a
// launcher needs before a start and after a stop. Make one with NewWatcher.
type Watcher struct {
	options   device.Options
	inventory Inventory

	mu       sync.Mutex // held while a source is read
	samplers map[string]device.Sampler
	notes    []string
}

// NewWatcher watches the devices of an inventory.
func NewWatcher(options device.Options, inventory Inventory) *Watcher {
	return &Watcher{options: options, inventory: inventory, samplers: map[string]device.Sampler{}}
}

// Close closes what was opened to read.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, sampler := range w.samplers {
		errs = append(errs, sampler.Close())
	}
	clear(w.samplers)
	return errors.Join(errs...)
}

// Notes tell what could not be known, each once.
func (w *Watcher) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notes)
}

func (w *Watcher) note(text string) {
	if !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

// Used is the memory in use by device id, in bytes: video memory, and what an
// APU uses of the CPU's. Devices that cannot be read are absent. The error
// says why none could be read.
func (w *Watcher) Used(ctx context.Context) (map[string]int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	used := map[string]int64{}
	var errs []error
	for vendor, devices := range w.inventory.byVendor {
		readings, err := w.read(ctx, vendor, devices)
		errs = append(errs, err)
		for _, reading := range readings {
			if n, ok := memoryOf(reading, devices); ok {
				used[reading.Device] = n
			}
		}
	}

	if err := errors.Join(errs...); err != nil && len(used) == 0 {
		return nil, err
	}

	return used, nil
}

// memoryOf is what a reading says about memory in use. A GPU that sleeps holds none:
// the kernel does not suspend one whose memory a process holds.
func memoryOf(reading device.Reading, devices []device.Device) (int64, bool) {
	if reading.Suspended {
		return 0, true
	}
	if reading.VRAMUsedBytes == nil {
		return 0, false
	}
	n := *reading.VRAMUsedBytes
	at := slices.IndexFunc(devices, func(d device.Device) bool { return d.ID() == reading.Device })
	if at >= 0 && devices[at].Unified && reading.GTTUsedBytes != nil {
		n += *reading.GTTUsedBytes
	}
	return n, true
}

// read takes a reading from the first source of a vendor that gives one, and
// stays with it as long as it does.
func (w *Watcher) read(ctx context.Context, vendor string, devices []device.Device) ([]device.Reading, error) {
	if sampler, ok := w.samplers[vendor]; ok {
		readings, err := sampler.Read(ctx)
		if err == nil || ctx.Err() != nil {
			return readings, err
		}
		_ = sampler.Close() // it gives nothing any more
		delete(w.samplers, vendor)
	}

	var errs []error
	for _, kind := range kindsOf(vendor) {
		sampler, err := kind.open(w.options, devices)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if stream, ok := sampler.(streaming); ok {
			stream.StopStreaming() // memory is asked for rarely
		}
		readings, err := sampler.Read(ctx)
		if err == nil {
			w.samplers[vendor] = sampler
			return readings, nil
		}
		errs = append(errs, err, sampler.Close())
	}

	return nil, errors.Join(errs...)
}

// Holders are the processes that hold memory of GPUs. Where no driver lists them,
// they are those that have a GPU's device file open, without a device and a
// number of bytes.
func (w *Watcher) Holders(ctx context.Context) ([]results.GPUHolder, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	holders := []results.GPUHolder{}
	var errs []error
	for vendor, devices := range w.inventory.byVendor {
		found, err := w.holdersOf(ctx, vendor, devices)
		holders = append(holders, found...)
		errs = append(errs, err)
	}

	err := errors.Join(errs...)
	if err != nil || w.elsewhere(holders) {
		open, fileErr := deviceFiles(ctx, w.options.Root, w.inventory.GPUs)
		if err != nil && fileErr != nil {
			return nil, errors.Join(err, fileErr)
		}
		if err != nil {
			w.note(fmt.Sprintf("processes on GPUs are known by their open device files only: %v", err))
		}
		holders = append(holders, absentFrom(holders, open)...)
	}

	for i := range holders {
		if holders[i].Name == "" {
			holders[i].Name = device.ReadText(w.proc(holders[i].PID, "comm"))
		}
	}

	return holders, nil
}

func (w *Watcher) holdersOf(ctx context.Context, vendor string, devices []device.Device) ([]results.GPUHolder, error) {
	if vendor == device.AMD {
		return amd.Holders(ctx, w.options, devices)
	}
	if w.options.Root == "" && w.options.RunTool == nil {
		if holders, err := nvidia.NVMLHolders(devices); err == nil {
			return holders, nil
		}
	}
	return nvidia.SMIHolders(ctx, w.options.RunTool, devices)
}

// elsewhere reports that the driver names processes that are not here: it
// counts them as the host does, and bench may be in a container.
func (w *Watcher) elsewhere(holders []results.GPUHolder) bool {
	strange := slices.ContainsFunc(holders, func(h results.GPUHolder) bool {
		_, err := os.Stat(w.proc(h.PID, ""))
		return err != nil
	})
	if strange {
		w.note("the driver names processes that are not visible here: inside a container their numbers are those of " +
			"the host and do not match ours")
	}
	return strange
}

func (w *Watcher) proc(pid int, name string) string {
	return filepath.Join("/", w.options.Root, "proc", strconv.Itoa(pid), name)
}

// absentFrom is what of more has another pid than those known.
func absentFrom(known, more []results.GPUHolder) []results.GPUHolder {
	return slices.DeleteFunc(more, func(h results.GPUHolder) bool {
		return slices.ContainsFunc(known, func(k results.GPUHolder) bool { return k.PID == h.PID })
	})
}

// streaming is a sampler that keeps a program running between readings.
type streaming interface{ StopStreaming() }
