package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/benchrig/bench/results"
)

// steadyShare of the cap must be in flight for a closed loop to be at full
// load, as in vLLM's Rust client.
const steadyShare = 0.95

// steadyState leaves out the burst at the start and the tail at the end: it
// begins when the first request ends, and lasts in a closed loop until fewer
// than steadyShare of the cap are in flight for good, in an open one until
// the last send. Null where no request was sent within.
func steadyState(all []Observation, p Params) *results.SteadyState {
	from, to := steadyWindow(all, p.MaxConcurrency)
	if !(to > from) {
		return nil
	}

	s := &results.SteadyState{FromS: from, ToS: to}
	var ttft, tpot, icl, e2el []float64
	ended, tokens, allKnown := 0, 0.0, true
	for _, o := range all {
		if !o.OK() || o.SentS == nil {
			continue
		}
		weight, known := o.ChunkWeight()
		allKnown = allKnown && known
		for _, at := range o.TokenS {
			if at >= from && at < to {
				tokens += weight
			}
		}
		if end := o.TokenS[len(o.TokenS)-1]; end >= from && end < to {
			ended++
		}
		if *o.SentS >= from && *o.SentS < to {
			s.N++
			ttft, tpot, e2el = AppendKnown(ttft, o.TTFT()), AppendKnown(tpot, o.TPOT()), AppendKnown(e2el, o.E2EL())
			icl = append(icl, o.gaps()...)
		}
	}

	if s.N == 0 {
		return nil
	}

	s.RequestThroughput = float64(ended) / (to - from)
	if allKnown {
		s.OutputThroughput = new(tokens / (to - from))
	}

	percentiles := p.percentiles()
	s.TTFT, s.TPOT = Describe(ttft, percentiles), Describe(tpot, percentiles)
	s.ICL, s.E2EL = Describe(icl, percentiles), Describe(e2el, percentiles)
	return s
}

func steadyWindow(all []Observation, maxInFlight *int) (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, o := range all {
		if o.SentS == nil {
			continue
		}
		to = max(to, *o.SentS)
		if o.OK() {
			from = min(from, max(o.EndS, *o.SentS))
		}
	}

	if maxInFlight == nil {
		return from, to
	}

	limit := steadyShare * float64(*maxInFlight)
	to = math.Inf(-1)
	inFlight := 0
	edges := edgesOf(all)
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.atS, b.atS),
			cmp.Compare(b.step, a.step))
	})

	for _, e := range edges {
		if float64(inFlight) >= limit {
			to = e.atS
		}
		inFlight += e.step
	}

	return from, to
}
