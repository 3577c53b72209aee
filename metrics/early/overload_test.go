package early_test

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/stats"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics/early"
	"github.com/benchrig/bench/results"
)

// queue is a first-come, first-served queue with so many slots, each request
// taking 1 s on average: its load is rate/slots.
type queue struct {
	slots   int
	load    float64
	service func(*rand.Rand) float64 // mean 1
}

func constant(*rand.Rand) float64 { return 1 }

func exponential(rng *rand.Rand) float64 { return rng.ExpFloat64() }

// mixed are short answers, and one in ten is ten times as long.
func mixed(rng *rand.Rand) float64 {
	if rng.IntN(10) == 0 {
		return 10 / 1.9
	}
	return 1 / 1.9
}

// pass drives n requests through the queue, hands their records to a watch in the
// order in which they end, and returns its decision; nil: the server keeps up.
func (q queue) pass(n int, rng *rand.Rand) *results.EarlyEnd {
	arrivals := make([]float64, n)
	at := 0.0
	for i := range arrivals {
		arrivals[i] = at
		at += rng.ExpFloat64() / (q.load * float64(q.slots))
	}

	free := make(times, q.slots)
	ends := make([]float64, n)
	for i, due := range arrivals {
		ends[i] = max(due, free[0]) + q.service(rng)
		free[0] = ends[i]
		heap.Fix(&free, 0)
	}

	w := early.New(spec.Early{Overload: true}, arrivals)
	for _, i := range inOrderOf(ends) {
		r := results.Record{Index: i, IntendedS: arrivals[i], SentS: &arrivals[i], EndS: ends[i]}
		if w.Ended(&r) {
			break
		}
	}
	return w.Decision()
}

// inOrderOf are the indexes of values, the smallest first.
func inOrderOf(values []float64) []int {
	indexes := make([]int, len(values))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortFunc(indexes, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return indexes
}

// TestOverloadFalseAlarms drives thousands of passes through queues that keep up,
// some only just so. The draws are fixed: the counts are the same on every machine.
func TestOverloadFalseAlarms(t *testing.T) {
	const passes, requests = 100, 3000
	for _, c := range []struct {
		name string
		q    queue
		most int // alarms of 100
	}{
		{"one slot, half loaded", queue{1, 0.5, exponential}, 0},
		{"one slot, 90 %", queue{1, 0.9, exponential}, 0},
		{"16 slots, equal answers, 90 %", queue{16, 0.9, constant}, 0},
		{"16 slots, 90 %", queue{16, 0.9, exponential}, 0},
		{"64 slots, some answers ten times as long, 90 %", queue{64, 0.9, mixed}, 0},
		{"16 slots, 95 %", queue{16, 0.95, exponential}, 0},
		{"at the limit: as much comes as can be done", queue{16, 1, exponential}, 1},
	} {
		alarms := 0
		rng := rand.New(rand.NewPCG(7, 7))
		for range passes {
			if end := c.q.pass(requests, rng); end != nil {
				alarms++
			}
		}
		t.Logf("%s: %d false alarms in %d passes", c.name, alarms, passes)
		if alarms > c.most {
			t.Errorf("%s: %d of %d passes were called overloaded, want at most %d", c.name, alarms, passes, c.most)
		}
	}
}

// TestOverloadIsFound drives passes through queues that do not keep up.
func TestOverloadIsFound(t *testing.T) {
	const passes, requests = 50, 3000
	for _, c := range []struct {
		name  string
		q     queue
		least int // found, of 50
		ended int // requests on average, at most
	}{
		{"twice the capacity", queue{16, 2, exponential}, 50, 1000},
		{"one and a half times", queue{16, 1.5, exponential}, 50, 1000},
		{"a quarter too much, equal answers", queue{16, 1.25, constant}, 48, 1500},
		{"a quarter too much", queue{16, 1.25, exponential}, 40, 1600},
		{"a quarter too much, mixed answers", queue{64, 1.25, mixed}, 40, 1600},
	} {
		found, ended := 0, 0
		rng := rand.New(rand.NewPCG(3, 3))
		for range passes {
			if end := c.q.pass(requests, rng); end != nil {
				found++
				ended += end.Ended
				if end.Rule != results.EarlyOverload || end.Growth == nil || *end.Growth < 0.05 {
					t.Fatalf("%s: decided on %+v", c.name, end)
				}
			}
		}
		t.Logf("%s: found in %d of %d passes, after %d answers on average", c.name, found, passes, ended/max(found, 1))
		if found < c.least || ended/max(found, 1) > c.ended {
			t.Errorf("%s: found in %d of %d passes after %d answers, want at least %d after at most %d", c.name, found,
				passes, ended/max(found, 1), c.least, c.ended)
		}
	}
}

// TestCriticalValue has the constant of the test from Student's distribution.
func TestCriticalValue(t *testing.T) {
	const criticalT = 4.88
	want := stats.InvCDF(stats.TDist{V: 15})(1 - 1.0/10000)
	t.Log(want)
	if math.Abs(want-criticalT) > 0.005 {
		t.Errorf("the quantile of t with 15 degrees of freedom is %v, the constant is %v", want, criticalT)
	}
}

// times is a heap of when slots are free.
type times []float64

func (h times) Len() int           { return len(h) }
func (h times) Less(i, j int) bool { return h[i] < h[j] }
func (h times) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *times) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *times) Pop() any          { panic("slots stay") }
