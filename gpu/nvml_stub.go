//go:build !linux || !cgo

package gpu

import (
	"errors"

	"github.com/benchrig/bench/results"
)

// errNoNVML says that this build cannot ask the driver's library.
var errNoNVML = errors.New("nvml: this build of bench has no cgo and cannot ask the driver's library")

// nvmlDevices has nothing to ask in a build without cgo; nvidia-smi serves.
func nvmlDevices() ([]Device, error) { return nil, nil }

func newNVMLSampler(Options, []Device) (Sampler, error) { return nil, errNoNVML }

func nvmlHolders([]Device) ([]results.GPUHolder, error) { return nil, errNoNVML }

func nvmlCUDA() *string { return nil }
