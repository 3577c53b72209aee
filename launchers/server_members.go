package launchers

import (
	"slices"

	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// lookAtTree makes whoever is a member now stay one in our eyes, whatever it
// does to its parent, session and environment, and in those of a later program
// as well: members that nothing else could tell for ours are noted, once.
func (s *Server) lookAtTree() error {
	if _, err := s.process.Tree(); err != nil {
		return results.Failf(results.FailInternal, "%v", err)
	}
	tree, ok := s.process.(*process.Process)
	if !ok {
		return nil // a container is known by its label
	}
	members := tree.Unmarked()
	s.mu.Lock()
	fresh := slices.DeleteFunc(members, func(m results.Member) bool { return slices.Contains(s.noted, m) })
	s.noted = append(s.noted, fresh...)
	s.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	return s.write(results.Event{Kind: results.LifeGrown, Process: &results.Process{Members: fresh}})
}
