package launchers

import (
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// outcome is the failure of a server or program, once it has one.
type outcome struct {
	failed chan struct{} // closed when there is a failure

	mu      sync.Mutex
	failure *results.Failure
}

// Done is closed when the server ends unasked or logs a line that no server
// survives. It is never closed for an external server, nor by Stop.
func (o *outcome) Done() <-chan struct{} { return o.failed }

// Failure says why Done is closed; nil while it is not.
func (o *outcome) Failure() *results.Failure {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure
}

// set records a failure unless there is one.
func (o *outcome) set(failure *results.Failure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure == nil {
		o.failure = failure
		close(o.failed)
	}
}

// replace makes failure the one in the journal, also where the server's
// own end came in between.
func (o *outcome) replace(failure *results.Failure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure == nil {
		close(o.failed)
	}
	o.failure = failure
}

// signs are the signs of life of a process tree: log, CPU time, bytes read from
// storage.
type signs struct {
	mu   sync.Mutex
	last time.Time     // sign of life
	use  process.Usage // that was recorded last
}

// note records a sign of life.
func (s *signs) note() { s.noteAt(time.Now()) }

func (s *signs) noteAt(moment time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = moment
}

// silence is the time since the last sign of life.
func (s *signs) silence() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last)
}

// setBack takes time out of the silence.
func (s *signs) setBack(lost time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = s.last.Add(lost)
}

// lastUse is the use of the tree that was recorded last.
func (s *signs) lastUse() process.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use
}

// recordUse records the use of the tree. By itself it does not count as a sign of life.
func (s *signs) recordUse(now process.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use = now
}

// worked reports whether a tree did more than answer probes.
func worked(before, now process.Usage, passed time.Duration) bool {
	if now.ReadBytes != before.ReadBytes {
		return true
	}
	used := (now.CPU - before.CPU).Abs() // less: a member of the tree ended
	return used > idleCPU+time.Duration(idleShare*float64(passed))
}
