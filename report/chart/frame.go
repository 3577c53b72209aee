package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is the plotting area of a chart with its two scales.
type frame struct {
	area draw.Canvas
	c    *canvas
	x, y scale
}

// at is the place of a value on the canvas.
func (f *frame) at(p XY) vg.Point {
	return vg.Point{X: f.area.X(f.x.norm(p.X)), Y: f.area.Y(f.y.norm(p.Y))}
}

// shows reports whether a point lies inside the plotting area.
func (f *frame) shows(p XY) bool { return p.drawable() && f.x.holds(p.X) && f.y.holds(p.Y) }

// Widths around the plotting area.
const (
	edge     vg.Length = 14 // free at the right
	tickGap  vg.Length = 6  // between tick labels and the area
	rowSize  vg.Length = 18 // a row of text
	tickRoom vg.Length = 18 // beneath the area, for the ticks of x
)

// newFrame puts a plotting area onto the canvas, below top and above bottom,
// with room at the left for the labels of y.
func newFrame(c *canvas, x, y scale, left, right, bottom, top vg.Length) *frame {
	whole := draw.NewCanvas(c, c.w, c.h)
	return &frame{area: draw.Crop(whole, left, -right, bottom, -top), c: c, x: x, y: y}
}

// leftRoom is what the labels of a vertical axis need.
func leftRoom(ys ...scale) vg.Length {
	widest := vg.Length(0)
	for _, y := range ys {
		for _, t := range y.ticks {
			widest = max(widest, textWidth(t.label, tickSize))
		}
	}
	return min(max(widest+tickGap+4, 30), 120)
}

// grid draws the horizontal lines and the labels of y.
func (f *frame) grid() {
	style := draw.LineStyle{Color: paint("grid"), Width: 1}
	var lines [][]vg.Point
	for _, t := range f.y.ticks {
		y := f.area.Y(f.y.norm(t.at))
		lines = append(lines, []vg.Point{{X: f.area.Min.X, Y: y}, {X: f.area.Max.X, Y: y}})
	}
	f.strokeAll(style, lines)
	for i, t := range f.y.ticks {
		if i > 0 && f.area.Y(f.y.norm(t.at))-f.area.Y(f.y.norm(f.y.ticks[i-1].at)) < tickSize {
			continue
		}
		f.c.text(vg.Point{X: f.area.Min.X - tickGap, Y: f.area.Y(f.y.norm(t.at)) - 4}, "end", "t", t.label)
	}
}

// strokeAll draws many lines as one path: fewer bytes.
func (f *frame) strokeAll(style draw.LineStyle, lines [][]vg.Point) {
	var p vg.Path
	for _, line := range lines {
		for i, pt := range line {
			if i == 0 {
				p.Move(pt)
				continue
			}
			p.Line(pt)
		}
	}
	if len(p) > 0 {
		f.area.SetLineStyle(style)
		f.c.Stroke(p)
	}
}

// bottomAxis draws the line, ticks and labels of x, and its title at the
// right end beneath.
func (f *frame) bottomAxis(title string) {
	y := f.area.Min.Y
	lines := [][]vg.Point{{{X: f.area.Min.X, Y: y}, {X: f.area.Max.X, Y: y}}}
	taken := vg.Length(math.Inf(-1))
	for _, t := range f.x.ticks {
		x := f.area.X(f.x.norm(t.at))
		lines = append(lines, []vg.Point{{X: x, Y: y}, {X: x, Y: y - 4}})
		half := textWidth(t.label, tickSize) / 2
		at := min(max(x, half+2), f.c.w-half-2)
		if at-half < taken+6 {
			continue
		}
		taken = at + half
		f.c.text(vg.Point{X: at, Y: y - 15}, "middle", "t", t.label)
	}

	f.strokeAll(draw.LineStyle{Color: paint("axis"), Width: 1}, lines)
	f.c.text(vg.Point{X: f.area.Max.X, Y: y - 15 - rowSize + 2}, "end", "a", cut(title, textSize, f.area.Max.X-10))
}

// leftTitle writes what y is above its axis: upright, so that it can be read.
func (f *frame) leftTitle(title string) {
	f.c.text(vg.Point{X: 4, Y: f.area.Max.Y + 9}, "start", "a", cut(title, textSize, f.c.w-8))
}

// nothing writes why a chart is empty, in its middle.
func (f *frame) nothing(why string) {
	f.c.text(f.area.Center(), "middle", "a", why)
}

// clipped are the parts of a line inside the plotting area.
func (f *frame) clipped(line []vg.Point) [][]vg.Point {
	wide := f.area
	wide.Min.X, wide.Max.X = wide.Min.X-1, wide.Max.X+1
	wide.Min.Y, wide.Max.Y = wide.Min.Y-1, wide.Max.Y+1
	return wide.ClipLinesXY(line)
}
