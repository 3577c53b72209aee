package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// Pair is a candidate beside the baseline at one point of the load.
type Pair struct {
	Point               string
	Baseline, Candidate Cell
	Differences         []Difference // of the figures that at least one side knows, judged together
	Outliers            []string     // in words, one per server life that is far off; they count all the same
	Drifts              []string     // in words, one per figure that moved with the order of the lives
}

// PairOf sets every figure of two cells side by side. The steps of the
// cells are in the order in which they ran.
func PairOf(baseline, candidate Cell, figures []catalog.Figure, rule Rule) Pair {
	pair := Pair{Point: candidate.Point, Baseline: baseline, Candidate: candidate}
	for _, f := range figures {
		b, c := baseline.PerLife(f.Of), candidate.PerLife(f.Of)
		if b != nil || c != nil {
			pair.Differences = append(pair.Differences, DifferenceOf(f, baseline, candidate, rule))
		}
	}
	Judge(pair.Differences, rule)
	return pair
}

// DifferenceOf compares one figure of two cells, and allows for a drift where
// one of them ran after the other.
func DifferenceOf(f catalog.Figure, baseline, candidate Cell, rule Rule) Difference {
	b, c := Sample{baseline.Variant, baseline.PerLife(f.Of)}, Sample{candidate.Variant, candidate.PerLife(f.Of)}
	d := Compare(f.Name, f.Higher, b, c, rule)
	d.allowForDrift(b, c, baseline.livesBegan(), candidate.livesBegan(), rule)
	return d
}

// Remarks finds what readers must know of the sides' lives: outliers and
// drift. Drift is tested at a rate of false alarms of alpha for the first
// figure that there is, and of alpha in all for the others.
func (p *Pair) Remarks(figures []catalog.Figure, alpha float64) {
	for _, cell := range []Cell{p.Baseline, p.Candidate} {
		p.Outliers = append(p.Outliers, outlierLines(cell, figures)...)
		p.Drifts = append(p.Drifts, driftLines(cell, figures, alpha)...)
	}
}

// isNotable is the share of the median below which a value is not an outlier,
// however close together the others lie.
const isNotable = 0.01

// outlierLines name each life that is far from the others, with its figures.
func outlierLines(c Cell, figures []catalog.Figure) []string {
	lives := c.ByLife()
	of := make([][]string, len(lives))
	for _, f := range figures {
		values := c.PerLife(f.Of)
		middle := 0.0
		if len(values) > 0 {
			middle = percentileOf(values, 50)
		}
		for _, i := range outliers(values) {
			if math.Abs(values[i]-middle) < isNotable*math.Abs(middle) {
				continue
			}
			of[i] = append(of[i], f.Title+" "+strconv.FormatFloat(values[i]*f.Scale, 'f', 2, 64))
		}
	}

	var lines []string
	for i, found := range of {
		if found != nil {
			lines = append(lines, fmt.Sprintf("%s, %s: %s", c.Variant, RepeatsOf(lives[i]), strings.Join(found, ", ")))
		}
	}

	return lines
}

// RepeatsOf names the repeats of steps: "repeat 1", "repeats 1, 2", "repeats 1, 3 to 9".
func RepeatsOf(steps []*results.Result) string {
	var numbers []int
	for _, s := range steps {
		numbers = append(numbers, s.Step.Repeat)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 1 {
		return "repeat " + strconv.Itoa(numbers[0])
	}

	var words []string
	for first := 0; first < len(numbers); {
		last := first
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		word := strconv.Itoa(numbers[first])
		if last-first > 1 {
			word += " to " + strconv.Itoa(numbers[last])
		} else {
			last = first
		}
		words, first = append(words, word), last+1
	}
	return "repeats " + strings.Join(words, ", ")
}

func driftLines(c Cell, figures []catalog.Figure, alpha float64) []string {
	var lines []string
	figures = slices.DeleteFunc(slices.Clone(figures), func(f catalog.Figure) bool { return c.PerLife(f.Of) == nil })
	for i, f := range figures {
		limit := alpha
		if i > 0 {
			limit = alpha / float64(len(figures))
		}
		d := driftOf(Sample{c.Variant, c.PerLife(f.Of)}, limit)
		if !d.Drifted {
			continue
		}
		way := "falls"
		if *d.Tau > 0 {
			way = "rises"
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s with the order of its %d server starts (tau %+.2f, p %.3f)",
			c.Variant,
			f.Title, way, d.N, *d.Tau, *d.P))
	}

	return lines
}
