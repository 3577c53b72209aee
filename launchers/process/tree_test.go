package process

import (
	"cmp"
	"slices"
	"testing"

	"github.com/benchrig/bench/internal/proc"
)

// A process that is ours makes its session ours, if that is the session that
// was noted. Session 0 is not a session: in a container everything may be in it.
func TestSessionOfTree(t *testing.T) {
	t.Parallel()
	const ours = 500
	for _, c := range []struct {
		name          string
		noted, really int // session
		want          []int
	}{
		{"the noted session", 500, 500, []int{500, 501, 502}},
		{"another session", 500, 600, []int{500, 501}},
		{"none noted, in session 0", 0, 0, []int{500, 501}},
		{"none noted", 0, 600, []int{500, 501}},
	} {
		procs := []proc.Process{
			{PID: ours, PPID: 1, Session: c.really, StartTime: 7},
			{PID: 501, PPID: ours, Session: 501, StartTime: 8},
			{PID: 502, PPID: 1, Session: c.really, StartTime: 9},
		}
		tree := tree{proc: proc.System, session: c.noted, uid: anyone, seen: map[proc.Key]bool{procs[0].Key(): true}}
		picked := tree.pick(procs, nil, nil)
		slices.SortFunc(picked, func(a, b proc.Process) int { return cmp.Compare(a.PID, b.PID) })
		var got []int
		for _, p := range picked {
			got = append(got, p.PID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: picked %v, want %v", c.name, got, c.want)
		}
	}
}
