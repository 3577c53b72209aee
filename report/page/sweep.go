package page

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// sweepFigures are those drawn over the points of the load, in this order.
func sweepFigures() []string {
	return []string{"output_throughput", "median_ttft_s", "p99_ttft_s", "median_tpot_s", "p99_itl_s", "median_e2el_s",
		"j_per_output_token"}
}

// sweep draws figures over the points of the load, or where there is one point
// side by side.
func (d *drawer) sweep() ([]*figure, error) {
	var steps []*results.Result
	for _, s := range d.run.Steps {
		steps = append(steps, s.Result)
	}

	figures := catalog.FiguresOf(steps)
	if !slices.ContainsFunc(steps, func(r *results.Result) bool { return len(r.LlamaBench) > 0 }) {
		figures = slices.DeleteFunc(figures,
			func(f catalog.Figure) bool { return !slices.Contains(sweepFigures(), f.Name) })
		slices.SortStableFunc(figures, func(a, b catalog.Figure) int {
			return slices.Index(sweepFigures(), a.Name) - slices.Index(sweepFigures(), b.Name)
		})
	}

	x, numbers := d.load()
	var all []*figure
	for _, f := range figures {
		draw := d.bars
		if len(numbers) > 1 {
			draw = func(f catalog.Figure) (*figure, error) { return d.lines(f, x, numbers) }
		}
		drawn, err := draw(f)
		if err != nil {
			return nil, err
		}
		if drawn != nil {
			all = append(all, drawn)
		}
	}

	return all, nil
}

// load says along which number the points of the run lie; empty where there is
// none, or two points share one.
func (d *drawer) load() (chart.Axis, map[string]float64) {
	for _, way := range []struct {
		axis chart.Axis
		of   func(results.Asked) *float64
	}{
		{chart.Axis{Label: "max concurrency", Log: true}, func(a results.Asked) *float64 {
			if a.MaxConcurrency == nil {
				return nil
			}
			return new(float64(*a.MaxConcurrency))
		}},
		{chart.Axis{Label: "requested rate", Unit: "requests/s"},
			func(a results.Asked) *float64 { return a.RequestRate }},
		{chart.Axis{Label: "prompt length", Unit: "tokens", Log: true}, func(a results.Asked) *float64 {
			if a.InputLen == nil {
				return nil
			}
			return new(float64(*a.InputLen))
		}},
	} {
		if numbers := d.numbersOf(way.of); numbers != nil {
			return way.axis, numbers
		}
	}

	return chart.Axis{}, nil
}

func (d *drawer) numbersOf(of func(results.Asked) *float64) map[string]float64 {
	numbers, points := map[string]float64{}, map[float64]string{}
	for _, c := range d.cells {
		for _, r := range c.Counted {
			v := of(r.Asked)
			if v == nil {
				return nil
			}
			if before, known := numbers[c.Point]; known && before != *v {
				return nil
			}
			if point, known := points[*v]; known && point != c.Point {
				return nil
			}
			numbers[c.Point], points[*v] = *v, c.Point
		}
	}

	if len(numbers) < 2 {
		return nil
	}

	return numbers
}

const intervalNote = "Bands and whiskers: 95 % t intervals of the mean over two or more server starts, cut off at 0."

func (d *drawer) lines(f catalog.Figure, x chart.Axis, numbers map[string]float64) (*figure, error) {
	s := chart.LinesSpec{
		Head: chart.Head{ID: "sweep-" + f.Name, Title: f.Title + " over " + x.Label, Width: 480}, X: x, Y: axisOf(f),
	}
	for _, name := range d.order {
		series := chart.LineSeries{Name: text.Clean(name), Slot: d.slot(name)}
		for _, c := range d.cells {
			arm := d.armOf(c, f)
			if c.Variant != name || arm.N == 0 {
				continue
			}
			p := chart.LinePoint{X: numbers[c.Point], Y: *arm.Mean, Low: fromZero(arm.Low), High: arm.High}
			p.Ref = d.ref(c, d.titleOf(c, f, arm))
			series.Points = append(series.Points, p)
		}
		slices.SortStableFunc(series.Points, func(a, b chart.LinePoint) int {
			switch {
			case a.X < b.X:
				return -1
			case a.X > b.X:
				return 1
			}
			return 0
		})
		if series.Points != nil {
			s.Series = append(s.Series, series)
		}
	}

	if s.Series == nil {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is no error
	}

	svg, err := chart.Lines(s)
	return &figure{SVG: svg, Caption: f.Title + " over " + x.Label + "; " + better(f) + " " + intervalNote}, err
}

// fromZero cuts the lower end of an interval: no figure of the sweep can be
// negative, and the wide intervals of few lives would squeeze what can.
func fromZero(low *float64) *float64 {
	if low != nil && *low < 0 {
		return new(0.0)
	}
	return low
}

func (d *drawer) bars(f catalog.Figure) (*figure, error) {
	s := chart.BarsSpec{Head: chart.Head{ID: "sweep-" + f.Name, Title: f.Title, Width: 480}, Value: axisOf(f)}
	s.Value.Zero = true
	for _, c := range d.cells {
		arm := d.armOf(c, f)
		if arm.N == 0 {
			continue
		}
		label := text.Clean(c.Variant)
		if c.Point != d.cells[0].Point || c.Point != d.cells[len(d.cells)-1].Point {
			label += " at " + text.Clean(c.Point)
		}
		s.Bars = append(s.Bars, chart.Bar{
			Label: label, Slot: d.slot(c.Variant), Value: *arm.Mean, Low: fromZero(arm.Low), High: arm.High,
			Doubt: c.Counted[0].Verdict != results.OK, Ref: d.ref(c, d.titleOf(c, f, arm)),
		})
	}

	if s.Bars == nil {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is no error
	}

	svg, err := chart.Bars(s)

	return &figure{SVG: svg, Caption: f.Title + "; " + better(f) + " " + intervalNote}, err
}

// armOf describes a cell's figure in the unit of its axis.
func (d *drawer) armOf(c compare.Cell, f catalog.Figure) compare.ArmSummary {
	values := slices.Clone(c.PerLife(f.Of))
	if f.Unit != "ms" && f.Unit != "GiB" {
		for i := range values {
			values[i] *= f.Scale
		}
	}
	const confidence = 0.95
	return compare.Arm{Name: c.Variant, Values: values}.Summarize(confidence)
}

// axisOf is the axis of a figure: base units where the chart scales them.
func axisOf(f catalog.Figure) chart.Axis {
	unit := chart.Unit(f.Unit)
	switch f.Unit {
	case "ms":
		unit = chart.Seconds
	case "GiB":
		unit = chart.Bytes
	}
	return chart.Axis{Label: labelOf(f), Unit: unit, Zero: true}
}

// labelOf is a figure's title without its unit.
func labelOf(f catalog.Figure) string {
	for _, unit := range []string{" " + f.Unit, " t/s"} {
		if n := len(f.Title) - len(unit); n > 0 && f.Title[n:] == unit {
			return f.Title[:n]
		}
	}
	return f.Title
}

func better(f catalog.Figure) string {
	if f.Higher {
		return "higher is better."
	}
	return "lower is better."
}

func (d *drawer) titleOf(c compare.Cell, f catalog.Figure, arm compare.ArmSummary) string {
	scale := 1.0
	if f.Unit == "ms" || f.Unit == "GiB" {
		scale = f.Scale
	}
	txt := fmt.Sprintf("%s at %s: %s %s", text.Clean(c.Variant), text.Clean(c.Point), f.Title, short(*arm.Mean*scale))
	if arm.Low != nil {
		txt += fmt.Sprintf(" (%s to %s)", short(*arm.Low*scale), short(*arm.High*scale))
	}
	return txt + ", " + text.Count(arm.N, "server start")
}
