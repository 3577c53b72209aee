package catalog

import (
	"slices"

	"github.com/benchrig/bench/results"
)

// sqzbFigures are the throughputs and the energy of method sqzb, where a step has them; that of
// the whole answers is among the headline figures.
func sqzbFigures(steps []*results.Result) []Figure {
	if !slices.ContainsFunc(steps, func(r *results.Result) bool { return r.SQZB != nil }) {
		return nil
	}

	figure := func(name, title string, of func(*results.SQZB) *float64) Figure {
		return Figure{
			Name: name, Title: title, Unit: "tok/s", Scale: 1, Higher: true,
			Of: func(r *results.Result) *float64 {
				if r.SQZB == nil {
					return nil
				}
				return of(r.SQZB)
			},
		}
	}

	energy := figure("j_per_input_token", "J/input token", func(s *results.SQZB) *float64 { return s.JPerInputToken })
	energy.Unit, energy.Higher, energy.Powered = "J", false, true

	return []Figure{
		figure("summarization_throughput", "summarization tok/s",
			func(s *results.SQZB) *float64 { return s.SummarizationThroughput }),
		figure("generation_throughput", "generation tok/s",
			func(s *results.SQZB) *float64 { return s.GenerationThroughput }),
		energy,
	}
}
