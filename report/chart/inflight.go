package chart

import (
	"github.com/benchrig/bench/metrics/curves"
)

// InFlightSpec shows how much a server had in hand, over the seconds of a pass.
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
	Levels []curves.Level
}

// InFlight draws step lines over the seconds of a pass.
func InFlight(s InFlightSpec) (SVG, error) {
	time := Axis{Label: "time since the pass began", Unit: Seconds}
	xs := newSpan(time)
	var panels []Panel
	for _, p := range s.Panels {
		panel := Panel{Y: p.Y}
		panel.Y.Zero = true
		for _, series := range p.Series {
			panel.Series = append(panel.Series,
				LineSeries{Name: series.Name, Slot: series.Slot, Points: steps(series.Levels)})
			for _, level := range series.Levels {
				xs.add(level.AtS)
			}
		}
		panels = append(panels, panel)
	}

	x := newScale(time, xs, s.ticks(), tight)
	stack := newStack(x, panels, s.width())
	c := newCanvas(s.width(), stack.height()+tickRoom+rowSize+4)
	f := stack.draw(c, c.h-2)
	f.bottomAxis(x.title(time))
	says := panelsWords(time, panels)
	if xs.empty() {
		f.nothing("nothing was in flight")
		says = []string{"Nothing was in flight."}
	}

	return c.drawing(s.Head, "in-flight", says)
}

// steps are the corners of a line whose levels hold until the next.
func steps(levels []curves.Level) []LinePoint {
	var out []LinePoint
	for i, level := range levels {
		if i > 0 {
			out = append(out, LinePoint{X: level.AtS, Y: levels[i-1].Value})
		}
		out = append(out, LinePoint{X: level.AtS, Y: level.Value})
	}
	return out
}
