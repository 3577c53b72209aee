package catalog

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// WithTail puts, in the place of p99, the highest percentile that a step has where
// none has p99: the scenario asked for others. Where there are none above the median,
// the figures stay as they are.
func WithTail(figures []Figure, steps []*results.Result) []Figure {
	p := tailOf(steps)
	if p == metrics.UsualTail {
		return figures
	}

	figures = slices.Clone(figures)
	for i, f := range figures {
		if f.Group == Latency && f.P == metrics.UsualTail {
			figures[i] = f.at(p)
		}
	}
	return figures
}

// tailOf is the percentile that WithTail takes.
func tailOf(steps []*results.Result) float64 {
	var samples []results.Dist
	for _, r := range steps {
		f := r.Headline()
		if f == nil {
			continue
		}
		for _, sample := range Samples() {
			samples = append(samples, *sample.At(f))
		}
	}
	return metrics.TailOf(samples...)
}

// at is the figure at another percentile, shown where the figure is.
func (f Figure) at(p float64) Figure {
	name := metrics.PercentileName(p)
	other := Must(strings.Replace(f.Name, metrics.PercentileName(f.P), name, 1))
	other.Compared, other.Extra, other.Drawn, other.Column = f.Compared, f.Extra, f.Drawn, f.Column
	if f.Column.Unit != "" {
		other.Column.Unit = name
	}
	return other
}
