package wire

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/results"
)

// stepLimit is by how much the distance between wall and monotonic clock may change
// between two readings; more is a step of the wall clock.
const stepLimit = time.Millisecond

// stamper turns the kernel's arrival times, which are of the wall clock, into times
// of the pass, which are monotonic. Each reading takes both clocks at once, so that
// the wall clock serves only to tell how long ago something arrived. Where the wall
// clock was stepped since then, the moment of the reading stands for the arrival.
type stamper struct {
	clock  Clock
	read   func() reading // both clocks; a list in tests
	offset atomic.Int64   // wall minus monotonic time, as last seen
	since  atomic.Int64   // wall time of the last step: stamps before it are void
	step   atomic.Int64   // largest step
	lag    histogram
}

func newStamper(c Clock) *stamper {
	s := &stamper{clock: c, read: c.both}
	s.offset.Store(s.read().offset)
	return s
}

// reading is both clocks at one moment.
type reading struct {
	wall   int64 // nanoseconds since 1970
	at     time.Duration
	offset int64
}

// both reads both clocks.
func (c Clock) both() reading {
	t := time.Now()
	r := reading{wall: t.UnixNano(), at: t.Sub(c.Start)}
	r.offset = r.wall - int64(r.at)
	return r
}

// stamp returns when bytes arrived that the kernel stamped with wall, 0 for bytes
// without a stamp. exact is false where the moment of the reading stands for it.
func (s *stamper) stamp(wall int64) (at time.Duration, exact bool) {
	r, steady := s.steady()
	if !steady {
		return r.at, false
	}
	return s.stampBy(r, wall)
}

// stampBy is stamp by a reading that steady approved.
func (s *stamper) stampBy(r reading, wall int64) (at time.Duration, exact bool) {
	lag := r.wall - wall
	if wall == 0 || wall < s.since.Load() || lag < 0 || lag > int64(r.at) {
		return r.at, false
	}
	s.lag.add(lag)
	return r.at - time.Duration(lag), true
}

// steady reads the clocks and reports whether their distance is that of before. A
// thread that loses its core between the two clocks sees a step, too: only one that
// is seen three times in a row counts.
func (s *stamper) steady() (r reading, ok bool) {
	known := s.offset.Load()
	var moved int64
	for range 3 {
		r = s.read()
		moved = r.offset - known
		if abs(moved) < int64(stepLimit) {
			if abs(moved) > int64(10*time.Microsecond) {
				s.offset.CompareAndSwap(known, r.offset) // the wall clock is being slewed
			}
			return r, true
		}
	}

	if s.offset.CompareAndSwap(known, r.offset) {
		s.since.Store(r.wall)
		for old := s.step.Load(); abs(moved) > old && !s.step.CompareAndSwap(old, abs(moved)); old = s.step.Load() {
		}
	}

	return r, false
}

// sameStamp gives reads of one connection that have the same stamp of the kernel the
// same time of the pass. The distance between the clocks differs by nanoseconds from
// one reading to the next; times that differ would look like those of segments that
// the kernel did not merge.
type sameStamp struct {
	wall int64         // of the latest read with a stamp of the kernel; 0: none
	at   time.Duration // the same, of the pass
}

// unify returns the time of a read that the kernel stamped with wall and that stamp
// placed at at; exact says that at follows from wall.
func (s *sameStamp) unify(at time.Duration, wall int64, exact bool) time.Duration {
	switch {
	case !exact:
	case wall == s.wall:
		return s.at
	default:
		s.wall, s.at = wall, at
	}
	return at
}

func abs(n int64) int64 { return max(n, -n) }

// describe reports where times come from: the kernel, if it stamped a single read,
// else the moments of the readings.
func (s *stamper) describe(r *results.ClientReport) {
	r.Stamps = "user"
	if s.lag.total() == 0 {
		return
	}
	s.steady()
	r.Stamps = "kernel"
	r.LagP50S, r.LagP99S = new(s.lag.quantile(0.5).Seconds()), new(s.lag.quantile(0.99).Seconds())
	r.LagMaxS = new(time.Duration(s.lag.most.Load()).Seconds())
	r.ClockStepS = new(time.Duration(s.step.Load()).Seconds())
}

// histogram counts durations in steps of 3 %, from many goroutines at once.
type histogram struct {
	counts [(64 - histBits + 1) << histBits]atomic.Int64
	most   atomic.Int64
}

const histBits = 5 // each power of two has 1<<histBits steps

func (h *histogram) add(d int64) {
	h.counts[histIndex(uint64(d))].Add(1)
	for old := h.most.Load(); d > old && !h.most.CompareAndSwap(old, d); old = h.most.Load() {
	}
}

func histIndex(d uint64) int {
	if d < 1<<histBits {
		return int(d)
	}
	shift := bits.Len64(d) - histBits - 1
	return (shift+1)<<histBits + int(d>>shift) - 1<<histBits
}

// histValue returns the middle of a step.
func histValue(i int) int64 {
	if i < 1<<histBits {
		return int64(i)
	}
	shift := i>>histBits - 1
	return int64(i&(1<<histBits-1)+1<<histBits)<<shift + 1<<shift/2
}

func (h *histogram) total() (n int64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// quantile returns the value of rank q of those counted, 0 if there are none.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int64(q*float64(h.total()-1)) + 1
	for i := range h.counts {
		if rank -= h.counts[i].Load(); rank <= 0 {
			return time.Duration(min(histValue(i), h.most.Load()))
		}
	}
	return time.Duration(h.most.Load())
}
