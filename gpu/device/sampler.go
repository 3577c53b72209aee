package device

import (
	"context"
	"time"

	"github.com/benchrig/bench/results"
)

// Sampler reads all devices of one source.
type Sampler interface {
	// Name is what a scenario forces it by: "nvml", "nvidia-smi", "sysfs",
	// "amd-smi", "rocm-smi".
	Name() string
	// Read returns one reading for each device it sees. An error means that
	// nothing could be read this time. It returns soon after ctx is done.
	Read(ctx context.Context) ([]Reading, error)
	Close() error
}

// Reading is what one device said, and when.
type Reading struct {
	At time.Time // of the reading itself, as exactly as the source allows; with monotonic time
	results.GPUReading

	Suspended bool // it sleeps, and was not woken to be read
}

// DefaultPeriod is how often a sampler is read where nobody says: what costs
// well under 1 % of a core, or what the program behind it can do.
func DefaultPeriod(sampler string) time.Duration {
	switch sampler {
	case "nvml", "sysfs":
		return 100 * time.Millisecond
	case "nvidia-smi":
		return 500 * time.Millisecond
	default:
		return time.Second
	}
}
