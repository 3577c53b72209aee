package show

import (
	"fmt"

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
		share := 0.0
		if v, ok := sc.Variant(life.Variant); ok {
			if kind, known := engines.Lookup(v.Server.Launcher); known && kind.Args.MemoryShare != nil {
				share = kind.Args.MemoryShare(plan.Args(v.Server.Args))
			}
		}
		for _, server := range life.Servers {
			if server.Node != "" {
				continue
			}
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
			line += fmt.Sprintf(", and a server requests %.0f %%: it cannot start while others hold that memory",
				100*share)
		}
		lines = append(lines, line+"; bench gpu shows the processes")
	}

	return lines
}
