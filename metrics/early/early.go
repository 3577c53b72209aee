// Package early says, while a pass runs, that its answer is known already.
//
// Records go in, each as its request ends; out comes the decision to send nothing
// more, with what it rests on. It reads no clock and ends nothing itself.
//
// Both rules look at the pass more than once, and pay for that: the chance of a
// wrong decision in any of the looks, not in each, is within what is stated.
package early

import (
	"math"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Watch follows one pass. Calls must not overlap.
type Watch struct {
	overload *overload
	margins  *margins
	ended    int
	decided  *results.EarlyEnd
}

// New makes a watch for a pass whose requests are due at the times arrivals, in
// seconds; nil: all at once.
func New(policy spec.Early, arrivals []float64) *Watch {
	w := &Watch{}
	if policy.Overload {
		w.overload = &overload{arrivals: arrivals, next: leastDue}
	}
	if len(policy.Until) > 0 {
		w.margins = newMargins(policy.Until)
	}
	return w
}

// Ended takes in the record of a request that has ended, and reports whether
// nothing more needs to be sent. After the first true it decides nothing more.
func (w *Watch) Ended(r *results.Record) bool {
	if w.decided != nil || r.Failure != nil && r.Failure.Class == results.FailCanceled {
		return w.decided != nil
	}

	w.ended++
	end := &results.EarlyEnd{AtS: r.EndS, Ended: w.ended}
	if w.overload != nil {
		if growth, found := w.overload.add(r); found {
			end.Rule, end.Growth = results.EarlyOverload, &growth
			w.decided = end
		}
	}
	if w.margins != nil && w.decided == nil && w.margins.add(r) {
		end.Rule, end.Margins = results.EarlyMargin, w.margins.found
		w.decided = end
	}

	return w.decided != nil
}

// Decision is why the pass ended early; nil: it did not.
func (w *Watch) Decision() *results.EarlyEnd { return w.decided }

// Missed are the margins that were asked for and not all reached, as the last
// look found them; empty where the pass ended early, or none were asked for.
func (w *Watch) Missed() []results.MarginFound {
	if w.decided != nil || w.margins == nil {
		return nil
	}
	return w.margins.found
}

// Confidence is that of the intervals of percentiles, over all looks together.
const Confidence = 0.95

// fewestRequests are looked at before anything is said to be known: the first ones
// of a pass meet an idle server.
const fewestRequests = 100

// lookGrowth is how much later the next look comes, as a factor.
const lookGrowth = 1.5

// alphaOf is the share of the chance of error that look k, from 1, may spend: the
// shares of all looks add up to 1, however many there are.
func alphaOf(k int) float64 { return 1 / float64(k*(k+1)) }

// margins decides when percentiles are known. It looks at requests in the order in
// which they were sent, and only where all before have ended: those that end first
// are the short ones.
type margins struct {
	asked  []spec.Margin
	ahead  map[int]*results.Record // ended before others that were sent before them
	seen   int                     // requests that have ended without a gap
	values [][]float64             // of each margin's latency
	looks  int
	next   int // number of requests of the next look
	found  []results.MarginFound
}

func newMargins(asked []spec.Margin) *margins {
	m := &margins{
		asked: asked, ahead: map[int]*results.Record{}, values: make([][]float64, len(asked)), next: fewestRequests,
	}
	for _, a := range asked {
		m.found = append(m.found, results.MarginFound{Figure: a.Name(), Asked: a.Share})
		m.next = max(m.next, leastSamples(a.Percentile))
	}
	for i := range m.found {
		m.found[i].First = m.next
	}
	return m
}

// leastSamples is how many samples the interval of the first look needs.
func leastSamples(percentile float64) int {
	half := 1 - (1-Confidence)*alphaOf(1)/2
	return max(metrics.LeastSamples(percentile, half), metrics.LeastSamples(100-percentile, half))
}

// add takes in a record and reports whether all margins are reached.
func (m *margins) add(r *results.Record) bool {
	m.ahead[r.Index] = r
	for {
		next, ok := m.ahead[m.seen]
		if !ok {
			return false
		}
		delete(m.ahead, m.seen)
		m.seen++
		m.keep(next)
		if m.seen == m.next && m.look() {
			return true
		}
	}
}

func (m *margins) keep(r *results.Record) {
	o := metrics.Observe(r, metrics.IsToken)
	if !o.OK() {
		return
	}
	for i, a := range m.asked {
		value := o.TTFT()
		switch a.Latency {
		case "tpot":
			value = o.TPOT()
		case "e2el":
			value = o.E2EL()
		}
		m.values[i] = metrics.AppendKnown(m.values[i], value)
	}
}

// look computes every interval, and says when the next look is.
func (m *margins) look() bool {
	m.looks++
	m.next = int(math.Ceil(float64(m.next) * lookGrowth))
	confidence := 1 - (1-Confidence)*alphaOf(m.looks)
	all := true
	for i, a := range m.asked {
		m.found[i].N, m.found[i].Share = len(m.values[i]), marginOf(m.values[i], a.Percentile, confidence)
		all = all && m.found[i].Reached() && steady(m.values[i], confidence)
	}
	return all
}

// steady reports whether the medians of the sample's first and second half may be
// the same: while latencies drift, as in a queue that grows, no interval means
// anything.
func steady(sample []float64, confidence float64) bool {
	half := len(sample) / 2
	low, high, ok := metrics.PercentileInterval(half, 50, confidence)
	first, second := metrics.Ascending(sample[:half]), metrics.Ascending(sample[half:2*half])
	return ok && first[low] <= second[high] && second[low] <= first[high]
}

// marginOf is the larger distance of the interval's ends from the percentile, as
// a share of it; nil where the sample is too small.
func marginOf(sample []float64, percentile, confidence float64) *float64 {
	low, high, ok := metrics.PercentileInterval(len(sample), percentile, confidence)
	if !ok {
		return nil
	}
	sorted := metrics.Ascending(sample)
	value := metrics.Percentile(sorted, percentile)
	if value <= 0 {
		return nil
	}
	return new(max(sorted[high]-value, value-sorted[low]) / value)
}
