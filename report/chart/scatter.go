package chart

import "html/template"

// ScatterSpec is a chart of points with two figures each.
type ScatterSpec struct {
	Head
	X, Y   Axis
	Series []PointSeries
	Front  []XY   // the best that can be had, a line from left to right; empty: none
	Better string // which corner is better, in words: "up and right"; "": not said
}

// PointSeries are points that belong together: one colour, one marker.
type PointSeries struct {
	Name   string
	Slot   int // 1 to 8: colour, dash and marker; 0: by position
	Points []Point
}

// Point is one point.
type Point struct {
	X, Y  float64
	Label string // drawn beside the point where there is room
	Doubt bool   // drawn hollow
	Ref
}

// Scatter draws points, with the Pareto front where there is one.
func Scatter(s ScatterSpec) (template.HTML, error) {
	c := newCanvas(720, 420)
	return c.drawing(s.Head, "scatter", nil)
}
