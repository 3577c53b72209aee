package catalog

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// MeasureFigures are the figures of methods that send no requests, in the order in
// which the steps have them; nil: there are none.
func MeasureFigures(steps []*results.Result) []Figure {
	var names []string
	var figures []Figure
	for _, r := range steps {
		for _, m := range r.Measures {
			if slices.Contains(names, m.Name) {
				continue
			}
			names = append(names, m.Name)
			figures = append(figures, Figure{
				Name: m.Name, Title: strings.TrimSpace(m.Title + " " + m.Unit), Unit: m.Unit, Scale: 1,
				Higher: m.Higher,
				Of:     func(r *results.Result) *float64 { return r.Measure(m.Name).Value },
			})
		}
	}
	return figures
}
