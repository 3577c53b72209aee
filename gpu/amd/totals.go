package amd

import (
	"context"

	"github.com/benchrig/bench/gpu/device"
)

// AddTotals completes devices whose memory the driver's files do not say by
// what amd-smi, else rocm-smi says. What neither says stays null.
func AddTotals(ctx context.Context, options device.Options, devices []device.Device) {
	missing := func() bool {
		for _, d := range devices {
			if d.VRAMBytes == nil && !d.Unified {
				return true
			}
		}
		return false
	}

	if !missing() || options.Root != "" && options.RunTool == nil {
		return
	}

	for _, ask := range []func(context.Context, device.Options, []device.Device) map[string]int64{
		smiTotals,
		rocmTotals,
	} {
		totals := ask(ctx, options, devices)
		for i := range devices {
			if total, ok := totals[devices[i].ID()]; ok && devices[i].VRAMBytes == nil && !devices[i].Unified {
				devices[i].VRAMBytes = &total
			}
		}
		if !missing() {
			return
		}
	}
}

// smiTotals asks amd-smi for the memory of devices, by id.
func smiTotals(ctx context.Context, options device.Options, devices []device.Device) map[string]int64 {
	sampler, err := NewSMISampler(options, devices)
	if err != nil {
		return nil
	}
	defer func() { _ = sampler.Close() }() // its answer is here

	s := sampler.(*smiSampler)
	if err := s.learnIndex(ctx); err != nil {
		return nil
	}

	entries, err := s.ask(ctx, &question{command: "metric", flags: []string{"-m"}})
	if err != nil {
		return nil
	}

	totals := map[string]int64{}
	for _, entry := range entries {
		index, ok := entry.index()
		gpu, known := s.index[index]
		r := entryReader{entry: entry, notes: &s.noteList}
		total := wholeBytes(device.Positive(r.optional(r.section("mem_usage"), inMiB, "total_vram")))
		if ok && known && total != nil {
			totals[gpu.ID()] = *total
		}
	}

	return totals
}

// rocmTotals asks rocm-smi for the memory of devices, by id.
func rocmTotals(ctx context.Context, options device.Options, devices []device.Device) map[string]int64 {
	t := newTool("rocm-smi", options)
	defer func() { _ = t.Close() }() // its answer is here

	out, err := t.call(ctx, "--showmeminfo", "vram", "--showbus", "--json")
	if err != nil {
		return nil
	}

	cards, err := parseROCmCards(out, new(noteList))
	if err != nil {
		return nil
	}

	listed := make([]toolDevice, len(cards))
	for i, card := range cards {
		listed[i] = card.toolDevice
	}

	totals := map[string]int64{}
	matches := matchTool(numberPartitions(listed), gpusOf(options.Root, devices))
	for _, card := range cards {
		if gpu, ok := matches[card.index]; ok && card.total != nil {
			totals[gpu.ID()] = *card.total
		}
	}

	return totals
}
