package wire

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// starved is for how long threads that read were ready to run and had no core.
// What they read then may have arrived at any moment of that time.
type starved struct {
	most  time.Duration // of one thread between two samples, 10 ms or one wait apart
	total time.Duration // of the thread that waited most
	known bool          // there was a sample
}

// join takes in the times of another thread.
func (s *starved) join(other starved) {
	s.most, s.total = max(s.most, other.most), max(s.total, other.total)
	s.known = s.known || other.known
}

// starvation follows one thread by the run delay that the kernel counts for it.
type starvation struct {
	fd     int           // schedstat of the thread; below 0: the kernel does not tell
	at     time.Time     // of the latest sample
	counts time.Duration // what the kernel counted at the latest sample

	starved // since the first sample
}

// ofThisThread begins to follow the calling thread, which the caller has locked.
func ofThisThread() starvation {
	fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return starvation{fd: -1}
	}
	s := starvation{fd: fd}
	s.sample(time.Now())
	return s
}

func (s *starvation) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
	}
	s.fd = -1
}

// sample returns for how long the thread was without a core since the sample before.
func (s *starvation) sample(now time.Time) (waited time.Duration, ok bool) {
	s.at = now
	if s.fd < 0 {
		return 0, false
	}

	var text [80]byte
	n, err := unix.Pread(s.fd, text[:], 0)
	total, parsed := proc.RunDelay(text[:max(n, 0)])
	if err != nil || !parsed {
		return 0, false
	}

	before, known := s.counts, s.known
	s.counts, s.known = total, true
	if !known {
		return 0, false
	}

	waited = total - before
	s.total += waited
	s.most = max(s.most, waited)
	return waited, true
}
