package curves

import (
	"math"

	"github.com/benchrig/bench/metrics"
)

// Level is a quantity from AtS until the next level.
type Level struct{ AtS, Value float64 }

// InFlight counts what the server had in hand, at evenly spaced moments of a
// pass. It holds two numbers a moment, however many records are added.
type InFlight struct {
	stepS            float64
	requests, tokens []float64 // change at each moment against the one before
}

// newInFlight looks at points moments from 0 to durationS.
func newInFlight(durationS float64, points int) *InFlight {
	points = max(points, 2)
	if !(durationS > 0) || math.IsInf(durationS, 0) {
		durationS = 1
	}
	return &InFlight{
		stepS:    durationS / float64(points-1),
		requests: make([]float64, points+1), tokens: make([]float64, points+1),
	}
}

// add counts one request: in flight from its sending until before its end. Its
// tokens are those of its prompt, from the sending, and those received so far.
func (f *InFlight) add(o *metrics.Observation) {
	if o.SentS == nil {
		return
	}

	from, to := f.moment(*o.SentS), f.moment(max(o.EndS, *o.SentS))
	f.change(f.requests, from, to, 1)
	switch {
	case o.InputTokens != nil:
		f.change(f.tokens, from, to, float64(*o.InputTokens))
	case o.LocalInputTokens != nil:
		f.change(f.tokens, from, to, float64(*o.LocalInputTokens))
	}

	if from >= to {
		return
	}

	weight, known := o.ChunkWeight()
	if !known {
		weight = 1 // at least
	}
	for _, at := range o.TokenS {
		f.change(f.tokens, max(f.moment(at), from), to, weight)
	}
}

// change adds by to the moments from (inclusive) to (exclusive).
func (f *InFlight) change(levels []float64, from, to int, by float64) {
	if from < to {
		levels[from] += by
		levels[to] -= by
	}
}

// moment is the first one at or after atS.
func (f *InFlight) moment(atS float64) int {
	last := len(f.requests) - 1
	if !(atS > 0) {
		return 0
	}
	at := math.Ceil(atS/f.stepS - 1e-9)
	if at >= float64(last) {
		return last
	}
	return int(at)
}

// Requests are the requests in flight at each moment.
func (f *InFlight) Requests() []Level { return f.levels(f.requests) }

// Tokens are the tokens in hand at each moment: prompts and answers so far of
// the requests in flight, a lower bound of what the KV cache holds. Prompts of
// unknown length count as none.
func (f *InFlight) Tokens() []Level { return f.levels(f.tokens) }

// levels leaves out moments at which nothing changed, but for the last.
func (f *InFlight) levels(changes []float64) []Level {
	var out []Level
	value, last := 0.0, len(changes)-2
	for i, change := range changes[:last+1] {
		value += change
		if i > 0 && i < last && change == 0 {
			continue
		}
		out = append(out, Level{AtS: float64(i) * f.stepS, Value: math.Round(value*1e6) / 1e6})
	}
	return out
}
