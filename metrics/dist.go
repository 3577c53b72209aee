package metrics

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchrig/bench/results"
)

// Describe summarizes a sample. Figures of an empty sample are null.
func Describe(sample, percentiles []float64) results.Dist {
	d := results.Dist{N: len(sample)}
	for _, p := range percentiles {
		d.Percentiles = append(d.Percentiles, results.PercentileFigure{P: p})
	}

	if d.N == 0 {
		return d
	}

	sorted := Ascending(sample)
	d.Mean, d.Std = new(Mean(sample)), new(stdDev(sample))
	d.Median = new(Median(sorted))
	d.Min, d.Max = new(sorted[0]), new(sorted[d.N-1])
	for i, p := range percentiles {
		d.Percentiles[i].Value = new(Percentile(sorted, p))
	}

	return d
}

// At is the percentile p of d; null if it was not computed.
func At(d results.Dist, p float64) *float64 {
	for _, f := range d.Percentiles {
		if f.P == p {
			return f.Value
		}
	}
	return nil
}

// UsualTail is the percentile that stands for the tail of a sample where it was computed.
const UsualTail = 99

// TailOf is the percentile that stands for the tail of samples: UsualTail, or where none
// has it the highest above the median that was computed.
func TailOf(samples ...results.Dist) float64 {
	const median = 50
	highest := 0.0
	for _, d := range samples {
		for _, q := range d.Percentiles {
			if q.P == UsualTail {
				return UsualTail
			}
			highest = max(highest, q.P)
		}
	}
	if highest <= median {
		return UsualTail
	}
	return highest
}

// SamplesFor is how many samples a percentile above the median needs for ten
// of them to be expected beyond it: 100 for p90, 1000 for p99. It is 0 for p
// up to 50, and for 100, which is the maximum and claims nothing.
func SamplesFor(p float64) int {
	if p <= 50 || p >= 100 {
		return 0
	}
	const beyond, slack = 10, 1e-6 // 1000.0000000000009 is 1000
	return int(beyond/(1-p/100) + 1 - slack)
}

// upperBounds bounds the percentiles above the median of a sample that
// requests left.
func upperBounds(latency string, sample, percentiles []float64, requests int) []results.UpperBound {
	if len(sample) == 0 {
		return nil
	}

	var bounds []results.UpperBound
	sorted := Ascending(sample)
	for _, p := range percentiles {
		if p <= 50 || p >= 100 {
			continue
		}
		b := results.UpperBound{Latency: latency, P: p}
		if beyond := MostBeyond(len(sorted), p, results.BoundConfidence); beyond >= 0 {
			b.AtMostS = new(sorted[len(sorted)-1-beyond])
		} else {
			missing := LeastSamples(p, results.BoundConfidence) - len(sorted)
			b.MoreRequests = int(math.Ceil(float64(missing) * float64(requests) / float64(len(sorted))))
		}
		bounds = append(bounds, b)
	}

	return bounds
}

// unknownPercentiles says of which percentiles nothing is known with confidence, and
// how many more requests each needs: "p99 TTFT (99 more requests)". Those of one
// percentile that need as many are one.
func unknownPercentiles(bounds []results.UpperBound) []string {
	type need struct {
		p    float64
		more int
	}
	latencies := make(map[need][]string)
	var order []need
	for _, b := range bounds {
		if b.MoreRequests == 0 {
			continue
		}
		key := need{b.P, b.MoreRequests}
		if latencies[key] == nil {
			order = append(order, key)
		}
		latencies[key] = append(latencies[key], strings.ToUpper(b.Latency))
	}

	var texts []string
	for _, key := range order {
		texts = append(texts, fmt.Sprintf("%s %s (%d more requests)", PercentileName(key.p),
			strings.Join(latencies[key], ", "), key.more))
	}
	return texts
}
