package process

import "github.com/benchrig/bench/results"

// Unmarked are the living members of the tree that a later program could not
// tell for ours: the tree has no control group, and they have dropped the
// cookie, or written over it. Note them before it is too late.
func (p *Process) Unmarked() []results.Member {
	if len(p.tree.groups) > 0 {
		return nil
	}
	live, err := p.Tree()
	if err != nil {
		return nil
	}
	var unmarked []results.Member
	for _, member := range live {
		if carries, _ := p.tree.cookie.carriedBy(p.tree.proc, member.PID); !carries && member.Key() != p.tree.leader {
			unmarked = append(unmarked, results.Member{PID: member.PID, StartTime: member.StartTime})
		}
	}
	return unmarked
}
