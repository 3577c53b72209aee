package early

import (
	"math"
	"slices"
	"sort"

	"github.com/benchrig/bench/results"
)

// What shows that a server is overloaded: over the second half of the time so far,
// cut into blocks, the number of requests that are due and have not ended grew
// steadily (a one-sided t test of the growth of a block), and by a share of the
// arrivals that matters. Where a server keeps up, even just so, growths of blocks
// are as often negative, and cancel out. The requests that fill an idle server at
// the start of a pass lie in the first half.
const (
	blocks      = 16
	leastDue    = 16 * blocks // requests due at the first look: eight a block
	leastGrowth = 0.05        // of the arrivals
	// criticalT is the quantile of Student's t with 15 degrees of freedom for a chance of 1 in 10,000 a look.
	// A pass of 200,000 requests has thirty looks: one in 330 is a false alarm where as much comes as the server
	// can just do, and far fewer where less comes.
	criticalT = 4.88
	dueGrowth = 1.25 // how many more requests are due at the next look, as a factor
	firstFew  = 32   // requests whose latency is that of a server without a queue
	fills     = 2    // times their longest latency must have passed before the second half begins
)

// overload watches the number of requests that are due and have not ended.
type overload struct {
	arrivals []float64 // seconds, ascending
	ends     []float64 // seconds, ascending but for those of the last moments
	first    float64   // longest latency of the first few requests, from when they were due
	next     int       // requests due at the next look
}

// add takes in a record. growth is by what share of the arrivals the queue grew.
func (o *overload) add(r *results.Record) (growth float64, found bool) {
	if r.Index < firstFew {
		o.first = max(o.first, r.EndS-r.IntendedS)
	}
	o.ends = append(o.ends, r.EndS)

	due := countUntil(o.arrivals, r.EndS)
	if due < o.next {
		return 0, false
	}

	for o.next <= due {
		o.next = int(math.Ceil(float64(o.next) * dueGrowth))
	}
	return o.look(r.EndS)
}

// look tests the growth in the second half of the time until now.
func (o *overload) look(now float64) (growth float64, found bool) {
	if now/2 < fills*o.first || len(o.ends) < firstFew {
		return 0, false
	}

	slices.Sort(o.ends)
	var backlog, grew [blocks + 1]float64
	for i := range backlog {
		at := now/2 + now/2*float64(i)/blocks
		backlog[i] = float64(countUntil(o.arrivals, at) - countUntil(o.ends, at))
		if i > 0 {
			grew[i] = backlog[i] - backlog[i-1]
		}
	}

	mean := (backlog[blocks] - backlog[0]) / blocks
	squares := 0.0
	for _, g := range grew[1:] {
		squares += (g - mean) * (g - mean)
	}

	arrived := countUntil(o.arrivals, now) - countUntil(o.arrivals, now/2)
	growth = blocks * mean / float64(arrived)
	deviation := math.Sqrt(squares / (blocks - 1) / blocks)
	return growth, growth >= leastGrowth && mean >= criticalT*deviation
}

// countUntil is how many of the ascending times are at or before at.
func countUntil(times []float64, at float64) int {
	return sort.Search(len(times), func(i int) bool { return times[i] > at })
}
