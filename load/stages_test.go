package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
)

// TestSlotsOfStages: each stage has its cap from its beginning, a lower one as soon as
// slots become free.
func TestSlotsOfStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stages []spec.Stage
		for _, limit := range []int{2, 5, 1} {
			stages = append(stages, spec.Stage{MaxConcurrency: limit, Duration: 10 * time.Second})
		}
		s := newSlots(5, 3, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.stage(ctx, wire.StartClock(), stages)

		// as many as there are
		take := func() (n int) {
			for {
				now, over := context.WithTimeout(ctx, time.Nanosecond)
				_, _, ok := s.acquire(now)
				over()
				if !ok {
					return n
				}
				n++
			}
		}

		time.Sleep(time.Second)
		if n := take(); n != 2 {
			t.Errorf("first stage: %d slots, want 2", n)
		}
		time.Sleep(10 * time.Second)
		if n := take(); n != 3 {
			t.Errorf("second stage: %d further slots, want 3", n)
		}
		time.Sleep(10 * time.Second)
		for range 4 { // all that are above the cap of the third
			s.release(0)
		}
		synctest.Wait()
		if n := take(); n != 0 {
			t.Errorf("third stage: %d slots beside the one in use, want 0", n)
		}
		s.release(0)
		if n := take(); n != 1 {
			t.Errorf("third stage: %d slots, want 1", n)
		}
	})
}

// TestArrivalsStages: requests leave at the rate of the stage that they are in.
func TestArrivalsStages(t *testing.T) {
	stages := []spec.Stage{
		{Name: "calm", RequestRate: new(2.0), Duration: 10 * time.Second},
		{Name: "pause", RequestRate: new(0.0), Duration: 5 * time.Second},
		{Name: "peak", RequestRate: new(50.0), Duration: 10 * time.Second},
	}
	at, err := ArrivalsStages(stages, 1, prng.NewNumpyAt(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	counts := [3]int{}
	last := 0.0
	for _, s := range at {
		if s < last || s >= 25 {
			t.Fatalf("time %v after %v, want ascending times below 25", s, last)
		}
		last = s
		switch {
		case s < 10:
			counts[0]++
		case s < 15:
			counts[1]++
		default:
			counts[2]++
		}
	}
	if counts[0] < 10 || counts[0] > 35 || counts[1] != 0 || counts[2] < 400 || counts[2] > 600 {
		t.Errorf("requests by stage: %v, want about 20, 0, 500", counts)
	}
	again, err := ArrivalsStages(stages, 1, prng.NewNumpyAt(1, 0))
	if diff := cmp.Diff(at, again); diff != "" || err != nil {
		t.Errorf("the same seed gives other times: %v\n%s", err, diff)
	}
}
