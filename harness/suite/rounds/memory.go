package rounds

import (
	"cmp"
	"context"
	"fmt"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/suite"
)

// memory reads the video memory of this machine's GPUs. Nil reads none.
type memory struct {
	p        machine.Process
	devices  []device.Device
	samplers []device.Sampler
	rounds   *watch // nil: there is no GPU
}

// openMemory opens what reads GPUs, if the server is here and there are some.
func openMemory(ctx context.Context, p machine.Process, here bool) (*memory, error) {
	if !here {
		fmt.Fprintf(p.Stderr, "note: the server is on another machine: no %s\n", suite.MemoryUsageName)
		return nil, nil
	}

	inventory, err := gpu.Detect(ctx, p.GPUOptions())
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}

	samplers, notes, err := gpu.Samplers(ctx, p.GPUOptions(), inventory, "")
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}

	for _, note := range notes {
		fmt.Fprintf(p.Stderr, "note: %s\n", note)
	}

	m := &memory{p: p, devices: inventory.Of(inventory.Vendor()), samplers: samplers}
	if m.rounds, err = openWatch(ctx, p, inventory); err != nil {
		m.close()
		return nil, err
	}

	return m, nil
}

func (m *memory) close() {
	if m == nil {
		return
	}
	for _, sampler := range m.samplers {
		_ = sampler.Close() // it only read
	}
	m.rounds.close()
}

// watch samples the GPUs during a round; nil: there is none.
func (m *memory) watch() *watch {
	if m == nil {
		return nil
	}
	return m.rounds
}

// read is the memory of each GPU; nil where there is none, or nothing reads
// it.
func (m *memory) read(ctx context.Context) []suite.Memory {
	if m == nil || len(m.devices) == 0 || len(m.samplers) == 0 {
		return nil
	}

	used := map[string]*int64{}
	for _, sampler := range m.samplers {
		readings, err := sampler.Read(ctx)
		if err != nil {
			fmt.Fprintf(m.p.Stderr, "note: GPU memory: %v\n", err)
			continue
		}
		for _, r := range readings {
			used[r.Device] = r.VRAMUsedBytes
		}
	}

	var all []suite.Memory
	for _, d := range m.devices {
		all = append(all, suite.Memory{Name: cmp.Or(d.Name, d.ID()), Used: used[d.ID()], Total: d.VRAMBytes})
	}

	return all
}
