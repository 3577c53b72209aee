//go:build !linux

package gpu

import "time"

// threadCPU is not known here.
func threadCPU() time.Duration { return 0 }
