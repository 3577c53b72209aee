package chart

import (
	"html/template"

	"benchrig/metrics"
)

// InFlightSpec shows how much a server had in hand, over time.
type InFlightSpec struct {
	Head
	Panels []LevelPanel // one above the other, on one time axis
}

// LevelPanel is one quantity, for example requests in flight.
type LevelPanel struct {
	Y      Axis
	Series []LevelSeries
}

// LevelSeries is one step line: each level holds until the next.
type LevelSeries struct {
	Name   string
	Slot   int // 1 to 8: colour and dash; 0: by position
	Levels []metrics.Level
}

// InFlight draws step lines over the seconds of a pass.
func InFlight(s InFlightSpec) (template.HTML, error) {
	c := newCanvas(720, 320)
	return c.drawing(s.Head, "in-flight", nil)
}
