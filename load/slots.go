package load

import (
	"context"
	"slices"
	"sync"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
)

// slots hands out the right to send: never more than the cap at once, each to
// the replica that serves the fewest, the first of them on a tie. A
// conversation has its slot for all of its requests.
type slots struct {
	cap chan struct{} // nil: no cap

	mu          sync.Mutex
	outstanding []int // slots given out, by replica
	inFlight    int   // requests
	peak        int
}

// newSlots has a slot for each of limit requests, without those that are kept back.
func newSlots(limit, kept, replicas int) *slots {
	s := &slots{outstanding: make([]int, replicas)}
	if limit > 0 {
		s.cap = make(chan struct{}, limit)
	}
	for range kept {
		s.cap <- struct{}{}
	}
	return s
}

// acquire waits for a free slot. waited says whether the cap held it back; ok
// is false if ctx ended first.
func (s *slots) acquire(ctx context.Context) (replica int, waited, ok bool) {
	if s.cap != nil {
		select {
		case s.cap <- struct{}{}:
		default:
			waited = true
			select {
			case s.cap <- struct{}{}:
			case <-ctx.Done():
				return 0, true, false
			}
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	replica = slices.Index(s.outstanding, slices.Min(s.outstanding))
	s.outstanding[replica]++
	return replica, waited, true
}

// stage changes the cap when each further stage begins, by keeping slots to itself: of
// those that are in use it takes one whenever one becomes free. It returns when ctx
// ends or the last stage has its cap.
func (s *slots) stage(ctx context.Context, clock wire.Clock, stages []spec.Stage) {
	peak, kept := spec.PeakConcurrency(stages), spec.PeakConcurrency(stages)-stages[0].MaxConcurrency
	begin := stages[0].Duration

	for _, stage := range stages[1:] {
		if !clock.SleepUntil(ctx, begin) {
			return
		}
		begin += stage.Duration

		during, over := context.WithDeadline(ctx, clock.Start.Add(begin))
		for want := peak - stage.MaxConcurrency; kept != want && during.Err() == nil; {
			if kept > want {
				<-s.cap
				kept--
				continue
			}
			select {
			case s.cap <- struct{}{}:
				kept++
			case <-during.Done():
			}
		}

		over()
	}
}

// begin and end enclose each request that a slot is used for.
func (s *slots) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
}

func (s *slots) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
}

func (s *slots) release(replica int) {
	s.mu.Lock()
	s.outstanding[replica]--
	s.mu.Unlock()
	if s.cap != nil {
		<-s.cap
	}
}

// load returns the requests in flight now and at the peak.
func (s *slots) load() (inFlight, peak int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight, s.peak
}
