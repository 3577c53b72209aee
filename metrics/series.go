package metrics

import (
	"math"
	"slices"

	"github.com/benchrig/bench/results"
)

// longestSeries limits the seconds of a series: a day.
const longestSeries = 86_400

// seriesOf counts in whole seconds from the start of the pass; null where no
// request succeeded. The tokens are null where the length of an answer is unknown.
func seriesOf(good []Observation) *results.Series {
	s := &results.Series{}
	allKnown := true
	for _, o := range good {
		weight, known := o.ChunkWeight()
		allKnown = allKnown && known
		for i, at := range o.TokenS {
			second := int(max(at, 0))
			if second >= longestSeries {
				continue
			}
			if grow := second + 1 - len(s.Requests); grow > 0 {
				s.Requests = append(s.Requests, make([]int, grow)...)
				s.OutputTokens = append(s.OutputTokens, make([]float64, grow)...)
			}
			s.OutputTokens[second] += weight
			if i == len(o.TokenS)-1 {
				s.Requests[second]++
			}
		}
	}

	if len(s.Requests) == 0 {
		return nil
	}

	s.PeakRequests = slices.Max(s.Requests)
	if !allKnown {
		s.OutputTokens = nil
		return s
	}

	for i, tokens := range s.OutputTokens {
		s.OutputTokens[i] = math.Round(tokens*1e6) / 1e6 // sums of shares of answers
	}
	s.PeakOutputTokens = new(slices.Max(s.OutputTokens))

	return s
}
