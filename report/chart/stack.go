package chart

// Panel is a small chart of lines above or beneath others on one time axis.
type Panel struct {
	Y      Axis
	Series []LineSeries // their X is in seconds
}

// stack is a pile of panels that share their x axis.
type stack struct {
	x       scale
	panels  []Panel
	ys      []scale
	legends []legend
	left    length
}

const (
	panelHeight length = 100
	panelGap    length = 10
)

// newStack lays panels out for a canvas of a width.
func newStack(x scale, panels []Panel, width length) *stack {
	s := &stack{x: x, panels: panels}
	for _, p := range panels {
		xs, ys := newSpan(Axis{}), newSpan(p.Y)
		var entries []entry
		for i, series := range p.Series {
			addSeries(series, xs, ys)
			entries = append(entries, entry{name: series.Name, look: lookOf(series.Slot, i), line: true})
		}
		s.ys = append(s.ys, newScale(p.Y, ys, 4, loose))
		s.legends = append(s.legends, newLegend(entries, width-20))
	}
	s.left = leftRoom(s.ys...)
	return s
}

// height is that of all panels, without their common axis and its title.
func (s *stack) height() length {
	h := length(0)
	for i := range s.panels {
		h += s.panelTop(i) + panelHeight + panelGap
	}
	return max(h-panelGap, 40)
}

// panelTop is the room above a plot for its title and legend.
// A legend of one row is beside the title.
func (s *stack) panelTop(i int) length {
	if len(s.legends[i].rows) == 1 {
		return rowSize + 8
	}
	return s.legends[i].height() + rowSize + 8
}

// draw draws the panels from top downwards and gives the frame of the last.
func (s *stack) draw(c *canvas, top length) *frame {
	f := newFrame(c, s.x, scale{max: 1}, s.left, edge+8, top-40, c.h-top)
	for i, p := range s.panels {
		at := s.left
		if len(s.legends[i].rows) == 1 {
			at += textWidth(s.ys[i].title(p.Y), textSize)
		}
		s.legends[i].draw(c, at, top-2)
		top -= s.panelTop(i)
		f = newFrame(c, s.x, s.ys[i], s.left, edge+8, top-panelHeight, c.h-top)
		f.grid()
		f.leftTitle(s.ys[i].title(p.Y))
		f.drawLines(Axis{Unit: Seconds}, p.Y, p.Series, false)
		top -= panelHeight + panelGap
	}

	return f
}

// panelsWords puts all panels into words.
func panelsWords(x Axis, panels []Panel) []string {
	var out []string
	for _, p := range panels {
		if len(p.Series) > 0 && p.Y.Label != "" {
			out = append(out, p.Y.Label+":")
		}
		out = append(out, linesWords(x, p.Y, p.Series, 0)...)
	}
	return out
}
