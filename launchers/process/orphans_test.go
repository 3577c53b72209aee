package process

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
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
