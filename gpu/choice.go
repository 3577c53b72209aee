package gpu

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/amd"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
)

// samplerKind is a way to read the GPUs of a vendor.
type samplerKind struct {
	name   string
	vendor string
	open   func(device.Options, []device.Device) (device.Sampler, error)
	advice string // what to do where it does not work
}

// samplerKinds are all, for each vendor in the order of preference: what is
// cheapest to read comes first.
func samplerKinds() []samplerKind {
	return []samplerKind{
		{
			"nvml", device.NVIDIA, openNVMLSampler,
			"it needs the NVIDIA driver and a build of bench with cgo; nvidia-smi does without cgo",
		},
		{"nvidia-smi", device.NVIDIA, nvidia.NewSMISampler, "it needs nvidia-smi in PATH and a driver that answers"},
		{"sysfs", device.AMD, amd.NewSysfsSampler, "it needs the amdgpu driver and /sys"},
		{"amd-smi", device.AMD, amd.NewSMISampler, "it needs amd-smi of ROCm 6 or newer in PATH or in /opt/rocm/bin"},
		{"rocm-smi", device.AMD, amd.NewROCmSMISampler, "it needs rocm-smi in PATH or in /opt/rocm/bin"},
	}
}

// openNVMLSampler opens NVML, which knows only this machine.
func openNVMLSampler(options device.Options, devices []device.Device) (device.Sampler, error) {
	if options.Root != "" {
		return nil, nvidia.ErrNoNVML
	}
	return nvidia.NewNVMLSampler(options, devices)
}

// SamplerNames are the names by which a sampler can be forced.
func SamplerNames() []string {
	var names []string
	for _, kind := range samplerKinds() {
		names = append(names, kind.name)
	}
	return names
}

// SamplerVendor is the vendor whose GPUs the sampler of this name reads; "" if
// no sampler has it.
func SamplerVendor(name string) string {
	kind, _ := kindNamed(name)
	return kind.vendor
}

func kindNamed(name string) (kind samplerKind, known bool) {
	kinds := samplerKinds()
	at := slices.IndexFunc(kinds, func(kind samplerKind) bool { return kind.name == name })
	if at < 0 {
		return samplerKind{}, false
	}
	return kinds[at], true
}

func kindsOf(vendor string) []samplerKind {
	return slices.DeleteFunc(samplerKinds(), func(kind samplerKind) bool { return kind.vendor != vendor })
}

// trialLimit bounds the reading by which a sampler shows that it works.
const trialLimit = 20 * time.Second

// Samplers opens what reads the GPUs of a machine: for each vendor the cheapest
// way that works, or, if force is neither "" nor "auto", the one of that
// name. Each has given a reading. Notes say what was tried without success
// and what a reading lacks. A forced sampler that does not work is an error;
// a machine without GPUs has no samplers and no error. The caller closes them.
func Samplers(
	ctx context.Context, options device.Options, machine Inventory, force string,
) ([]device.Sampler, []string, error) {
	if force != "" && force != "auto" {
		return forced(ctx, options, machine, force)
	}

	var samplers []device.Sampler
	var notes []string
	for vendor, devices := range machine.byVendor {
		sampler, tried := firstThatWorks(ctx, options, kindsOf(vendor), devices)
		notes = append(notes, tried...)
		if sampler != nil {
			samplers = append(samplers, sampler)
		}
	}

	return samplers, notes, ctx.Err()
}

func forced(ctx context.Context, options device.Options, machine Inventory, name string) ([]device.Sampler, []string,
	error,
) {
	kind, known := kindNamed(name)
	if !known {
		return nil, nil, fmt.Errorf("unknown sampler %q: want one of %s, or auto", name,
			strings.Join(SamplerNames(), ", "))
	}
	sampler, notes, err := trial(ctx, options, kind, machine.Of(kind.vendor))
	if err != nil {
		return nil, nil, fmt.Errorf("use sampler %s: %w; %s, or choose auto", name, err, kind.advice)
	}
	return []device.Sampler{sampler}, notes, nil
}

// firstThatWorks opens the first kind that gives a reading. What failed
// before is noted, unless it is merely not installed.
func firstThatWorks(ctx context.Context, options device.Options, kinds []samplerKind,
	devices []device.Device,
) (device.Sampler, []string) {
	var notes, absent []string
	for _, kind := range kinds {
		sampler, more, err := trial(ctx, options, kind, devices)
		if err == nil {
			return sampler, append(notes, more...)
		}
		if notInstalled(err) {
			absent = append(absent, err.Error())
		} else {
			notes = append(notes, err.Error())
		}
	}

	return nil, append(notes, fmt.Sprintf("no sampler reads the GPUs of %s: %s", kinds[0].vendor,
		strings.Join(append(absent, notes...), "; ")))
}

// notInstalled reports that a source is not installed, which is usual.
func notInstalled(err error) bool {
	return errors.Is(err, nvidia.ErrNoNVML) || errors.Is(err, exec.ErrNotFound)
}

// trial opens a sampler and reads once. A sampler that knows neither memory
// nor power of any GPU is no use.
func trial(ctx context.Context, options device.Options, kind samplerKind, devices []device.Device) (device.Sampler,
	[]string, error,
) {
	sampler, readings, err := openAndRead(ctx, options, kind, devices)
	if sampler == nil {
		return nil, nil, err
	}
	if err == nil && !slices.ContainsFunc(readings, usable) {
		err = fmt.Errorf("%s: it reports neither memory nor power of any GPU", kind.name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, sampler.Close())
	}

	return sampler, shortcomings(sampler, readings), nil
}

// ReadOnce opens the sampler of this name, takes one reading and closes it.
// Notes are what the sampler found odd.
func ReadOnce(ctx context.Context, options device.Options, name string, devices []device.Device) ([]device.Reading,
	[]string, error,
) {
	kind, known := kindNamed(name)
	if !known {
		return nil, nil, fmt.Errorf("unknown sampler %q", name)
	}
	sampler, readings, err := openAndRead(ctx, options, kind, devices)
	if sampler == nil {
		return nil, nil, err
	}
	return readings, notesOf(sampler), errors.Join(err, sampler.Close())
}

// openAndRead opens a sampler and reads once; nil: it cannot be opened.
func openAndRead(ctx context.Context, options device.Options, kind samplerKind, devices []device.Device) (
	device.Sampler, []device.Reading, error,
) {
	sampler, err := kind.open(options, devices)
	if err != nil {
		return nil, nil, err
	}

	bounded, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()

	readings, err := readWithin(bounded, sampler)
	return sampler, readings, err
}

// readWithin reads until ctx ends, even if the sampler hangs.
func readWithin(ctx context.Context, sampler device.Sampler) ([]device.Reading, error) {
	type answer struct {
		readings []device.Reading
		err      error
	}

	answers := make(chan answer, 1)
	go func() {
		readings, err := sampler.Read(ctx)
		answers <- answer{readings, err}
	}()
	select {
	case a := <-answers:
		return a.readings, a.err
	case <-time.After(trialLimit + killGrace):
		return nil, fmt.Errorf("%s: no answer for %v", sampler.Name(), trialLimit)
	}
}

func usable(r device.Reading) bool {
	return r.VRAMUsedBytes != nil || r.GTTUsedBytes != nil || r.PowerW != nil
}

// shortcomings says what the readings of a sampler lack, and what else it
// has to say.
func shortcomings(sampler device.Sampler, readings []device.Reading) []string {
	notes := notesOf(sampler)
	for _, reading := range readings {
		if reading.VRAMUsedBytes == nil && reading.GTTUsedBytes == nil {
			notes = append(notes, fmt.Sprintf("%s: it does not report memory of %s; where GPU and CPU share memory, "+
				"the host's reading has it", sampler.Name(), reading.Device))
		}
		if reading.PowerW == nil {
			notes = append(notes, fmt.Sprintf("%s: it does not report power of %s", sampler.Name(), reading.Device))
		}
	}
	return notes
}

// notesOf is what a sampler has to say about its readings.
func notesOf(sampler device.Sampler) []string {
	if noter, ok := sampler.(interface{ Notes() []string }); ok {
		return slices.Clone(noter.Notes())
	}
	return nil
}
