package process

import (
	"slices"

	"github.com/benchrig/bench/internal/proc"
)

// Descendants returns the living process pid, which is known to have started
// at startTime, and all that descend from it, the first one first. It returns
// none if that process has ended. What was reparented away is not found: in a
// container nothing is, because its first process adopts every orphan.
func Descendants(pid int, startTime uint64) ([]proc.Process, error) {
	procs, err := proc.System.Processes(startTime)
	if err != nil {
		return nil, err
	}

	children := make(map[int][]proc.Process)
	var found []proc.Process
	for _, p := range procs {
		switch {
		case p.Zombie():
		case p.PID == pid && p.StartTime == startTime:
			found = append(found, p)
		default:
			children[p.PPID] = append(children[p.PPID], p)
		}
	}

	for i := 0; i < len(found); i++ {
		found = slices.Concat(found, children[found[i].PID])
	}

	return found, nil
}

// UsageOf is what those processes have consumed so far; see Usage.
func UsageOf(procs []proc.Process) Usage {
	var sum Usage
	for _, p := range procs {
		sum.CPU += p.CPU
		sum.ReadBytes += proc.System.ReadBytes(p.PID)
	}
	return sum
}
