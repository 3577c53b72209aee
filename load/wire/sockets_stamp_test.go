package wire

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

// stampWith reads its clocks from a list, whose last entry stays.
func stampWith(readings ...reading) *stamper {
	s := &stamper{clock: Clock{Start: time.Now()}}
	s.read = func() reading {
		r := readings[0]
		if len(readings) > 1 {
			readings = readings[1:]
		}
		r.offset = r.wall - int64(r.at)
		return r
	}
	s.offset.Store(s.read().offset)
	return s
}

func TestStamp(t *testing.T) {
	const ms, second = time.Millisecond, time.Second
	const base = int64(1e18) // wall minus monotonic
	at := func(mono, off time.Duration) reading { return reading{wall: base + int64(mono+off), at: mono} }
	tests := []struct {
		name     string
		readings []reading     // the first when the pass begins
		arrival  time.Duration // of the kernel, wall time beyond base
		want     time.Duration
		step     time.Duration
		lags     int64
	}{
		{"at once", []reading{at(0, 0), at(second, 0)}, second, second, 0, 1},
		{"late", []reading{at(0, 0), at(second, 0)}, second - 5*ms, second - 5*ms, 0, 1},
		{
			"slewed clock",
			[]reading{at(0, 0), at(second, 400*time.Microsecond)},
			second - 5*ms + 400*time.Microsecond,
			second - 5*ms, 0, 1,
		},
		{"from before the pass", []reading{at(0, 0), at(second, 0)}, -5 * ms, second, 0, 0},
		{"from the future", []reading{at(0, 0), at(second, 0)}, second + ms, second, 0, 0},
		{
			"lost the core between the clocks",
			[]reading{at(0, 0), at(second, -30*ms), at(second+31*ms, 0)},
			second - 5*ms, second - 5*ms, 0, 1,
		},
		{"stepped ahead", []reading{at(0, 0), at(second, second)}, second - 5*ms, second, second, 0},
		{"stepped back", []reading{at(0, 0), at(second, -2*second)}, second - 5*ms, second, 2 * second, 0},
	}
	for _, tt := range tests {
		s := stampWith(tt.readings...)
		got, _ := s.stamp(base + int64(tt.arrival))
		if got != tt.want || time.Duration(s.step.Load()) != tt.step || s.lag.total() != tt.lags {
			t.Errorf("%s: stamp = %v, step %v, %d lags, want %v, %v, %d", tt.name, got, time.Duration(s.step.Load()),
				s.lag.total(), tt.want, tt.step, tt.lags)
		}
	}
}

// TestStampAfterStep: what arrived before a step is void after it; what comes
// later counts again.
func TestStampAfterStep(t *testing.T) {
	const base = int64(1e18)
	stepped := reading{wall: base + 11e9, at: time.Second}
	s := stampWith(reading{wall: base}, stepped, stepped, stepped, stepped, reading{
		wall: base + 11e9 + 1e8,
		at:   1100 * time.Millisecond,
	})
	if got, _ := s.stamp(base + 999e6); got != time.Second {
		t.Errorf("at the step: %v, want the reading's 1s", got)
	}
	if got, _ := s.stamp(base + 998e6); got != time.Second {
		t.Errorf("from before the step: %v, want the reading's 1s", got)
	}
	if got, _ := s.stamp(base + 11e9 + 9e7); got != 1090*time.Millisecond {
		t.Errorf("after the step: %v, want 1.09s", got)
	}
	var r results.ClientReport
	s.describe(&r)
	if r.Stamps != "kernel" || *r.ClockStepS != 10 || *r.LagMaxS != 0.01 {
		t.Errorf("report %+v, step %v, lag %v", r, *r.ClockStepS, *r.LagMaxS)
	}
}

func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h histogram
	if h.quantile(0.5) != 0 || h.total() != 0 {
		t.Error("an empty histogram is not 0")
	}
	var all []int64
	for range 10000 {
		d := int64(1) << rng.IntN(40)
		d += rng.Int64N(d)
		all = append(all, d)
		h.add(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		want := float64(all[int(q*float64(len(all)-1))])
		if got := float64(h.quantile(q)); got < want*0.96 || got > want*1.04 {
			t.Errorf("quantile(%v) = %v, want %v within 4 %%", q, got, want)
		}
	}
	for i := range len(h.counts) - 1 {
		if v := histValue(i); v >= 0 && v < 1<<62 && histIndex(uint64(v)) != i {
			t.Fatalf("the value %d of step %d lies in step %d", v, i, histIndex(uint64(v)))
		}
	}
	for _, d := range []uint64{0, 1<<63 - 1, 1<<64 - 1} {
		if i := histIndex(d); i < 0 || i >= len(h.counts) {
			t.Errorf("histIndex(%d) = %d of %d", d, i, len(h.counts))
		}
	}
}
