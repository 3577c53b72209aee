package live

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/benchrig/bench/internal/text"
)

// Result is what the repeats of a variant at one load point come to so far:
// means over those that are ok, or where there is none over the suspect ones.
type Result struct {
	Variant, Point string
	N, Of          int // repeats behind the means, and planned ones
	Suspect        bool
	TokensPerS     *float64 // output tokens/s
	TTFTS, TPOTS   *float64 // means of the medians
}

// Results are those of the cells of the matrix that have figures, in its order.
func (v View) Results() []Result {
	var all []Result
	for _, row := range v.Rows {
		for i, cell := range row.Cells {
			if r := resultOf(cell); r.N > 0 {
				r.Variant, r.Point = row.Variant, v.Columns[i]
				all = append(all, r)
			}
		}
	}

	return all
}

func resultOf(cell []Step) Result {
	r := Result{Of: len(cell)}
	counted := withFigures(cell, Done)
	if counted == nil {
		counted = withFigures(cell, Suspect)
		r.Suspect = counted != nil
	}

	r.N = len(counted)
	r.TokensPerS = mean(counted, func(s Step) *float64 { return s.TokensPerS })
	r.TTFTS = mean(counted, func(s Step) *float64 { return s.TTFTS })
	r.TPOTS = mean(counted, func(s Step) *float64 { return s.TPOTS })

	return r
}

func withFigures(cell []Step, state StepState) []Step {
	var found []Step
	for _, s := range cell {
		if s.State == state && s.TokensPerS != nil {
			found = append(found, s)
		}
	}

	return found
}

// mean is null where one step does not have the figure.
func mean(steps []Step, figure func(Step) *float64) *float64 {
	sum := 0.0
	for _, s := range steps {
		v := figure(s)
		if v == nil {
			return nil
		}
		sum += *v
	}
	if len(steps) == 0 {
		return nil
	}

	return new(sum / float64(len(steps)))
}

// resultsTable lists the results so far, each with a bar of its throughput, in
// lines of at most width cells.
func resultsTable(v View, width int, unicode bool) []string {
	results := v.Results()
	if len(results) == 0 {
		return nil
	}

	rows := [][]string{{"variant", "point", "n", "output tok/s", "TTFT ms", "TPOT ms"}}
	most := 0.0
	for _, r := range results {
		n := strconv.Itoa(r.N)
		if r.N < r.Of {
			n += " of " + strconv.Itoa(r.Of)
		}
		if r.Suspect {
			n += " suspect"
		}
		rows = append(rows, []string{
			r.Variant, r.Point, n, text.Number(r.TokensPerS, 1, 1), text.Number(r.TTFTS, 1e-3, 1),
			text.Number(r.TPOTS, 1e-3, 2),
		})
		most = max(most, *r.TokensPerS)
	}

	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}

	full := "#"
	if unicode {
		full = "█"
	}
	lines := make([]string, 0, len(rows))
	for i, row := range rows {
		var line strings.Builder
		for k, cell := range row {
			space := strings.Repeat(" ", widths[k]-lipgloss.Width(cell))
			if k < 3 {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		if room := width - lipgloss.Width(line.String()); i > 0 && room > 4 && most > 0 {
			line.WriteString(strings.Repeat(full, max(1, int(float64(room)**results[i-1].TokensPerS/most))))
		}
		lines = append(lines, cut(strings.TrimRight(line.String(), " "), width))
	}

	return lines
}
