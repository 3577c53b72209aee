//go:build !linux || !cgo

package nvidia

import (
	"errors"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// ErrNoNVML says that this build cannot ask the driver's library.
var ErrNoNVML = errors.New("nvml: this build of bench has no cgo and cannot ask the driver's library")

// NVMLDevices lists nothing in a build without cgo; nvidia-smi serves.
func NVMLDevices() ([]device.Device, error) { return nil, nil }

// NewNVMLSampler has no library to ask.
func NewNVMLSampler(device.Options, []device.Device) (device.Sampler, error) { return nil, ErrNoNVML }

// NVMLHolders has no library to ask.
func NVMLHolders([]device.Device) ([]results.GPUHolder, error) { return nil, ErrNoNVML }

// NVMLCUDA has no library to ask.
func NVMLCUDA() *string { return nil }
