package show

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
)

// busyBytes is more than a driver or a desktop holds of a GPU.
const busyBytes = 1 << 30

// Busy says which of the GPUs that servers are to be placed on have memory in
// use already, and where a server would not fit beside it. used is by device
// id; what is not known is absent.
func Busy(sc *scenarios.Scenario, p *plan.Plan, devices []device.Device, used map[string]int64) []string {
	shares := map[int]float64{} // the most that a server asks of a GPU, by index
	for _, life := range p.Lives {
		at := slices.IndexFunc(sc.Variants, func(v scenarios.Variant) bool { return v.Name == life.Variant })
		share := 0.0
		if at >= 0 {
			v := sc.Variants[at].Server
			if kind, ok := engines.Lookup(v.Launcher); ok && kind.MemoryShare != nil {
				share = kind.MemoryShare(plan.Args(v.Args))
			}
		}
		for _, server := range life.Servers {
			for _, index := range server.GPUs {
				shares[index] = max(shares[index], share)
			}
		}
	}

	var lines []string
	for _, d := range devices {
		share, planned := shares[d.Index]
		held, known := used[d.ID()]
		if !planned || !known || held < busyBytes || d.Unified {
			continue
		}
		line := fmt.Sprintf("GPU %d has %s of %s GiB in use", d.Index, text.Gibibytes(&held),
			text.Gibibytes(d.VRAMBytes))
		if d.VRAMBytes != nil && share > 0 && float64(held) > (1-share)*float64(*d.VRAMBytes) {
			line += fmt.Sprintf(", and a server asks for %.0f %%: it will be refused as long as others hold that",
				100*share)
		}
		lines = append(lines, line+"; bench gpu shows the processes")
	}

	return lines
}
