package gpu

import (
	"time"

	"github.com/benchrig/bench/gpu/device"
)

// Cost is what a recording took of the machine.
type Cost struct {
	WallS   float64      `json:"wall_s"` // from Start to Stop
	CPU     float64      `json:"cpu"`    // seconds of CPU for each second; 1 is a whole core
	Sources []SourceCost `json:"sources"`
}

// SourceCost is the part of one sampler, or of the host's.
type SourceCost struct {
	Name     string  `json:"name"`
	PeriodS  float64 `json:"period_s"`
	Reads    int     `json:"reads"`     // that came back, failed ones too
	Gaps     int     `json:"gaps"`      // failed readings, and hangs
	CPUS     float64 `json:"cpu_s"`     // of the reading thread and of the programs it ran
	LongestS float64 `json:"longest_s"` // duration of the slowest read
}

func (rec *recording) cost() Cost {
	c := Cost{WallS: time.Since(rec.began).Seconds(), Sources: []SourceCost{}}
	total := 0.0
	for _, l := range rec.sources {
		total += l.stats.CPUS
		c.Sources = append(c.Sources, l.stats)
	}
	if c.WallS > 0 {
		c.CPU = total / c.WallS
	}
	return c
}

// paced is a sampler that sets the pace itself, by a program that continues
// writing readings.
type paced interface{ SetPeriod(period time.Duration) }

// metered is a sampler that runs programs. ProgramCPU is the CPU time that
// they took so far.
type metered interface{ ProgramCPU() time.Duration }

// periodOf is the period for a sampler when asked is wanted; 0: its default.
// Programs are not run more often than makes sense.
func periodOf(sampler string, asked time.Duration) time.Duration {
	usual := device.DefaultPeriod(sampler)
	switch {
	case asked <= 0:
		return usual
	case sampler == "nvidia-smi":
		return max(asked, 100*time.Millisecond)
	case usual >= time.Second:
		return max(asked, usual)
	}
	return max(asked, 10*time.Millisecond)
}
