package vram

import (
	"context"

	"github.com/benchrig/bench/results"
)

// Memory is what the proof needs to know of video memory: for the baseline
// before a start, and for the proof after a stop.
type Memory interface {
	// Used is the memory in use by device id, in bytes: video memory, or on
	// machines where GPU and CPU share it what the driver counts as the GPU's.
	// Devices that cannot be read are absent.
	Used(ctx context.Context) (map[string]int64, error)
	// Holders are the processes that hold memory of GPUs.
	Holders(ctx context.Context) ([]results.GPUHolder, error)
}
