package metrics

import (
	"math"

	"github.com/benchrig/bench/results"
)

// outputLengths compares asked with received lengths; null without an answer
// of which both are known.
func outputLengths(good []Observation) *results.OutputLengths {
	n, asked, received, early := 0, 0, 0, 0
	for _, o := range good {
		if o.AskedOutputTokens <= 0 || o.OutputTokens == nil {
			continue
		}
		n++
		asked += o.AskedOutputTokens
		received += *o.OutputTokens
		if *o.OutputTokens < o.AskedOutputTokens && o.FinishReason != "length" {
			early++
		}
	}

	if n == 0 {
		return nil
	}

	return &results.OutputLengths{
		N: n, AskedMean: float64(asked) / float64(n), ReceivedMean: float64(received) / float64(n),
		Share: float64(received) / float64(asked), EarlyEOS: float64(early) / float64(n),
	}
}

// chunkSizes counts answers by their rounded tokens per chunk; null where no
// length is known.
func chunkSizes(good []Observation) map[int]int {
	var sizes map[int]int
	for _, o := range good {
		if o.OutputTokens != nil && len(o.TokenS) > 0 {
			count(&sizes, int(math.Round(float64(*o.OutputTokens)/float64(len(o.TokenS)))))
		}
	}
	return sizes
}

// shortestGapS is below what any model takes for a token: shorter gaps come
// from chunks that travelled together.
const shortestGapS = 0.0001

// burstGaps is the share of chunk gaps below shortestGapS; null without gaps.
func burstGaps(gaps []float64) *float64 {
	if len(gaps) == 0 {
		return nil
	}
	short := 0
	for _, gap := range gaps {
		if gap < shortestGapS {
			short++
		}
	}
	return new(float64(short) / float64(len(gaps)))
}

// promptBuckets groups requests by the lengths of their prompts, each class
// twice as wide as the one before: 1, 2-3, 4-7, ... Null where all are of one.
func promptBuckets(good []Observation, percentiles []float64) []results.PromptBucket {
	classes := make(map[int][]Observation)
	last := 0
	for _, o := range good {
		if n := inputTokens(o.Record); n != nil && *n > 0 {
			class := int(math.Log2(float64(*n)))
			classes[class] = append(classes[class], o)
			last = max(last, class)
		}
	}

	if len(classes) < 2 {
		return nil
	}

	var buckets []results.PromptBucket
	for class := range last + 1 {
		own := classes[class]
		if own == nil {
			continue
		}
		var ttft, tpot []float64
		for _, o := range own {
			ttft, tpot = AppendKnown(ttft, o.TTFT()), AppendKnown(tpot, o.TPOT())
		}
		buckets = append(buckets, results.PromptBucket{
			From: 1 << class, To: 1<<(class+1) - 1, N: len(own), TTFT: Describe(ttft, percentiles), TPOT: Describe(tpot,
				percentiles),
		})
	}

	return buckets
}
