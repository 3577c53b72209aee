package process

import (
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
