package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/benchrig/bench/results"
)

// clientAtMost is how far the client can have moved the figures of a pass at most:
// null where a request does not tell, as those of older versions and other clients.
//
// Every sample lies within bounds: a latency may be shorter by what passed until
// the kernel had the whole request and by how much earlier its last chunk may
// have arrived than its stamp, and a gap longer by how much earlier the chunk
// before it may have. Order statistics and means only grow with their samples, so
// that those of the lowest and of the highest values bound the figure.
func clientAtMost(all, good []Observation, f *results.Figures, p Params) *results.ClientBound {
	if len(good) == 0 || slices.ContainsFunc(good, func(o Observation) bool { return o.WrittenS == nil }) {
		return nil
	}

	var ttft, tpot, e2el, ttftIntended, e2elIntended bounded
	var gaps gapBounds
	held := heldUntil(all, p.MaxConcurrency)
	for _, o := range good {
		write := max(*o.WrittenS-*o.SentS, 0)
		late := max(*o.SentS-max(o.IntendedS, held[o.Index]), 0)
		last := len(o.TokenS) - 1
		if !o.Whole() {
			ttft.add(o.TTFT(), write+o.late(0), 0)
			ttftIntended.add(o.first(&o.IntendedS), late+write+o.late(0), 0)
			tpot.add(o.TPOT(), o.perToken(o.late(last)), o.perToken(o.late(0)))
		}
		e2el.add(o.E2EL(), write+o.late(last), 0)
		e2elIntended.add(o.since(&o.IntendedS, -1), late+write+o.late(last), 0)
		gaps.add(o)
	}

	b := &results.ClientBound{
		TTFT: ttft.at(f.TTFT), TPOT: tpot.at(f.TPOT), ICL: gaps.at(f.ICL), E2EL: e2el.at(f.E2EL),
		TTFTFromIntended: ttftIntended.at(f.TTFTFromIntended), E2ELFromIntended: e2elIntended.at(f.E2ELFromIntended),
	}
	if f.ITL.N > 0 {
		b.ITL = b.ICL
	} else {
		b.ITL = new(bounded).at(f.ITL)
	}
	b.ThroughputShare, b.TurnaroundS = turnaround(all, held, p)
	return b
}

// late is how much earlier token chunk i may have arrived than its stamp, in seconds.
func (o Observation) late(i int) float64 {
	if i < 0 || i >= len(o.LateS) {
		return 0
	}
	return o.LateS[i]
}

// perToken is seconds of the whole answer as seconds of its time per output token.
func (o Observation) perToken(seconds float64) float64 {
	if o.OutputTokens == nil || seconds == 0 {
		return 0
	}
	return seconds / float64(max(*o.OutputTokens-1-o.hiddenTokens(), 1))
}

// bounded are samples, each with the least and the most that it can be.
type bounded struct {
	low, value, high []float64
}

func (b *bounded) add(value *float64, added, hidden float64) {
	if value != nil {
		b.low, b.value, b.high = append(b.low, *value-added), append(b.value, *value), append(b.high, *value+hidden)
	}
}

// at is how far each figure of d can be from the truth.
func (b *bounded) at(d results.Dist) results.DistBound {
	var out results.DistBound
	for _, p := range d.Percentiles {
		out.Percentiles = append(out.Percentiles, results.PercentileBound{P: p.P})
	}
	if d.N == 0 || len(b.low) != d.N {
		return out
	}

	low, high, values := Ascending(b.low), Ascending(b.high), Ascending(b.value)
	away := func(value *float64, of func([]float64) float64) results.FigureBound {
		hidden := of(high) - *value
		return results.FigureBound{
			AtMostS: new(math.Max(math.Max(*value-of(low), hidden), 0)), Added: hidden < 1e-9,
		}
	}

	out.Mean, out.Median = away(d.Mean, Mean), away(d.Median, Median)
	out.Mean.IntervalS = meanInterval(d)
	out.Median.IntervalS = percentileInterval(values, 50)
	for i, p := range d.Percentiles {
		f := away(p.Value, func(sorted []float64) float64 { return Percentile(sorted, p.P) })
		f.IntervalS = percentileInterval(values, p.P)
		out.Percentiles[i].FigureBound = f
	}
	return out
}

const normal95 = 1.96 // two-sided, of a normal distribution

// meanInterval is half of the 95 % interval of a mean by the spread of its samples.
func meanInterval(d results.Dist) *float64 {
	if d.N < 2 || d.Std == nil {
		return nil
	}
	return new(normal95 * *d.Std / math.Sqrt(float64(d.N-1)))
}

// percentileInterval is half of the 95 % interval of a percentile: between the
// samples whose ranks the true one has with that chance; null where too few lie beyond it.
func percentileInterval(sorted []float64, p float64) *float64 {
	n := float64(len(sorted))
	if n < 2 || len(sorted) < SamplesFor(p) {
		return nil
	}
	q := p / 100
	rank, spread := q*(n-1), normal95*math.Sqrt(n*q*(1-q))
	low, high := int(math.Max(math.Floor(rank-spread), 0)), int(math.Min(math.Ceil(rank+spread), n-1))
	return new((sorted[high] - sorted[low]) / 2)
}

// heldUntil is until when the cap on concurrency kept each request back, by index:
// the k-th conversation to begin had its slot when the (k - cap)-th to end had.
// A request alone is a conversation of one.
func heldUntil(all []Observation, limit *int) map[int]float64 {
	held := make(map[int]float64)
	if limit == nil || *limit < 1 {
		return held
	}

	var begun []Observation
	ends := make(map[int]float64) // by conversation, or by -1 - index
	for _, o := range all {
		if o.SentS == nil {
			continue
		}
		if o.Turn <= 1 {
			begun = append(begun, o)
		}
		key := o.Conversation
		if key == 0 {
			key = -1 - o.Index
		}
		ends[key] = max(ends[key], o.EndS)
	}

	slices.SortStableFunc(begun, func(a, b Observation) int { return cmp.Compare(*a.SentS, *b.SentS) })
	ended := slices.Sorted(maps.Values(ends))
	for k := *limit; k < len(begun) && k-*limit < len(ended); k++ {
		held[begun[k].Index] = ended[k-*limit]
	}
	return held
}

// turnaround is what late sends can have cost. With a cap on concurrency a slot
// stands empty from the end of a request to the send of the next, and the share
// is of that in the time of all slots; without one the pass can have lasted longer by as
// much as the latest send was late. mean is the time for each request.
func turnaround(all []Observation, held map[int]float64, p Params) (share, mean *float64) {
	var idle, used, latest float64
	n := 0
	for _, o := range all {
		if o.SentS == nil {
			continue
		}
		late := max(*o.SentS-max(o.IntendedS, held[o.Index]), 0)
		idle, used, latest, n = idle+late, used+max(o.EndS-*o.SentS, 0), max(latest, late), n+1
	}

	switch {
	case n == 0 || used <= 0 || p.DurationS <= 0:
		return nil, nil
	case p.MaxConcurrency == nil:
		return new(latest / p.DurationS), new(idle / float64(n))
	}
	return new(idle / (idle + used)), new(idle / float64(n))
}
