package process

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
)

func TestRunCgroups(t *testing.T) {
	t.Parallel()
	machine := newFakeMachine(t)
	mount := filepath.Dir(machine.own)
	for _, folder := range []string{
		"bench-run.1", "user/bench-run.2/inner", "bench-running.1", "bench-run", "run.3",
		"bench-other.1",
	} {
		machine.write(t, filepath.Join(mount, folder, "cgroup.procs"), "")
	}
	if got, want := runCgroups(machine.procfs, cookie{"run", true}).String(),
		"/bench-run, /bench-run.1, /user/bench-run.2"; got != want {
		t.Errorf("runCgroups(run) = %s, want %s", got, want)
	}
	if got := runCgroups(machine.procfs, cookie{"", true}); len(got) != 0 {
		t.Errorf("runCgroups() without a cookie = %v, want none", got)
	}
}

// What has left session, parent and environment behind is found by the run's
// cookie alone where it has a control group.
func TestFindRunByGroup(t *testing.T) {
	t.Parallel()
	needCgroups(t)
	noted := orphan(t, fakeengine.Config{Children: []fakeengine.Child{{
		Session: true, Daemon: true, ClearEnv: true,
		IgnoreTerm: true,
	}}}, true)
	await(t, "the leader's end by its death signal", func() bool { return !alive(noted.PID) })
	run := strings.TrimSuffix(noted.Cookie, ".1")
	r, err := FindRun(run)
	if err != nil || len(r.Procs()) != 1 {
		t.Fatalf("FindRun() has %v, %v, want 1 process", r.Procs(), err)
	}
	if proof, err := r.End(t.Context(), 100*time.Millisecond, 0); err != nil || !proof.PIDsGone {
		t.Errorf("End() = %+v, %v, want all gone", proof, err)
	}
	if r, err := FindRun(run); err != nil || len(r.Procs()) != 0 || len(r.tree.groups) != 0 {
		t.Errorf("FindRun() after End = %v, groups %v, %v, want none", r.Procs(), r.tree.groups, err)
	}
}
