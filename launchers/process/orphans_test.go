package process

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
)

// What outlives the leader gets the time that its kind needs: an engine whose
// API server was killed ends its workers in its own order.
func TestOrphansGetTheirGrace(t *testing.T) {
	t.Parallel()
	for grace, want := range map[time.Duration][]string{time.Minute: {"TERM"}, time.Millisecond: {"TERM", "KILL"}} {
		p := start(t, fakeengine.Config{Children: []fakeengine.Child{{Session: true, Drain: 2 * time.Second}}})
		p.orphanGrace = grace
		_ = syscall.Kill(p.Info().PID, syscall.SIGKILL)
		<-p.Done()
		if proof, err := p.Stop(t.Context(), time.Second); err != nil || !slices.Equal(proof.Signals, want) {
			t.Errorf("grace %v: signals %v, %v, want %v", grace, proof.Signals, err, want)
		}
	}
}

// The engine above its workers is asked alone: it takes them down itself.
func TestOrphansEndFromTheTop(t *testing.T) {
	t.Parallel()
	p := start(t, fakeengine.Config{Children: []fakeengine.Child{{Session: true, Children: []fakeengine.Child{{}}}}})
	members, _, err := p.tree.members()
	for start := time.Now(); err == nil && len(members) < 3 && time.Since(start) < 5*time.Minute; {
		time.Sleep(10 * time.Millisecond)
		members, _, err = p.tree.members()
	}
	if err != nil || len(members) != 3 {
		t.Fatalf("members = %v, %v, want the leader, its child and that one's", members, err)
	}
	below := func(pid int) int {
		at := slices.IndexFunc(members, func(m proc.Process) bool { return m.PPID == pid })
		return members[at].PID
	}
	engine := below(p.Info().PID)
	worker := below(engine)
	_ = syscall.Kill(p.Info().PID, syscall.SIGKILL)
	<-p.Done()

	var asked []int
	s := newStopping(&p.tree, p.killNow)
	s.orphanGrace = 2 * time.Minute
	s.leader, s.leaderDone = proc.Process{PID: p.info.PID, StartTime: p.info.StartTime}, p.done
	s.signal = func(member proc.Process, _ unix.Signal) error {
		asked = append(asked, member.PID)
		for _, pid := range []int{engine, worker} {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return nil
	}
	if err := s.run(time.Second); err != nil || !slices.Equal(asked, []int{engine}) {
		t.Errorf("signals to %v, %v, want one to the engine %d; its worker is %d", asked, err, engine, worker)
	}
}

// An orphan that another running server could have left is nobody's.
func TestOrphanOfAnotherServer(t *testing.T) {
	older, younger := &tree{since: 1}, &tree{since: 3} // long before all that other tests start
	orphan := func(startTime uint64) proc.Process { return proc.Process{StartTime: startTime} }
	older.register()
	defer older.unregister()
	younger.register()

	if !older.alone(orphan(2)) {
		t.Error("an orphan from before the younger server is not the older one's")
	}
	if older.alone(orphan(4)) || younger.alone(orphan(4)) {
		t.Error("an orphan from after both starts is taken by one of them")
	}
	younger.unregister()
	if !older.alone(orphan(4)) {
		t.Error("an orphan is not the only server's")
	}
	if younger.alone(orphan(4)) {
		t.Error("a server that is gone takes an orphan")
	}
}

// A child in another control group has a manager of its own, and one with the
// mark of a helper is the helper's.
func TestOrphansAreInOurGroup(t *testing.T) {
	dir := t.TempDir()
	write := func(pid, name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, pid, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("self", "cgroup", "0::/ours\n")
	for pid, of := range map[string]struct{ group, environment string }{
		"11": {"0::/ours\n", "A=b\x00"},
		"12": {"0::/theirs\n", "A=b\x00"},
		"13": {"0::/ours\n", helperVariable + "=1\x00"},
	} {
		write(pid, "cgroup", of.group)
		write(pid, "environ", of.environment)
		write(pid, "cmdline", "worker\x00")
	}

	got := (&tree{proc: proc.FS(dir)}).orphansAmong([]int{11, 12, 13, 14})
	if !maps.Equal(got, map[int]bool{11: true}) {
		t.Errorf("orphans %v, want 11 alone", got)
	}
}
