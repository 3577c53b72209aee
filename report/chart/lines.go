package chart

import "html/template"

// LinesSpec is a chart of one or more figures over another.
type LinesSpec struct {
	Head
	X, Y   Axis
	Series []LineSeries
	Height float64 // of the plot in the units of the view box, 720 wide; 0: 300
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
	Ref
}

// Lines draws lines with bands for their intervals.
func Lines(s LinesSpec) (template.HTML, error) {
	c := newCanvas(720, 300)
	return c.drawing(s.Head, "lines", nil)
}
