package amd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu/device"
)

// rocmSMISampler asks rocm-smi, the predecessor of amd-smi.
type rocmSMISampler struct {
	noteList
	*tool

	wanted []amdGPU
	all    []amdGPU
	args   []string
}

// NewROCmSMISampler reads these devices by rocm-smi. Whether it is there, and
// what it can do, shows at the first reading.
func NewROCmSMISampler(options device.Options, devices []device.Device) (device.Sampler, error) {
	all, _ := listGPUs(options.Root)
	wanted := gpusOf(options.Root, devices)
	if len(wanted) == 0 {
		return nil, errors.New("rocm-smi: no AMD GPU in the inventory")
	}
	return &rocmSMISampler{
		tool: newTool("rocm-smi", options), wanted: wanted, all: all,
		args: slices.Concat(rocmBasic(), rocmMore()),
	}, nil
}

// rocmBasic is what every version can be asked for at once.
func rocmBasic() []string {
	return []string{"--json", "--showmeminfo", "vram", "gtt", "--showpower", "--showuse", "--showtemp", "--showclocks"}
}

func rocmMore() []string {
	return []string{"--showbus", "--showmemuse", "--showmaxpower", "--showenergycounter"}
}

// Read makes one call. A version that knows less than it is asked for is
// asked for less from then on.
func (s *rocmSMISampler) Read(ctx context.Context) ([]device.Reading, error) {
	cards, err := s.ask(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errToolLost) && len(s.args) > len(rocmBasic()) {
		s.note("%v; fewer values are requested", err)
		s.args = rocmBasic()
		cards, err = s.ask(ctx)
	}
	if err != nil {
		return nil, err
	}

	at := time.Now()
	var listed []toolDevice
	for _, card := range cards {
		listed = append(listed, card.toolDevice)
	}

	index := matchTool(numberPartitions(listed), s.all)
	var out []device.Reading
	for _, card := range cards {
		gpu, ok := index[card.index]
		if !ok {
			s.note("rocm-smi: its card %d is not in the inventory", card.index)
			continue
		}
		if !isEmptyReading(card.GPUReading) && slices.ContainsFunc(s.wanted,
			func(g amdGPU) bool { return g.ID() == gpu.ID() }) {
			out = append(out, gpu.reading(card.GPUReading, at))
		}
	}

	if len(out) == 0 {
		return nil, errors.New("rocm-smi: it reports nothing about the GPUs in the inventory")
	}

	sortReadings(out)
	return out, nil
}

func (s *rocmSMISampler) ask(ctx context.Context) ([]rocmCard, error) {
	out, err := s.call(ctx, s.args...)
	if err != nil {
		return nil, err
	}
	cards, err := parseROCmCards(out, &s.noteList)
	if err != nil {
		return nil, fmt.Errorf("rocm-smi: %w", err)
	}
	return cards, nil
}

// numberPartitions counts cards at the same address: they are the partitions
// of a GPU, in their order.
func numberPartitions(listed []toolDevice) []toolDevice {
	count := map[string]int{}
	for i := range listed {
		if at := slot(device.NormalPCI(listed[i].pci)); at != "" {
			listed[i].partition = new(count[at])
			count[at]++
		}
	}
	return listed
}
