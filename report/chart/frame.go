package chart

import "math"

// frame is the plotting area of a chart with its two scales.
type frame struct {
	area rectangle
	c    *canvas
	x, y scale
}

// at is the place of a value on the canvas.
func (f *frame) at(p XY) point {
	return point{X: f.area.X(f.x.norm(p.X)), Y: f.area.Y(f.y.norm(p.Y))}
}

// shows reports whether a point lies inside the plotting area.
func (f *frame) shows(p XY) bool { return p.drawable() && f.x.holds(p.X) && f.y.holds(p.Y) }

// Widths around the plotting area.
const (
	edge     length = 14 // free at the right
	tickGap  length = 6  // between tick labels and the area
	rowSize  length = 18 // a row of text
	tickRoom length = 18 // beneath the area, for the ticks of x
)

// newFrame puts a plotting area onto the canvas, below top and above bottom,
// with room at the left for the labels of y.
func newFrame(c *canvas, x, y scale, left, right, bottom, top length) *frame {
	area := rectangle{Min: point{X: left, Y: bottom}, Max: point{X: c.w - right, Y: c.h - top}}
	return &frame{area: area, c: c, x: x, y: y}
}

// plot is a chart with axes and a grid, and a legend above its plotting area, which has
// a height and some room at its right.
func (h Head) plot(xAxis, yAxis Axis, x, y scale, l legend, right, height length) *frame {
	top, bottom := l.height()+rowSize+8, tickRoom+rowSize+2
	c := newCanvas(h.width(), height+top+bottom)
	f := newFrame(c, x, y, leftRoom(y), right, bottom, top)
	f.grid()
	f.bottomAxis(x.title(xAxis))
	f.leftTitle(y.title(yAxis))
	l.draw(c, f.area.Min.X, c.h-2)
	return f
}

// leftRoom is what the labels of a vertical axis need.
func leftRoom(ys ...scale) length {
	widest := length(0)
	for _, y := range ys {
		for _, t := range y.ticks {
			widest = max(widest, textWidth(t.label, tickSize))
		}
	}
	return min(max(widest+tickGap+4, 30), 120)
}

// grid draws the horizontal lines and the labels of y.
func (f *frame) grid() {
	style := stroke{paint: "grid", width: 1}
	var lines [][]point
	for _, t := range f.y.ticks {
		y := f.area.Y(f.y.norm(t.at))
		lines = append(lines, []point{{X: f.area.Min.X, Y: y}, {X: f.area.Max.X, Y: y}})
	}
	f.strokeAll(style, lines)
	for i, t := range f.y.ticks {
		if i > 0 && f.area.Y(f.y.norm(t.at))-f.area.Y(f.y.norm(f.y.ticks[i-1].at)) < tickSize {
			continue
		}
		f.c.text(point{X: f.area.Min.X - tickGap, Y: f.area.Y(f.y.norm(t.at)) - 4}, "end", "t", t.label)
	}
}

// verticals draws faint lines at the ticks of x, from a height to the top of the area.
func (f *frame) verticals(from length) {
	at := make([]float64, len(f.x.ticks))
	for i, t := range f.x.ticks {
		at[i] = t.at
	}
	f.upright(stroke{paint: "grid", width: 1}, from, at...)
}

// upright draws lines at values of x, from a height to the top of the area.
func (f *frame) upright(style stroke, from length, values ...float64) {
	var lines [][]point
	for _, v := range values {
		x := f.area.X(f.x.norm(v))
		lines = append(lines, []point{{X: x, Y: from}, {X: x, Y: f.area.Max.Y}})
	}
	f.strokeAll(style, lines)
}

// strokeAll draws many lines as one path: fewer bytes.
func (f *frame) strokeAll(style stroke, lines [][]point) {
	var p path
	for _, line := range lines {
		p.lines(line)
	}
	if len(p) > 0 {
		f.c.stroke(style, p)
	}
}

// bottomAxis draws the line, ticks and labels of x, and its title at the
// right end beneath.
func (f *frame) bottomAxis(title string) {
	y := f.area.Min.Y
	lines := [][]point{{{X: f.area.Min.X, Y: y}, {X: f.area.Max.X, Y: y}}}
	taken := length(math.Inf(-1))
	for _, t := range f.x.ticks {
		x := f.area.X(f.x.norm(t.at))
		lines = append(lines, []point{{X: x, Y: y}, {X: x, Y: y - 4}})
		half := textWidth(t.label, tickSize) / 2
		at := min(max(x, half+2), f.c.w-half-2)
		if at-half < taken+6 {
			continue
		}
		taken = at + half
		f.c.text(point{X: at, Y: y - 15}, "middle", "t", t.label)
	}

	f.strokeAll(stroke{paint: "axis", width: 1}, lines)
	f.c.text(point{X: f.area.Max.X, Y: y - 15 - rowSize + 2}, "end", "a", cut(title, textSize, f.area.Max.X-10))
}

// leftTitle writes what y is above its axis: upright, so that it can be read.
func (f *frame) leftTitle(title string) {
	f.c.text(point{X: 4, Y: f.area.Max.Y + 9}, "start", "a", cut(title, textSize, f.c.w-8))
}

// nothing writes why a chart is empty, in its middle.
func (f *frame) nothing(why string) {
	f.c.text(point{X: f.area.X(0.5), Y: f.area.Y(0.5)}, "middle", "a", why)
}

// thinned keeps, of a line with many more points than the area has columns,
// the first, lowest, highest and last of each column: what is drawn looks the
// same, and no peak is lost. Points must not go back in x for that; a line
// that does stays whole.
func (f *frame) thinned(line []point) []point {
	columns := int(f.area.Max.X - f.area.Min.X)
	if len(line) <= 2*columns {
		return line
	}

	var out []point
	from := 0
	for i := 1; i <= len(line); i++ {
		if i < len(line) && line[i].X < line[i-1].X {
			return line
		}
		if i < len(line) && int(line[i].X) == int(line[from].X) {
			continue
		}
		out = append(out, extremes(line[from:i])...)
		from = i
	}

	return out
}

// extremes are the first, lowest, highest and last point of a column, in the
// order in which they come.
func extremes(column []point) []point {
	low, high := 0, 0
	for i, p := range column {
		if p.Y < column[low].Y {
			low = i
		}
		if p.Y > column[high].Y {
			high = i
		}
	}

	var out []point
	last := -1
	for _, i := range []int{0, min(low, high), max(low, high), len(column) - 1} {
		if i > last {
			out = append(out, column[i])
			last = i
		}
	}

	return out
}
