package load

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// selfUse is what this process has used up since its start.
type selfUse struct {
	cpu     time.Duration // user and system; below 0: unknown
	gcPause time.Duration
	machine proc.Contention // of the whole machine, since it started
}

func readSelf() selfUse {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	use := selfUse{cpu: -1, gcPause: gc.PauseTotal, machine: proc.System.Contention()}
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) == nil {
		use.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	return use
}

// describe fills in what the pass cost this process and how late it sent.
func describe(r *results.ClientReport, before, after selfUse, late []float64) {
	if before.cpu >= 0 && after.cpu >= 0 {
		r.CPUSeconds = new((after.cpu - before.cpu).Seconds())
	}
	r.GCPauseS = new((after.gcPause - before.gcPause).Seconds())
	r.StealS = between(before.machine.Steal, after.machine.Steal)
	r.CPUPressureS = between(before.machine.Pressure, after.machine.Pressure)
	r.CPUs = runtime.GOMAXPROCS(0)
	if len(late) == 0 {
		return
	}
	slices.Sort(late)
	p50, p99, most := metrics.Percentile(late, 50), metrics.Percentile(late, 99), late[len(late)-1]
	r.LateP50S, r.LateP99S, r.LateMaxS = &p50, &p99, &most
}

// between is by how many seconds a counter rose; nil: it is not known.
func between(before, after *time.Duration) *float64 {
	if before == nil || after == nil || *after < *before {
		return nil
	}
	return new((*after - *before).Seconds())
}
