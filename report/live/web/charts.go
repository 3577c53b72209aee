package web

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/report/live"
)

// resultRow is a row of the table of results so far.
type resultRow struct {
	Variant, Point, N      string
	TokensPerS, TTFT, TPOT string
	Suspect                bool
}

func resultRows(results []live.Result) []resultRow {
	var rows []resultRow
	for _, r := range results {
		n := strconv.Itoa(r.N)
		if r.N < r.Of {
			n += " of " + strconv.Itoa(r.Of)
		}
		rows = append(rows, resultRow{
			Variant: r.Variant, Point: r.Point, N: n, Suspect: r.Suspect, TokensPerS: text.Number(r.TokensPerS, 1, 1),
			TTFT: text.Number(r.TTFTS, 1e-3, 1), TPOT: text.Number(r.TPOTS, 1e-3, 2),
		})
	}

	return rows
}

// drawnChart is a chart for wide screens and the same for phones.
type drawnChart struct{ Wide, Narrow chart.SVG }

// Widths of charts, in pixels.
const (
	wideChart  = 560
	phoneChart = 330
)

// chartsOf draws the results so far: throughput against speed per user, and
// throughput over the load. A chart that cannot be drawn is left out.
func chartsOf(v live.View) []drawnChart {
	const width, height = wideChart, 240
	results := v.Results()
	if len(results) == 0 {
		return nil
	}

	scatter := chart.ScatterSpec{
		Head:   chart.Head{ID: "tradeoff", Title: "Throughput against speed per user", Width: width},
		X:      chart.Axis{Label: "output per user", Unit: "tok/s"},
		Y:      chart.Axis{Label: "output", Unit: "tok/s", Zero: true},
		Better: "up and right", Height: height + 60,
	}
	lines := chart.LinesSpec{
		Head: chart.Head{ID: "load", Title: "Output tokens per second over the load", Width: width},
		X:    chart.Axis{Label: "load point", Log: true}, Y: chart.Axis{Label: "output", Unit: "tok/s", Zero: true},
		Height: height,
	}
	loads := loadsOf(v.Columns)
	lines.X.Log = loads != nil
	for slot, row := range v.Rows {
		points := chart.PointSeries{Name: row.Variant, Slot: min(slot+1, chart.Rest)}
		line := chart.LineSeries{Name: row.Variant, Slot: min(slot+1, chart.Rest)}
		for _, r := range results {
			if r.Variant != row.Variant {
				continue
			}
			title := fmt.Sprintf("%s at %s: %s output tok/s, %d of %d repeats", r.Variant, r.Point,
				text.Number(r.TokensPerS, 1, 1), r.N, r.Of)
			ref := chart.Ref{Title: title, Variant: r.Variant}
			column := slices.Index(v.Columns, r.Point)
			x := float64(column + 1)
			if loads != nil {
				x = loads[column]
			}
			line.Points = append(line.Points, chart.LinePoint{X: x, Y: *r.TokensPerS, Hollow: r.Suspect, Ref: ref})
			if r.TPOTS != nil && *r.TPOTS > 0 {
				points.Points = append(points.Points, chart.Point{
					X: 1 / *r.TPOTS, Y: *r.TokensPerS, Label: r.Point, Hollow: r.Suspect, Ref: ref,
				})
			}
		}
		scatter.Series, lines.Series = append(scatter.Series, points), append(lines.Series, line)
	}

	return slices.DeleteFunc([]drawnChart{
		twice(&scatter.Head, func() (chart.SVG, error) { return chart.Scatter(scatter) }),
		twice(&lines.Head, func() (chart.SVG, error) { return chart.Lines(lines) }),
	}, func(d drawnChart) bool { return d.Wide == "" || d.Narrow == "" })
}

// twice draws a chart at both widths; what cannot be drawn is empty.
func twice(head *chart.Head, draw func() (chart.SVG, error)) drawnChart {
	wide, err := draw()
	if err != nil {
		return drawnChart{}
	}
	head.ID, head.Width = head.ID+"-narrow", phoneChart
	narrow, err := draw()
	if err != nil {
		return drawnChart{}
	}
	return drawnChart{wide, narrow}
}

var loadNumber = regexp.MustCompile(`^[a-z-]*([0-9]+(?:\.[0-9]+)?)$`)

// loadsOf are the numbers in the names of load points ("c16"); null where one
// has none, or they do not rise.
func loadsOf(points []string) []float64 {
	var loads []float64
	for _, p := range points {
		found := loadNumber.FindStringSubmatch(p)
		if found == nil {
			return nil
		}
		load, err := strconv.ParseFloat(found[1], 64)
		if err != nil || load <= 0 || len(loads) > 0 && load <= loads[len(loads)-1] {
			return nil
		}
		loads = append(loads, load)
	}

	return loads
}
