package chart

import (
	"cmp"
	"fmt"
	"slices"
)

// LinesSpec is a chart of one or more figures over another.
type LinesSpec struct {
	Head
	X, Y    Axis
	Series  []LineSeries
	Targets []Target // limits of Y
	Height  float64  // of the plot in the units of the view box; 0: 260
}

// LineSeries is one line.
type LineSeries struct {
	Name   string
	Slot   int // 1 to 8: colour, dash and marker; 0: by position
	Points []LinePoint
}

// LinePoint is one point of a line. Y that is NaN breaks the line.
type LinePoint struct {
	X, Y      float64
	Low, High *float64 // interval; null: none
	Hollow    bool     // drawn hollow
	Ref
}

func (p LinePoint) xy() XY { return XY{p.X, p.Y} }

// markedPoints is up to how many points of a chart have markers, tooltips and
// links of their own.
const markedPoints = 240

// Lines draws lines with bands for their intervals. Points are joined in the
// order given. Lines of many points keep the extremes of each narrow column,
// so that no peak is lost.
func Lines(s LinesSpec) (SVG, error) {
	xs, ys := newSpan(s.X), newSpan(s.Y)
	points := 0
	for _, series := range s.Series {
		points += addSeries(series, xs, ys)
	}

	for _, t := range s.Targets {
		if points > 0 && s.Y.shows(t.Value) {
			ys.add(t.Value)
		}
	}

	s.X.Ticks = ownTicks(s.X, s.Series)
	x, y := newScale(s.X, xs, s.ticks(), tight), newScale(s.Y, ys, 5, loose)
	var entries []entry
	for i, series := range s.Series {
		entries = append(entries, seriesEntry(series.Name, series.Slot, i, true, points <= markedPoints))
	}

	f := s.plot(s.X, s.Y, x, y, s.legendOf(entries), edge+8, heightOr(s.Height, 260))
	if points == 0 {
		f.nothing("nothing was measured")
		return f.c.drawing(s.Head, "lines", []string{"Nothing was measured."})
	}

	f.drawTargets(s.Targets)
	f.drawLines(s.X, s.Y, s.Series, points <= markedPoints)
	words := linesWords(s.X, s.Y, s.Series, xs.left+ys.left)
	for _, t := range s.Targets {
		words = append(words, t.Label+".")
	}

	return f.c.drawing(s.Head, "lines", words)
}

// addSeries widens the ranges by a series and counts its points.
func addSeries(series LineSeries, xs, ys *span) int {
	n := 0
	for _, p := range series.Points {
		if !p.xy().drawable() {
			continue
		}
		if xs.log && p.X <= 0 || ys.log && p.Y <= 0 {
			ys.left++
			continue
		}
		n++
		xs.add(p.X)
		ys.add(p.Y)
		if lo, hi := known(p.Low), known(p.High); finite(lo) && finite(hi) {
			if !ys.log || lo > 0 {
				ys.add(lo)
			}
			ys.add(hi)
		}
	}

	return n
}

// ownTicks labels a logarithmic axis at the values themselves where they are
// few: the steps of a sweep are what the reader looks for.
func ownTicks(a Axis, all []LineSeries) []float64 {
	if !a.Log || a.Ticks != nil {
		return a.Ticks
	}

	var at []float64
	for _, series := range all {
		for _, p := range series.Points {
			if p.xy().drawable() && p.X > 0 && !slices.Contains(at, p.X) {
				at = append(at, p.X)
			}
			if len(at) > 12 {
				return nil
			}
		}
	}

	slices.SortStableFunc(at, cmp.Compare)
	return at
}

// drawLines draws bands first, then lines, then markers.
func (f *frame) drawLines(x, y Axis, all []LineSeries, marked bool) {
	for i, series := range all {
		f.drawBands(lookOf(series.Slot, i), series)
	}

	for i, series := range all {
		f.drawLine(lookOf(series.Slot, i), series, marked)
	}

	if !marked {
		return
	}

	for i, series := range all {
		for _, p := range series.Points {
			if f.shows(p.xy()) {
				f.drawMarked(x, y, lookOf(series.Slot, i), series.Name, p)
			}
		}
	}
}

// drawTargets draws a line across the plot for each limit, its label at the left
// end: figures are near their limits at high loads. A label without room above
// its line is below it; one without room there either is in the description
// only.
func (f *frame) drawTargets(all []Target) {
	taken := []length{f.area.Max.Y + 9} // the title of the axis
	room := func(y length) bool {
		return y > f.area.Min.Y && !slices.ContainsFunc(taken, func(other length) bool {
			return max(other, y)-min(other, y) < tickSize
		})
	}

	for _, t := range all {
		y := f.y.norm(t.Value)
		if !finite(y) || y < 0 || y > 1 {
			continue
		}
		at := f.area.Y(y)
		f.strokeAll(look{paint: "bad", dash: []length{6, 4}}.line(1.4),
			[][]point{{{X: f.area.Min.X, Y: at}, {X: f.area.Max.X, Y: at}}})
		for _, y := range []length{at + 4, at - tickSize - 1} {
			if room(y) {
				taken = append(taken, y)
				f.c.text(point{X: f.area.Min.X + 4, Y: y}, "start", "n",
					cut(t.Label, tickSize, f.area.Max.X-f.area.Min.X-4))
				break
			}
		}
	}
}

func (f *frame) drawLine(l look, series LineSeries, marked bool) {
	var lines [][]point
	for _, run := range f.runs(series.Points) {
		switch {
		case len(run) > 1:
			lines = append(lines, f.thinned(run))
		case !marked: // a dot; others have a marker
			lines = append(lines, []point{run[0], run[0]})
		}
	}
	width := length(2)
	if !marked {
		width = 1.6
	}
	f.strokeAll(l.line(width), lines)
}

// runs are the stretches of points without a gap, on the canvas.
func (f *frame) runs(points []LinePoint) [][]point {
	var out [][]point
	open := false
	for _, p := range points {
		if !p.xy().drawable() || !finite(f.x.norm(p.X)) || !finite(f.y.norm(p.Y)) {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		out[len(out)-1] = append(out[len(out)-1], f.at(p.xy()))
	}
	return out
}

// drawBands fills between the ends of the intervals; a point whose neighbours
// have none gets a bar.
func (f *frame) drawBands(l look, series LineSeries) {
	var low, high []point
	flush := func() {
		switch {
		case len(low) == 1:
			f.whisker(l, low[0], high[0])
		case len(low) > 1:
			slices.Reverse(high)
			f.c.fill(l.paint+" pale", polygon(append(low, high...)))
		}
		low, high = nil, nil
	}

	for _, p := range series.Points {
		lo, hi := known(p.Low), known(p.High)
		if !p.xy().drawable() || !finite(lo) || !finite(hi) || !finite(f.x.norm(p.X)) || !finite(f.y.norm(hi)) {
			flush()
			continue
		}
		if f.y.log && lo <= 0 {
			lo = f.y.min
		}
		low, high = append(low, f.at(XY{p.X, lo})), append(high, f.at(XY{p.X, hi}))
	}

	flush()
}

// whisker is an interval as a bar with ends.
func (f *frame) whisker(l look, low, high point) {
	lines := [][]point{
		{low, high},
		{{X: low.X - 4, Y: low.Y}, {X: low.X + 4, Y: low.Y}},
		{{X: high.X - 4, Y: high.Y}, {X: high.X + 4, Y: high.Y}},
	}
	l.dash = nil
	f.strokeAll(l.line(1.5), lines)
}

func (f *frame) drawMarked(x, y Axis, l look, name string, p LinePoint) {
	ref := p.Ref
	if ref.Title == "" {
		ref.Title = pointWords(x, y, name, p)
	}
	at := f.at(p.xy())
	f.c.mark(ref, func() {
		f.c.target(at, 9)
		f.c.marker(l, at, 3.6, p.Hollow)
	}, "data-x", raw(p.X), "data-y", raw(p.Y))
}

func pointWords(x, y Axis, name string, p LinePoint) string {
	words := x.says(p.X) + ", " + y.says(p.Y) + y.interval(p.Low, p.High)
	if p.Hollow {
		words += ", suspect or incomplete"
	}
	if name == "" {
		return words
	}
	return name + ": " + words
}

// describedSeries is how many series a description goes into.
const describedSeries = 8

// linesWords puts lines into words: how each begins, ends and how high and
// low it comes.
func linesWords(x, y Axis, all []LineSeries, left int) []string {
	var out []string
	for i, series := range all {
		if i == describedSeries {
			out = append(out, fmt.Sprintf("%d more lines.", len(all)-i))
			break
		}
		out = append(out, seriesWords(x, y, series))
	}
	if left > 0 {
		out = append(out, count(left, "value that is not positive is",
			"values that are not positive are")+" left out of the logarithmic axis.")
	}
	return out
}

func seriesWords(x, y Axis, series LineSeries) string {
	name := series.Name
	if name == "" {
		name = y.Label
	}

	var drawn []LinePoint
	gaps := 0
	for i, p := range series.Points {
		switch {
		case x.shows(p.X) && y.shows(p.Y):
			drawn = append(drawn, p)
		case i == 0 || series.Points[i-1].xy().drawable():
			gaps++
		}
	}

	if len(drawn) == 0 {
		return name + ": nothing was measured."
	}

	first, last, low, high := drawn[0], drawn[len(drawn)-1], drawn[0], drawn[0]
	for _, p := range drawn {
		if p.Y < low.Y {
			low = p
		}
		if p.Y > high.Y {
			high = p
		}
	}

	at := func(p LinePoint) string {
		return y.Unit.words(p.Y) + y.interval(p.Low, p.High) + " at " + x.Unit.words(p.X)
	}

	if len(drawn) == 1 {
		return name + ": " + at(first) + "."
	}

	words := fmt.Sprintf("%s: %s, from %s to %s", name, count(len(drawn), "point", "points"), at(first), at(last))
	if low.Y < min(first.Y, last.Y) {
		words += ", lowest " + at(low)
	}

	if high.Y > max(first.Y, last.Y) {
		words += ", highest " + at(high)
	}

	if gaps > 0 {
		words += ", with " + count(gaps, "gap", "gaps")
	}

	return words + "."
}
