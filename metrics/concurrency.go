package metrics

import (
	"cmp"
	"math"
	"slices"
)

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
			tokens += *o.OutputTokens - o.HiddenTokens()
			chunks += len(o.TokenS)
		}
	}
	if chunks == 0 {
		return nil
	}
	return new(float64(tokens) / float64(chunks))
}
