package chart

import "html/template"

// BarsSpec compares one figure of several things.
type BarsSpec struct {
	Head
	Value     Axis
	Bars      []Bar
	Reference *float64 // a line across all bars, for example the baseline's value; null: none
}

// Bar is one thing's figure.
type Bar struct {
	Label     string
	Slot      int // 1 to 8: colour; 0: the first for all
	Value     float64
	Low, High *float64 // interval; null: none
	Text      string   // printed behind the bar; "": the value
	Doubt     bool     // drawn hollow
	Ref
}

// Bars draws horizontal bars with intervals, in the order given.
func Bars(s BarsSpec) (template.HTML, error) {
	c := newCanvas(720, 320)
	return c.drawing(s.Head, "bars", nil)
}
