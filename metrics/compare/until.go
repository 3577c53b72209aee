package compare

import (
	"math"
	"slices"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// Width is how wide the interval of a figure's mean is, for a variant at a
// point of the load.
type Width struct {
	Variant, Point, Figure string
	Lives                  int
	Relative               *float64 // half-width over the mean; null: fewer than two server lives
}

// Widest is the interval, of those that a further round of repeats could
// change, that is widest: of every figure asked for of each variant and point
// that had a result in the last round. ok is false where there is none. steps
// are those of the rounds that are over, in the order in which they ran.
func Widest(policy results.RepeatsPolicy, steps []*results.Result) (widest Width, ok bool) {
	last := 0
	for _, s := range steps {
		last = max(last, s.Step.Repeat)
	}

	for _, cell := range Cells(steps, nil, nil) {
		if !slices.ContainsFunc(cell.Steps, func(r *results.Result) bool { return r.Step.Repeat == last }) {
			continue // left out: it cannot change
		}
		for _, name := range watchedFigures(policy, cell) {
			w, known := widthOf(cell, name, policy.Confidence)
			if known && (!ok || w.widerThan(widest)) {
				widest, ok = w, true
			}
		}
	}

	return widest, ok
}

// Narrow reports whether the interval is as narrow as asked for.
func (w Width) Narrow(policy results.RepeatsPolicy) bool {
	return w.Relative != nil && *w.Relative <= policy.Until
}

func (w Width) widerThan(o Width) bool {
	if w.Relative == nil || o.Relative == nil {
		return w.Relative == nil && o.Relative != nil
	}
	return *w.Relative > *o.Relative
}

// widthOf is not known where a counted step does not know the figure.
func widthOf(cell Cell, name string, confidence float64) (Width, bool) {
	w := Width{Variant: cell.Variant, Point: cell.Point, Figure: name}
	values := cell.PerLife(figureOf(name))
	if values == nil {
		return w, false
	}

	w.Lives = len(values)
	s := Sample{cell.Variant, values}.Summarize(confidence)
	if s.Low == nil {
		return w, true
	}

	half := *s.High - *s.Mean
	switch {
	case half == 0:
		w.Relative = new(0.0)
	case *s.Mean == 0:
		return w, false
	default:
		w.Relative = new(half / math.Abs(*s.Mean))
	}

	return w, true
}

// figureOf is a figure by its name, that of a test of llama-bench included.
func figureOf(name string) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if f, err := catalog.Named(name); err == nil {
			return f.Of(r)
		}
		for _, f := range catalog.FiguresOf([]*results.Result{r}) {
			if f.Name == name {
				return f.Of(r)
			}
		}
		return nil
	}
}

// watchedFigures are the figures that the policy names, else the one that decides
// which variant is ahead: throughput, or at a request rate, which sets the
// throughput, the median latency; of llama-bench, every test.
func watchedFigures(policy results.RepeatsPolicy, cell Cell) []string {
	if len(policy.Figures) > 0 || len(cell.Counted) == 0 {
		return policy.Figures
	}

	first := cell.Counted[0]
	switch {
	case first.OfProgram():
		var names []string
		for _, f := range catalog.FiguresOf(cell.Counted) {
			if f.Higher {
				names = append(names, f.Name)
			}
		}
		return names
	case first.Asked.RequestRate != nil:
		return []string{"median_e2el_s"}
	}

	return []string{"output_throughput"}
}
