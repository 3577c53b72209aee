package gpu

import (
	"context"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/load"
	"github.com/shirou/gopsutil/v3/mem"

	"github.com/benchrig/bench/results"
)

// hostPeriod is how often the host is read.
const hostPeriod = time.Second

// hostSource reads CPU, memory and load of this machine.
func hostSource(ctx context.Context) source {
	before := cpuTimes(ctx)
	return source{name: "host", period: hostPeriod, read: func(ctx context.Context) ([]Sample, error) {
		now := cpuTimes(ctx)
		reading := readHost(ctx)
		reading.CPUBusy = now.busySince(before)
		before = now
		return []Sample{{At: time.Now(), Host: &reading}}, nil
	}}
}

// readHost is memory and load at this moment.
func readHost(ctx context.Context) results.HostReading {
	var reading results.HostReading
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil && memory.Total > 0 {
		reading.MemoryUsedBytes = new(int64(memory.Total) - int64(memory.Available))
	}
	if average, err := load.AvgWithContext(ctx); err == nil {
		reading.Load1 = &average.Load1
	}
	return reading
}

// cpuSpent is the time that all CPUs together spent so far, in seconds.
type cpuSpent struct{ busy, total float64 }

func cpuTimes(ctx context.Context) cpuSpent {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(times) == 0 {
		return cpuSpent{}
	}
	t := times[0] // guest time is part of user time
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	return cpuSpent{busy: busy, total: busy + t.Idle + t.Iowait}
}

// busySince is the busy share since then; nil if no time has passed.
func (c cpuSpent) busySince(then cpuSpent) *float64 {
	if then.total == 0 || c.total <= then.total {
		return nil
	}
	return new(min(max((c.busy-then.busy)/(c.total-then.total), 0), 1))
}
