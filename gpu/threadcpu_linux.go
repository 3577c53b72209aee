package gpu

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU is the CPU time of the calling thread so far.
func threadCPU() time.Duration {
	var spent unix.Timespec // getrusage counts in ticks of the scheduler on some kernels
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent) != nil {
		return 0
	}
	return time.Duration(spent.Nano())
}
