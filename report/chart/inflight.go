package chart

import (
	"github.com/benchrig/bench/metrics/curves"
)

// InFlightSpec shows how much a server had in hand, over the seconds of a pass.
type InFlightSpec struct {
	Head
	Panels []Panel // one above the other, on one time axis; see Levels
}

// InFlight draws step lines over the seconds of a pass.
func InFlight(s InFlightSpec) (SVG, error) {
	time := Axis{Label: "time since the pass began", Unit: Seconds}
	xs := newSpan(time)
	for _, p := range s.Panels {
		for _, series := range p.Series {
			for _, p := range series.Points {
				xs.add(p.X)
			}
		}
	}

	x := newScale(time, xs, s.ticks(), tight)
	stack := newStack(x, s.Panels, s.width())
	c := newCanvas(s.width(), stack.height()+tickRoom+rowSize+4)
	f := stack.draw(c, c.h-2)
	f.bottomAxis(x.title(time))
	says := panelsWords(time, s.Panels)
	if xs.empty() {
		f.nothing("nothing was in flight")
		says = []string{"Nothing was in flight."}
	}

	return c.drawing(s.Head, "in-flight", says)
}

// Levels are the corners of a line whose levels hold until the next.
func Levels(levels []curves.Level) []LinePoint {
	var out []LinePoint
	for i, level := range levels {
		if i > 0 {
			out = append(out, LinePoint{X: level.AtS, Y: levels[i-1].Value})
		}
		out = append(out, LinePoint{X: level.AtS, Y: level.Value})
	}
	return out
}
