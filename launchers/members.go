package launchers

import (
	"slices"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// noteMembers records the current members of the process tree, so that they are
// recognised as ours later, whatever they do to their parent, session and
// environment; and the files in shared memory that they use, where files asks
// for that. What nothing else would tell a later program is noted in the
// journal, once.
func (s *Server) noteMembers(files bool) error {
	live, err := s.process.Tree()
	if err != nil {
		return results.Failf(results.FailInternal, "%v", err)
	}

	fresh := results.Process{Members: s.unmarked()}
	if files {
		fresh.ShmFiles = s.shm.Note(pidsOf(live))
	}
	if len(fresh.Members) == 0 && len(fresh.ShmFiles) == 0 {
		return nil
	}

	return s.write(results.Event{Kind: results.LifeGrown, Process: &fresh})
}

// unmarked are the members that neither cookie nor control group marks and that
// are not noted yet. A container has none: it is known by its label.
func (s *Server) unmarked() []results.Member {
	tree, ok := s.process.(*process.Process)
	if !ok {
		return nil
	}

	members := tree.Unmarked()
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := slices.DeleteFunc(members, func(m results.Member) bool { return slices.Contains(s.noted, m) })
	s.noted = append(s.noted, fresh...)

	return fresh
}

func pidsOf(processes []proc.Process) []int {
	pids := make([]int, 0, len(processes))
	for _, p := range processes {
		pids = append(pids, p.PID)
	}

	return pids
}
