package chart

import (
	"strings"
)

// ScatterSpec is a chart of points with two figures each.
type ScatterSpec struct {
	Head
	X, Y   Axis
	Series []PointSeries
	Front  []XY    // the best attainable, from left to right; what it beats is bordered; empty: none
	Better string  // which corner is better, in words: "up and right"; "": not said
	Height float64 // in the units of the view box; 0: 440
}

// PointSeries are points that belong together: one colour, one marker.
type PointSeries struct {
	Name   string
	Slot   int // 1 to 8: colour, dash and marker; 0: by position
	Points []Point
}

// Point is one point.
type Point struct {
	X, Y   float64
	Label  string // drawn beside the point where there is room
	Hollow bool   // drawn hollow
	Ref
}

func (p Point) xy() XY { return XY{p.X, p.Y} }

// namedPoints is up to how many points all have their names written.
const namedPoints = 48

// Scatter draws points, with the Pareto front where there is one. Points with
// a figure that cannot be drawn are left out, and the description counts them.
func Scatter(s ScatterSpec) (SVG, error) {
	xs, ys := newSpan(s.X), newSpan(s.Y)
	for _, series := range s.Series {
		for _, p := range series.Points {
			if s.drawable(p.xy()) {
				xs.add(p.X)
				ys.add(p.Y)
			}
		}
	}

	x, y := newScale(s.X, xs, s.ticks()-1, loose), newScale(s.Y, ys, 6, loose)
	var entries []entry
	for i, series := range s.Series {
		entries = append(entries, seriesEntry(series.Name, series.Slot, i, false, true))
	}
	if len(s.Front) > 1 {
		entries = append(entries, frontEntry())
	}

	legend := s.legendOf(entries)
	area := heightOr(s.Height, 440) - legend.height() - tickRoom - 2*rowSize - 10
	f := s.plot(s.X, s.Y, x, y, legend, edge+16, area)
	if s.Better != "" {
		f.c.text(point{X: f.area.Max.X, Y: f.area.Max.Y + 9}, "end", "a", "better: "+s.Better)
	}

	if xs.empty() {
		f.nothing("no point has both figures")
		return f.c.drawing(s.Head, "scatter", []string{"No point has both figures."})
	}

	s.drawFront(f)
	s.drawPoints(f)

	return f.c.drawing(s.Head, "scatter", s.says())
}

// drawable reports whether the axes can show a point.
func (s ScatterSpec) drawable(p XY) bool { return s.X.shows(p.X) && s.Y.shows(p.Y) }

func frontEntry() entry {
	return entry{name: "Pareto front", look: look{paint: "axis", dash: []length{4, 3}}, line: true}
}

// drawFront draws the edge of what the points of the front are better than, in
// steps. Straight lines between them would run through points that are not on
// the front, and promise what was not measured.
func (s ScatterSpec) drawFront(f *frame) {
	var line []point
	for _, p := range s.Front {
		if !s.drawable(p) {
			continue
		}
		at := f.at(p)
		if len(line) > 0 {
			line = append(line, point{X: line[len(line)-1].X, Y: at.Y})
		}
		line = append(line, at)
	}
	if len(line) > 1 {
		f.strokeAll(look{paint: "axis", dash: []length{4, 3}}.line(1.5), [][]point{line})
	}
}

func (s ScatterSpec) drawPoints(f *frame) {
	place, fronts := labels{f: f}, s.fronts()
	for i, series := range s.Series {
		for _, p := range series.Points {
			if f.shows(p.xy()) {
				place.block(f.at(p.xy()), 5)
				s.drawPoint(f, series.Name, lookOf(series.Slot, i), p)
			}
		}
	}

	// Names of points on the front come first: they are what is looked for.
	// Of many points only these have one: the others would be a thicket.
	for _, onFront := range []bool{true, false} {
		if !onFront && len(place.taken) > namedPoints {
			break
		}
		for _, series := range s.Series {
			for _, p := range series.Points {
				if f.shows(p.xy()) && fronts[p.xy()] == onFront {
					place.write(f.at(p.xy()), p.Label)
				}
			}
		}
	}
}

// fronts are the points of the front, to be looked up.
func (s ScatterSpec) fronts() map[XY]bool {
	out := make(map[XY]bool, len(s.Front))
	for _, p := range s.Front {
		out[p] = true
	}
	return out
}

func (s ScatterSpec) drawPoint(f *frame, name string, l look, p Point) {
	ref := p.Ref
	if ref.Title == "" {
		ref.Title = s.pointWords(name, p)
	}
	at := f.at(p.xy())
	f.c.mark(ref, func() {
		f.c.target(at, 11)
		f.c.marker(l, at, 5, p.Hollow)
	}, "data-x", raw(p.X), "data-y", raw(p.Y))
}

func (s ScatterSpec) pointWords(name string, p Point) string {
	if name == p.Label {
		name = ""
	}
	parts := []string{s.X.says(p.X), s.Y.says(p.Y)}
	if words := strings.TrimSpace(name + " " + p.Label); words != "" {
		parts = append([]string{words}, parts...)
	}
	if p.Hollow {
		parts = append(parts, "suspect or incomplete")
	}
	return strings.Join(parts, ", ")
}

// says puts the chart into words.
func (s ScatterSpec) says() []string {
	var out []string
	points, left := 0, 0
	var right, top *Point
	for _, series := range s.Series {
		for i := range series.Points {
			p := &series.Points[i]
			if !s.drawable(p.xy()) {
				left++
				continue
			}
			points++
			if right == nil || p.X > right.X {
				right = p
			}
			if top == nil || p.Y > top.Y {
				top = p
			}
		}
	}

	out = append(out, count(points, "point", "points")+".")
	if left > 0 {
		out = append(out, count(left, "point without both figures is", "points without both figures are")+" left out.")
	}

	out = append(out, "Most "+s.X.Label+": "+s.pointWords("", *right)+".",
		"Most "+s.Y.Label+": "+s.pointWords("", *top)+".")

	return append(out, s.frontWords()...)
}

// frontWords names the points of the front, the first dozen.
func (s ScatterSpec) frontWords() []string {
	if len(s.Front) == 0 {
		return nil
	}
	var names []string
	fronts := s.fronts()
	for _, series := range s.Series {
		for _, p := range series.Points {
			if fronts[p.xy()] {
				names = append(names, s.pointWords(series.Name, p))
			}
		}
	}
	return []string{"On the Pareto front: " + list(names, 12) + "."}
}
