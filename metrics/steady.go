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
	for _, o := range all {
		if !o.OK() || o.SentS == nil {
			continue
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

	s.RequestThroughput, s.OutputThroughput = ratesWithin(all, from, to)
	percentiles := p.percentiles()
	s.TTFT, s.TPOT = Describe(ttft, percentiles), Describe(tpot, percentiles)
	s.ICL, s.E2EL = Describe(icl, percentiles), Describe(e2el, percentiles)
	return s
}

// RatesWithin are the requests that ended, those of them that kept all goals, and the
// output tokens that came between two moments of a pass, a second. Null: there are no
// goals; the length of an answer is unknown, or answers are numbers.
func RatesWithin(records []results.Record, p Params, from, to float64) (requests float64, goodput, output *float64) {
	all := observeAll(records)
	requests, output = ratesWithin(all, from, to)
	if p.answersAreNumbers() {
		output = nil
	}

	if p.hasGoals() {
		n := 0
		for _, o := range all {
			if o.OK() && within(o, from, to) && p.goalsOf(o).keptBy(o) {
				n++
			}
		}
		goodput = new(float64(n) / (to - from))
	}
	return requests, goodput, output
}

// within reports whether the last token of an answer came between two moments.
func within(o Observation, from, to float64) bool {
	end := o.TokenS[len(o.TokenS)-1]
	return end >= from && end < to
}

func ratesWithin(all []Observation, from, to float64) (requests float64, output *float64) {
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
		if within(o, from, to) {
			ended++
		}
	}

	if allKnown {
		output = new(tokens / (to - from))
	}
	return float64(ended) / (to - from), output
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
		return cmp.Or(cmp.Compare(a.atS, b.atS), cmp.Compare(b.step, a.step))
	})

	for _, e := range edges {
		if float64(inFlight) >= limit {
			to = e.atS
		}
		inFlight += e.step
	}

	return from, to
}

// edge is a request's begin (+1) or end (-1).
type edge struct {
	atS  float64
	step int
}

// peakConcurrent is the largest number of requests in flight, from sent to the
// end of the stream or to the failure; exact. Failed requests count: the
// server had them. A request that ends when another begins makes room for it.
func peakConcurrent(all []Observation) int {
	edges := edgesOf(all)
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.atS, b.atS), cmp.Compare(a.step, b.step))
	})
	now, peak := 0, 0
	for _, e := range edges {
		now += e.step
		peak = max(peak, now)
	}
	return peak
}

func edgesOf(all []Observation) []edge {
	var edges []edge
	for _, o := range all {
		if o.SentS != nil {
			edges = append(edges, edge{*o.SentS, 1}, edge{max(o.EndS, *o.SentS), -1})
		}
	}
	return edges
}

// maxOutputTokensPerS is the fullest of the whole seconds counted from the
// first send of a successful request. Each token chunk counts for the tokens
// that chunks of its answer carry on average, at least one as with vLLM; null without
// any, and where the length of an answer is unknown.
func maxOutputTokensPerS(good []Observation) *float64 {
	start := math.Inf(1)
	for _, o := range good {
		if o.SentS != nil {
			start = min(start, *o.SentS)
		}
	}

	seconds := make(map[int]float64)
	peak := 0.0
	for _, o := range good {
		if o.SentS == nil {
			continue
		}
		weight, known := o.ChunkWeight()
		if !known {
			return nil
		}
		for _, at := range o.TokenS {
			second := int(at - start)
			seconds[second] += max(weight, 1)
			peak = max(peak, seconds[second])
		}
	}

	if peak == 0 {
		return nil
	}

	return &peak
}

// tokensPerChunk is over the answers whose length is known; null without any.
func tokensPerChunk(good []Observation) *float64 {
	tokens, chunks := 0, 0
	for _, o := range good {
		if o.OutputTokens != nil {
			tokens += *o.OutputTokens - o.hiddenTokens()
			chunks += len(o.TokenS)
		}
	}
	if chunks == 0 {
		return nil
	}
	return new(float64(tokens) / float64(chunks))
}
