package gpu

import (
	"cmp"
	"slices"

	"benchrig/results"
)

// sortHolders puts holders in the order of pid and device.
func sortHolders(holders []results.GPUHolder) {
	slices.SortFunc(holders, func(a, b results.GPUHolder) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Device, b.Device))
	})
}
