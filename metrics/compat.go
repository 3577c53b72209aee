package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// generations are the clients whose readings go into a result.
func generations() []results.Generation {
	return []results.Generation{results.VLLM, results.VLLM2605, results.VLLM010, results.VLLM06}
}

// CompatReadings are the readings of all generations.
func CompatReadings(records []results.Record, p Params) results.Compat {
	all := make(results.Compat)
	d := &describer{percentiles: p.percentiles()}
	for _, g := range generations() {
		figures, differences := compat(records, p, g, d)
		all[g] = results.CompatReading{
			CompatFigures: figures,
			Differences:   slices.Concat([]results.Difference{}, differences),
		}
	}
	return all
}

// compat computes a pass exactly as the client of generation g would have,
// faults included, and says why that differs from the headline reading.
func compat(records []results.Record, p Params, g results.Generation, d *describer) (results.CompatFigures,
	[]results.Difference,
) {
	pairs := seenByBoth(records, p, g)
	outputs := make([]vllm.Output, len(pairs))
	for i, pair := range pairs {
		outputs[i] = pair.theirs
	}
	figures := calculate(outputs, p, g, d)
	return figures, differences(pairs, figures, g)
}

// reading is a request as bench sees it and as vLLM's client does.
type reading struct {
	ours   Observation
	theirs vllm.Output
}

// seenByBoth leaves out the requests that were never made.
func seenByBoth(records []results.Record, p Params, g results.Generation) []reading {
	var pairs []reading
	for _, o := range observeAll(records) {
		if theirs, made := vllm.Read(o.Record, g, p.API, p.UsageAsked); made {
			pairs = append(pairs, reading{o, theirs})
		}
	}
	return pairs
}

// calculate is what vLLM's client computes from its outputs, in its order of
// operations.
func calculate(outputs []vllm.Output, p Params, g results.Generation, d *describer) results.CompatFigures {
	good := slices.DeleteFunc(slices.Clone(outputs), func(o vllm.Output) bool { return !o.Success })
	f := results.CompatFigures{Completed: len(good), Failed: len(outputs) - len(good), DurationS: p.DurationS}
	var ttft, tpot, itl, e2el []float64
	lengthsKnown := true
	f.TotalInputTokens = sumKnown(good, func(o vllm.Output) *int { return o.PromptLen })
	f.TotalOutputTokens = sumKnown(good, func(o vllm.Output) *int { return o.OutputLen })
	for _, o := range good {
		ttft, e2el = append(ttft, o.TTFTS), append(e2el, o.LatencyS)
		itl = append(itl, o.ITLS...)
		if o.OutputLen == nil {
			lengthsKnown = false
		} else if *o.OutputLen > 1 {
			tpot = append(tpot, tpotOf(o))
		}
	}

	f.TTFT, f.ITL, f.E2EL = d.describe(ttft), d.describe(itl), d.describe(e2el)
	f.TPOT = Describe(nil, d.percentiles)
	if lengthsKnown {
		f.TPOT = d.describe(tpot)
	}

	addCompatRates(&f, good, p, lengthsKnown)
	if g == results.VLLM || g == results.VLLM2605 {
		f.MaxOutputTokensPerS, f.MaxConcurrentRequests = bucketPeaks(good)
	}
	if !lengthsKnown {
		f.Unknown = append(f.Unknown, "the lengths of some answers: this client tokenizes their texts again, and no "+
			"tokenizer counted them here")
	}
	if f.TotalInputTokens == nil {
		f.Unknown = append(f.Unknown, "the lengths of some prompts by the client's own tokenizer")
	}

	return f
}

// tpotOf is 0 for answers of at most one token, which is good by any goal.
func tpotOf(o vllm.Output) float64 {
	if o.OutputLen == nil || *o.OutputLen <= 1 {
		return 0
	}
	return (o.LatencyS - o.TTFTS) / float64(*o.OutputLen-1)
}

// sumKnown adds up; null: one value is unknown. The sum of no values is 0.
func sumKnown[T any](good []T, of func(T) *int) *int64 {
	sum := int64(0)
	for _, o := range good {
		n := of(o)
		if n == nil {
			return nil
		}
		sum += int64(*n)
	}
	return &sum
}

// describer describes samples as vLLM prints them: an empty one is 0. It
// remembers the large ones, since generations mostly agree on them and sorting
// takes long.
type describer struct {
	percentiles []float64
	samples     [][]float64
	known       []results.Dist // of samples
}

const largeSample = 10_000

func (d *describer) describe(sample []float64) results.Dist {
	large := len(sample) >= largeSample
	if large {
		if i := slices.IndexFunc(d.samples, func(s []float64) bool { return slices.Equal(s, sample) }); i >= 0 {
			return d.known[i]
		}
	}

	dist := Describe(sample, d.percentiles)
	switch {
	case large:
		d.samples, d.known = append(d.samples, sample), append(d.known, dist)
	case dist.N == 0:
		dist.Mean, dist.Median, dist.Std = new(0.0), new(0.0), new(0.0)
		for i := range dist.Percentiles {
			dist.Percentiles[i].Value = new(0.0)
		}
	}

	return dist
}

func addCompatRates(f *results.CompatFigures, good []vllm.Output, p Params, lengthsKnown bool) {
	if p.DurationS <= 0 {
		return
	}

	f.RequestThroughput = new(float64(f.Completed) / p.DurationS)
	if p.Goals.any() && (lengthsKnown || p.Goals.TPOT == nil) {
		n := 0
		for _, o := range good {
			tpot := tpotOf(o)
			if kept(p.Goals.TTFT, &o.TTFTS) && kept(p.Goals.TPOT, &tpot) && kept(p.Goals.E2EL, &o.LatencyS) {
				n++
			}
		}
		f.RequestGoodput = new(float64(n) / p.DurationS)
	}

	if f.TotalOutputTokens == nil {
		return
	}

	f.OutputThroughput = new(float64(*f.TotalOutputTokens) / p.DurationS)
	if f.TotalInputTokens != nil {
		f.TotalTokenThroughput = new(float64(*f.TotalInputTokens+*f.TotalOutputTokens) / p.DurationS)
	}
}

// bucketPeaks counts in seconds from the first start: a chunk is a token, and a
// request is in every second that it touches.
func bucketPeaks(good []vllm.Output) (*float64, *int) {
	if len(good) == 0 {
		return new(0.0), new(0)
	}

	start, end := math.Inf(1), math.Inf(-1)
	for _, o := range good {
		start, end = min(start, o.StartS), max(end, o.StartS+o.LatencyS)
	}

	seconds := int(math.Ceil(end-start)) + 1
	tokens, requests := make([]int, seconds), make([]int, seconds)
	tick := func(at float64) {
		if second := int(at - start); second >= 0 && second < seconds {
			tokens[second]++
		}
	}

	for _, o := range good {
		at := o.StartS + o.TTFTS
		tick(at)
		for _, gap := range o.ITLS {
			at += gap
			tick(at)
		}
		for second := int(o.StartS - start); second <= min(int(o.StartS+o.LatencyS-start), seconds-1); second++ {
			requests[second]++
		}
	}

	return new(float64(slices.Max(tokens))), new(slices.Max(requests))
}

// byCount orders differences: most requests first.
func byCount(a, b results.Difference) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
}
