package compare

import (
	"math"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// Cell is one variant at one point of the load sweep: its repeats together.
type Cell struct {
	Variant string
	Point   string
	Steps   []*results.Result // all repeats, in the order given
	Counted []*results.Result // whose figures stand for the cell: the ok ones, else the suspect ones
	Again   bool              // the arm of a null test: the baseline once more, which is shown and never ranked
}

// Valid reports whether every repeat is ok; only such cells are ranked.
func (c Cell) Valid() bool {
	return len(c.Counted) > 0 && len(c.Counted) == len(c.Steps) && c.Counted[0].Verdict == results.OK
}

// Lives counts the different sets of server lives behind the counted steps:
// repeats on one life do not show how a restart varies.
func (c Cell) Lives() int { return len(c.ByLife()) }

// Mean is a figure's mean over server lives, each life the mean of its
// repeats. It is null if a counted step does not know the figure.
func (c Cell) Mean(figure func(*results.Figures) *float64) *float64 {
	return c.MeanOf(catalog.OfFigures(figure))
}

// MeanOf is Mean of anything that a step knows.
func (c Cell) MeanOf(figure func(*results.Result) *float64) *float64 {
	means := c.PerLife(figure)
	if len(means) == 0 {
		return nil
	}
	return new(metrics.Mean(means))
}

// PerLife is a figure of each server life, the mean of its repeats, in the
// order of ByLife. It is empty if a counted step does not know the figure: what
// is left could be another sample than what was measured.
func (c Cell) PerLife(figure func(*results.Result) *float64) []float64 {
	var means []float64
	for _, steps := range c.ByLife() {
		values := make([]float64, 0, len(steps))
		for _, s := range steps {
			v := figure(s)
			if v == nil {
				return nil
			}
			values = append(values, *v)
		}
		means = append(means, metrics.Mean(values))
	}
	return means
}

// ByLife groups the counted steps by the lives of their servers.
func (c Cell) ByLife() [][]*results.Result {
	var groups [][]*results.Result
	index := make(map[string]int)
	for _, s := range c.Counted {
		key := s.Step.ID // a step that names no server stands for itself
		if len(s.Servers) > 0 {
			key = ""
			for _, server := range s.Servers {
				key += server.Life + "\x00"
			}
		}
		at, known := index[key]
		if !known {
			at = len(groups)
			index[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], s)
	}

	return groups
}

// livesBegan is when each server life's first counted step began, in seconds
// since any moment, in the order of ByLife; nil where that is not known, as of
// imported steps.
func (c Cell) livesBegan() []float64 {
	var began []float64
	for _, steps := range c.ByLife() {
		first := math.Inf(1)
		for _, s := range steps {
			at, ok := s.BeganS()
			if !ok {
				return nil
			}
			first = min(first, at)
		}
		began = append(began, first)
	}
	return began
}

// IsSimulated reports whether a step of the cell is simulated.
func (c Cell) IsSimulated() bool {
	return slices.ContainsFunc(c.Steps, func(r *results.Result) bool { return r.Simulated })
}

// Extrapolated is the extrapolation of the cell's counted steps; nil: they are measured.
func (c Cell) Extrapolated() *results.Extrapolation {
	for _, r := range c.Counted {
		if r.Extrapolated != nil {
			return r.Extrapolated
		}
	}
	return nil
}

// ByPoint are cells in groups of one load point each, which follow one another.
func ByPoint(cells []Cell) [][]Cell {
	var groups [][]Cell
	for i, c := range cells {
		if i == 0 || c.Point != cells[i-1].Point {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}

// CellsOf groups steps of a run as its manifest orders them.
func CellsOf(m results.Manifest, steps []*results.Result) []Cell {
	cells := Cells(steps, m.Variants, m.Points)
	for i := range cells {
		cells[i].Again = m.NullTest != "" && cells[i].Variant == m.NullTest
	}
	return cells
}

// Cells groups steps by point and variant: points in the order given, and
// within each the variants; what the orders do not name comes last, as it
// appears.
func Cells(steps []*results.Result, variants, points []string) []Cell {
	variants, points = slices.Clone(variants), slices.Clone(points)
	for _, s := range steps {
		variants = appendNew(variants, s.Step.Variant)
		points = appendNew(points, s.Step.Point)
	}

	var cells []Cell
	for _, point := range points {
		for _, variant := range variants {
			c := Cell{Variant: variant, Point: point}
			for _, s := range steps {
				if s.Step.Point == point && s.Step.Variant == variant {
					c.Steps = append(c.Steps, s)
				}
			}
			if len(c.Steps) > 0 {
				c.Counted = counted(c.Steps)
				cells = append(cells, c)
			}
		}
	}

	return cells
}

func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func counted(steps []*results.Result) []*results.Result {
	for _, verdict := range []results.Verdict{results.OK, results.Suspect} {
		var found []*results.Result
		for _, s := range steps {
			if s.Verdict == verdict && s.Measured() {
				found = append(found, s)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
