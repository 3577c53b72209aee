package chart

import (
	"html/template"
	"time"
)

// TimelineSpec shows what happened when.
type TimelineSpec struct {
	Head
	Start  time.Time // wall clock of second 0, in the zone to show; zero: seconds are shown
	Lanes  []Lane
	Curves []Panel // beneath, on the same time axis
}

// Lane is one row of spans and marks. Spans of a lane that overlap are drawn
// in rows of their own.
type Lane struct {
	Name  string
	Spans []Span
	Marks []Mark
}

// Span is something that lasted.
type Span struct {
	FromS, ToS float64
	Class      Class
	Slot       int    // 1 to 8: colour of a span of class Plain; 0: the first
	Label      string // drawn inside where there is room
	Open       bool   // the end is not known
	Ref
}

// Mark is something that happened at one moment.
type Mark struct {
	AtS   float64
	Class Class
	Label string
	Ref
}

// Class says what a span or mark stands for; it decides colour and pattern.
type Class string

// The classes. The verdicts of steps come first.
const (
	Good     Class = "ok"
	Doubtful Class = "suspect" // hatched
	Bad      Class = "failed"  // cross-hatched, with a cross on top
	Skipped  Class = "not-run" // hollow
	Busy     Class = "running"
	Starting Class = "starting" // of a server's life; pale
	Serving  Class = "serving"
	Stopping Class = "stopping"
	Hook     Class = "hook"
	Plain    Class = "" // in the colour of its slot
)

// Panel is a small chart of lines beneath or above others on one time axis.
type Panel struct {
	Y      Axis
	Series []LineSeries
	Steps  bool // values hold until the next one
}

// Timeline draws lanes of spans over time, with curves beneath.
func Timeline(s TimelineSpec) (template.HTML, error) {
	c := newCanvas(960, 320)
	return c.drawing(s.Head, "timeline", nil)
}
