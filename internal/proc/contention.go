package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Contention is what the machine says about cores that were wanted and not had, as
// counters since it started; nil: it does not say.
type Contention struct {
	Steal    *time.Duration // taken by the hypervisor, sum over CPUs
	Pressure *time.Duration // in which some task waited for a core
}

// userHz is the unit of /proc/stat: ticks a second, on every architecture that Go runs on.
const userHz = 100

// Contention reads /proc/stat and /proc/pressure/cpu.
func (fs FS) Contention() Contention {
	var c Contention
	if text, err := os.ReadFile(filepath.Join(string(fs), "stat")); err == nil {
		const steal = 8 // cpu user nice system idle iowait irq softirq steal
		line, _, _ := strings.Cut(string(text), "\n")
		if fields := strings.Fields(line); len(fields) > steal && fields[0] == "cpu" {
			if ticks, err := strconv.ParseInt(fields[steal], 10, 64); err == nil && ticks >= 0 {
				c.Steal = new(time.Duration(ticks) * (time.Second / userHz))
			}
		}
	}

	if text, err := os.ReadFile(filepath.Join(string(fs), "pressure", "cpu")); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		_, total, found := strings.Cut(line, "total=")
		if us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64); err == nil && found &&
			strings.HasPrefix(line, "some ") && us >= 0 {
			c.Pressure = new(time.Duration(us) * time.Microsecond)
		}
	}
	return c
}
