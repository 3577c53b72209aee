package wire

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// starvation follows for how long a thread was ready to run and had no core.
type starvation struct {
	fd    int // schedstat of the thread; below 0: the kernel does not tell
	at    time.Time
	total time.Duration // at the latest sample
	most  time.Duration // between two samples
	sum   time.Duration // since the first sample
	known bool          // there was a sample
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

// sample returns how long the thread was without a core since the sample before.
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

	before, known := s.total, s.known
	s.total, s.known = total, true
	if !known {
		return 0, false
	}

	waited = total - before
	s.sum += waited
	s.most = max(s.most, waited)
	return waited, true
}

// Starved is for how long the threads that read had no core though they were ready to
// run.
type Starved struct {
	Most  time.Duration // of one thread between two looks, which are 10 ms apart or one wait
	Total time.Duration // of the thread that waited most
	Known bool
}

// join takes in what another thread waited.
func (s Starved) join(other starvation) Starved {
	if !other.known {
		return s
	}
	return Starved{Most: max(s.Most, other.most), Total: max(s.Total, other.sum), Known: true}
}
