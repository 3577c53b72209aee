package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// sweep draws figures over the points of the load, or where there is one point
// side by side: all but the one that decides, which is above.
func (d *drawer) sweep() ([]*figure, error) {
	decides, _ := d.decides()
	steps := d.run.Results()
	figures := catalog.Drawn(steps)
	if slices.ContainsFunc(steps, (*results.Result).OfProgram) {
		figures = catalog.FiguresOf(steps)
	}

	var all []*figure
	for _, f := range figures {
		if f.Name == decides.Name {
			continue
		}
		drawn, err := d.overLoad(f, chart.Head{ID: "sweep-" + f.Name, Width: smallChart}, smallHeight)
		if err != nil {
			return nil, err
		}
		if drawn != "" {
			all = append(all, &figure{SVG: drawn, Width: smallChart, Caption: d.captionOf(f)})
		}
	}

	return all, nil
}

// decides is the figure that the verdict goes by: that of a search is the first
// of its targets that a step knows.
func (d *drawer) decides() (catalog.Figure, bool) {
	if d.run.Manifest.Search != nil {
		for _, target := range d.run.Manifest.Search.Targets {
			f, err := catalog.Find(catalog.NameOf(target.Figure))
			if err == nil && slices.ContainsFunc(d.cells, func(c compare.Cell) bool { return d.armOf(c, f).N > 0 }) {
				return f, true
			}
		}
	}

	return versus.StandingFigure(d.run)
}

// deciding draws the figure that the verdict goes by; null where no step has it.
func (d *drawer) deciding() (*figure, error) {
	figure, ok := d.decides()
	if !ok {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	f, err := drawBoth("sweep-"+figure.Name, size{answerChart, 266}, size{phoneChart, 236},
		func(h chart.Head, height float64) (chart.SVG, error) { return d.overLoad(figure, h, height) })
	if err != nil || f.SVG == "" {
		return nil, err
	}
	f.Caption = d.captionOf(figure) + d.intervalNote(figure)

	return f, nil
}

// overLoad draws a figure over the load, or where there is one load as bars; ""
// where no cell has it.
func (d *drawer) overLoad(f catalog.Figure, h chart.Head, height float64) (chart.SVG, error) {
	if x, numbers := d.load(); len(numbers) > 1 {
		return d.lines(f, x, numbers, h, height)
	}

	return d.bars(f, h)
}

// captionOf says which end is better, and what is not drawn.
func (d *drawer) captionOf(f catalog.Figure) string {
	caption := f.Title + ": " + better(f)
	if _, numbers := d.load(); len(numbers) <= 1 {
		shown, all := d.barCells(f)
		if len(shown) < all {
			caption += fmt.Sprintf(" The best %d of %d; the table has all.", len(shown), all)
		}
		if targets := d.targets(f); len(targets) > 0 {
			caption += " Dashed: " + targets[0].Label + "."
		}
	}

	var without []string
	for _, name := range d.order {
		measured, known := false, false
		for _, c := range d.cells {
			if c.Variant == name {
				measured = measured || len(c.Counted) > 0
				known = known || d.armOf(c, f).N > 0
			}
		}
		if measured && !known {
			without = append(without, text.Clean(name))
		}
	}
	if len(without) > 0 {
		caption += " Not known for " + text.Few(without) + "."
	}

	return caption
}

// intervalNote explains the intervals of a figure, where there is one.
func (d *drawer) intervalNote(f catalog.Figure) string {
	any, below := false, false
	for _, c := range d.cells {
		if low := d.armOf(c, f).Low; low != nil {
			any, below = true, below || *low < 0
		}
	}

	note := ""
	if any {
		note = " Bands and whiskers: 95 % t intervals of the mean over two or more server starts"
		if below {
			note += ", cut off at 0"
		}
		note += "."
	}

	return note
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
		{
			chart.Axis{Label: "requested rate", Unit: "requests/s"},
			func(a results.Asked) *float64 { return a.RequestRate },
		},
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

func (d *drawer) lines(f catalog.Figure, x chart.Axis, numbers map[string]float64, h chart.Head, height float64,
) (chart.SVG, error) {
	h.Title, h.Bare = f.Title+" over "+x.Label, true
	s := chart.LinesSpec{Head: h, X: x, Y: axisOf(f), Height: height, Targets: d.targets(f)}
	for _, name := range d.order {
		series := chart.LineSeries{Name: text.Clean(name), Slot: d.slot(name)}
		for _, c := range d.cells {
			sample := d.armOf(c, f)
			if c.Variant != name || sample.N == 0 {
				continue
			}
			p := chart.LinePoint{
				X: numbers[c.Point], Y: *sample.Mean, Low: fromZero(sample.Low), High: sample.High,
				Hollow: !c.Valid(),
			}
			p.Ref = d.ref(c, d.titleOf(c, f, sample))
			series.Points = append(series.Points, p)
		}
		slices.SortStableFunc(series.Points, func(a, b chart.LinePoint) int { return cmp.Compare(a.X, b.X) })
		if series.Points != nil {
			s.Series = append(s.Series, series)
		}
	}

	if s.Series == nil {
		return "", nil
	}

	return chart.Lines(s)
}

// targets are the limits for a figure: those that a search sets, and the goals
// of the goodput.
func (d *drawer) targets(f catalog.Figure) []chart.Target {
	all := d.goals(f)
	if d.run.Manifest.Search == nil {
		return all
	}

	for _, c := range d.run.Manifest.Search.Targets {
		if catalog.NameOf(c.Figure) != f.Name {
			continue
		}
		value := c.Value
		if catalog.InMilliseconds(c.Figure) {
			value /= 1000
		}
		all = slices.DeleteFunc(all, func(t chart.Target) bool { return t.Value == value }) // one line, one label
		all = append(all, chart.Target{Value: value, Label: fmt.Sprintf("target: %s %s %g", text.Clean(c.Figure),
			text.Clean(c.Op), c.Value)})
	}

	return all
}

// goals are the goals of the goodput for a latency, each once.
func (d *drawer) goals(f catalog.Figure) []chart.Target {
	var all []chart.Target
	if strings.Contains(f.Name, "@") { // a class may have goals of its own
		return nil
	}
	for _, s := range d.run.Steps {
		for name, seconds := range s.Result.Asked.GoodputGoalsS {
			if !strings.Contains(f.Name, "_"+name+"_") {
				continue
			}
			t := chart.Target{Value: seconds, Label: fmt.Sprintf("goodput goal: %s <= %g ms", name, 1000*seconds)}
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}

	return all
}

// fromZero cuts the lower end of an interval: no figure of the sweep can be
// negative, and the wide intervals of few lives would squeeze what can.
func fromZero(low *float64) *float64 {
	if low != nil && *low < 0 {
		return new(0.0)
	}
	return low
}

// mostBars is how many bars a chart has room for.
const mostBars = 16

// barCells are the cells that are drawn as bars, and how many have the figure:
// of more than there is room for, the best of each load point.
func (d *drawer) barCells(f catalog.Figure) (shown []compare.Cell, all int) {
	byPoint := map[string][]compare.Cell{}
	var points []string
	for _, c := range d.cells {
		if d.armOf(c, f).N > 0 {
			all++
			points = text.AppendNew(points, c.Point)
			byPoint[c.Point] = append(byPoint[c.Point], c)
		}
	}

	for _, point := range points {
		cells := byPoint[point]
		if all > mostBars {
			slices.SortStableFunc(cells, func(a, b compare.Cell) int {
				return f.Compare(*d.armOf(a, f).Mean, *d.armOf(b, f).Mean)
			})
			cells = cells[:min(len(cells), max(1, mostBars/len(points)))]
		}
		shown = append(shown, cells...)
	}

	return shown, all
}

func (d *drawer) bars(f catalog.Figure, h chart.Head) (chart.SVG, error) {
	h.Title = f.Title
	s := chart.BarsSpec{Head: h, Value: axisOf(f)}
	s.Value.Zero = true
	if targets := d.targets(f); len(targets) > 0 { // bars have room for one
		s.Reference = &targets[0].Value
	}
	cells, _ := d.barCells(f)
	for _, c := range cells {
		sample := d.armOf(c, f)
		label := d.looks.names[c.Variant]
		if c.Point != d.cells[0].Point || c.Point != d.cells[len(d.cells)-1].Point {
			label += " at " + text.Clean(c.Point)
		}
		s.Bars = append(s.Bars, chart.Bar{
			Label: label, Slot: d.slot(c.Variant), Value: *sample.Mean, Low: fromZero(sample.Low), High: sample.High,
			Hollow: !c.Valid(), Ref: d.ref(c, d.titleOf(c, f, sample)),
		})
	}

	if s.Bars == nil {
		return "", nil
	}

	return chart.Bars(s)
}

// armOf describes a cell's figure in the unit of its axis.
func (d *drawer) armOf(c compare.Cell, f catalog.Figure) compare.Summary {
	values := slices.Clone(c.PerLife(f.Of))
	if f.Unit != "ms" && f.Unit != "GiB" {
		for i := range values {
			values[i] *= f.Scale
		}
	}
	const confidence = 0.95
	return compare.Sample{Name: c.Variant, Values: values}.Summarize(confidence)
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

func (d *drawer) titleOf(c compare.Cell, f catalog.Figure, sample compare.Summary) string {
	scale := 1.0
	if f.Unit == "ms" || f.Unit == "GiB" {
		scale = f.Scale
	}
	title := fmt.Sprintf("%s at %s: %s %s", text.Clean(c.Variant), text.Clean(c.Point), f.Title,
		short(*sample.Mean*scale))
	if sample.Low != nil {
		title += fmt.Sprintf(" (%s to %s)", short(*sample.Low*scale), short(*sample.High*scale))
	}
	return title + ", " + text.Count(sample.N, "server start")
}
