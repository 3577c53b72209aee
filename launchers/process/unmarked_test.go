package process

import (
	"testing"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// What nothing else could tell for ours is found again as a noted member, in
// the same boot.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	p := startIn(t, fakeengine.Config{Children: []fakeengine.Child{
		{Session: true}, {Session: true, ClearEnv: true}, {Group: true, Clobber: true},
	}}, false)
	members := p.Unmarked()
	if len(members) != 2 {
		t.Fatalf("Unmarked() = %v, want the two without the cookie", members)
	}
	for boot, want := range map[string]int{proc.System.BootID(): 2, "another": 0} {
		r, err := Find(results.Process{BootID: boot, Members: members})
		if err != nil || len(r.Procs()) != want {
			t.Errorf("Find() in boot %q has %v, %v, want %d processes", boot, r.Procs(), err, want)
		}
	}
	for i := range members {
		members[i].StartTime--
	}
	if r, err := Find(results.Process{BootID: proc.System.BootID(), Members: members}); err != nil ||
		len(r.Procs()) != 0 {
		t.Errorf("Find() of pids that were given out again has %v, %v, want none", r.Procs(), err)
	}
	if grouped := start(t, fakeengine.Config{Children: []fakeengine.Child{{
		Session:  true,
		ClearEnv: true,
	}}}); grouped.CgroupError() == nil && len(grouped.Unmarked()) != 0 {
		t.Errorf("Unmarked() in a control group = %v, want none", grouped.Unmarked())
	}
}
