package amd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// smiSampler asks amd-smi, in several calls: one flag that a version, or a
// GPU of a virtual machine, does not know spoils the whole answer. What failed
// once is not asked again.
type smiSampler struct {
	noteList
	*tool

	wanted []amdGPU
	all    []amdGPU       // of the machine: tools list them all
	index  map[int]amdGPU // by amd-smi's index; nil: not asked yet
	asks   []*question
	reads  int
}

// question is one call.
type question struct {
	command string
	flags   []string
	every   int      // one in so many readings asks it
	instead []string // to try when flags fail
	off     bool
}

// NewSMISampler reads these devices by amd-smi. Whether it is there, and
// what it can do, shows at the first reading.
func NewSMISampler(options device.Options, devices []device.Device) (device.Sampler, error) {
	all, _ := listGPUs(options.Root)
	wanted := gpusOf(options.Root, devices)
	if len(wanted) == 0 {
		return nil, errors.New("amd-smi: no AMD GPU in the inventory")
	}
	return &smiSampler{tool: newTool("amd-smi", options), wanted: wanted, all: all, asks: []*question{
		{command: "metric", flags: []string{"-m", "-p", "-u", "-t"}, every: 1},
		{command: "metric", flags: []string{"-c"}, every: 1},
		{command: "metric", flags: []string{"-E"}, every: 1},
		// it takes 0.1 s for each GPU
		{command: "metric", flags: []string{"--throttle"}, every: 5, instead: []string{"--violation"}},
		{command: "static", flags: []string{"--limit"}, every: 30},
	}}, nil
}

// Read makes the calls that are due. The time of a reading is the end of the
// first call, which has the memory and the power.
func (s *smiSampler) Read(ctx context.Context) ([]device.Reading, error) {
	if err := s.learnIndex(ctx); err != nil {
		return nil, err
	}

	readings := map[int]*results.GPUReading{}
	var at time.Time
	var failure error                  // the first
	for i := 0; i < len(s.asks); i++ { // a failure appends to the list
		ask := s.asks[i]
		if ask.off || s.reads%ask.every != 0 {
			continue
		}
		entries, err := s.ask(ctx, ask)
		if err != nil {
			if ctx.Err() != nil && len(readings) > 0 {
				break // there was time for a part
			}
			if ctx.Err() != nil || errors.Is(err, errToolLost) {
				return nil, err
			}
			failure = cmp.Or(failure, err)
			continue
		}
		if at.IsZero() {
			at = time.Now()
		}
		s.merge(readings, entries, ask.command)
	}

	s.reads++
	out := s.collect(readings, at)
	if len(out) == 0 {
		return nil, cmp.Or(failure, errors.New("amd-smi: it reports nothing about the GPUs in the inventory"))
	}

	return out, nil
}

// ask makes one call. If it fails the flags are tried one by one, from now on
// without those that fail again.
func (s *smiSampler) ask(ctx context.Context, ask *question) ([]object, error) {
	args := append([]string{ask.command}, ask.flags...)
	out, err := s.call(ctx, append(args, "--json")...)
	var entries []object
	if err == nil {
		entries, err = parseEntries(out)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, errToolLost) {
		return entries, err
	}

	ask.off = true
	switch {
	case ask.instead != nil:
		s.asks = append(s.asks, &question{command: ask.command, flags: ask.instead, every: ask.every})
	case len(ask.flags) > 1:
		for _, flag := range ask.flags {
			s.asks = append(s.asks, &question{command: ask.command, flags: []string{flag}, every: ask.every})
		}
	default:
		s.note("amd-smi: %s %s is not asked again: %v", ask.command, ask.flags[0], err)
	}

	return nil, fmt.Errorf("amd-smi: %s: %w", ask.command, err)
}

// learnIndex asks which of amd-smi's indexes stands for which device, once.
func (s *smiSampler) learnIndex(ctx context.Context) error {
	if s.index != nil {
		return nil
	}

	out, err := s.call(ctx, "list", "--json")
	var entries []object
	if err == nil {
		entries, err = parseEntries(out)
	}
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, errToolLost) {
			return err
		}
		s.note("amd-smi: list: %v; GPUs are matched by their order", err)
	}

	s.index = matchTool(listedDevices(entries), s.all)
	return nil
}

// merge adds what entries of a command say to the readings by index.
func (s *smiSampler) merge(readings map[int]*results.GPUReading, entries []object, command string) {
	add := readMetric
	if command == "static" {
		add = readStatic
	}
	if len(s.index) == 0 {
		s.index = matchTool(anonymous(entries), s.all)
	}

	for _, entry := range entries {
		index, ok := entry.index()
		if !ok {
			s.note("amd-smi: an entry without the number of its GPU is left out")
			continue
		}
		if readings[index] == nil {
			readings[index] = &results.GPUReading{}
		}
		add(entry, readings[index], &s.noteList)
	}
}

// anonymous is a list of which only the numbers are known.
func anonymous(entries []object) []toolDevice {
	var listed []toolDevice
	for _, entry := range entries {
		if index, ok := entry.index(); ok {
			listed = append(listed, toolDevice{index: index})
		}
	}
	return listed
}

// collect makes readings of the devices that are wanted.
func (s *smiSampler) collect(readings map[int]*results.GPUReading, at time.Time) []device.Reading {
	var out []device.Reading
	for _, index := range slices.Sorted(maps.Keys(readings)) {
		reading := readings[index]
		gpu, ok := s.index[index]
		if !ok {
			s.note("amd-smi: its GPU %d is not in the inventory", index)
			continue
		}
		if isEmptyReading(*reading) || !slices.ContainsFunc(s.wanted,
			func(g amdGPU) bool { return g.ID() == gpu.ID() }) {
			continue
		}
		out = append(out, gpu.reading(*reading, at))
	}

	sortReadings(out)
	return out
}

// reading is a reading of this device. Of the parts of a GPU only the first
// has its power: old tools repeat it for each.
func (g amdGPU) reading(r results.GPUReading, at time.Time) device.Reading {
	r.Device = g.ID()
	if !g.ownsCardReadings() {
		r.PowerW, r.PowerKind, r.EnergyJ, r.PowerLimitW = nil, "", nil, nil
	}
	return device.Reading{At: at, GPUReading: r}
}

func sortReadings(readings []device.Reading) {
	slices.SortStableFunc(readings, func(a, b device.Reading) int { return strings.Compare(a.Device, b.Device) })
}
