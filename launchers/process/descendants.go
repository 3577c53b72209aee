package process

import "slices"

// Descendants returns the living process pid, which is known to have started
// at startTime, and all that descend from it, the first one first. It returns
// none if that process has ended. What was reparented away is not found: in a
// container nothing is, because its first process adopts every orphan.
func Descendants(pid int, startTime uint64) ([]Proc, error) {
	procs, err := listProcs(startTime)
	if err != nil {
		return nil, err
	}
	children := make(map[int][]Proc)
	var found []Proc
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

// StartTime is when the process with that pid started, in clock ticks since
// boot; false if there is none that can be seen.
func StartTime(pid int) (uint64, bool) {
	p, err := readProc(pid)
	return p.StartTime, err == nil && !p.Zombie()
}

// UsageOf is what those processes have consumed so far; see Usage.
func UsageOf(procs []Proc) Usage {
	var sum Usage
	for _, p := range procs {
		sum.CPU += p.CPU
		sum.ReadBytes += readBytes(p.PID)
	}
	return sum
}
