package chart

import (
	"gonum.org/v1/plot/vg"
)

// entry is a row of the legend.
type entry struct {
	name string
	look look
	line bool // a piece of the line
	sign bool // the marker

	hollow bool // the marker is not filled
	rest   bool // one of those that are drawn alike: they share one entry
}

const (
	swatch    vg.Length = 26
	entryGap  vg.Length = 18
	entryMost vg.Length = 240
)

// legend lays entries out in rows above the plot.
type legend struct {
	entries []entry
	rows    [][]entry
}

// legendOf is that of a drawing; empty where the page has it.
func (h Head) legendOf(entries []entry, width vg.Length) legend {
	if h.Bare {
		return legend{}
	}

	return newLegend(entries, width)
}

// newLegend is empty where there is nothing to tell apart.
func newLegend(entries []entry, width vg.Length) legend {
	named := entries[:0:0]
	others := 0
	for _, e := range entries {
		switch {
		case e.name == "":
		case e.rest:
			others++
		default:
			named = append(named, e)
		}
	}

	if others > 0 {
		named = append(named, entry{
			name: count(others, "other", "others") + " (hover for names)", look: lookOf(Rest, 0), sign: true,
		})
	}

	l := legend{entries: named}
	if len(named) < 2 && len(entries) < 2 {
		l.entries = nil
		return l
	}

	x := width
	for _, e := range l.entries {
		w := e.width()
		if x+w > width {
			l.rows = append(l.rows, nil)
			x = 0
		}
		l.rows[len(l.rows)-1] = append(l.rows[len(l.rows)-1], e)
		x += w
	}

	return l
}

func (e entry) width() vg.Length {
	return swatch + 6 + min(textWidth(e.name, textSize), entryMost) + entryGap
}

func (l legend) height() vg.Length { return rowSize * vg.Length(len(l.rows)) }

// draw writes the rows from top downwards.
func (l legend) draw(c *canvas, left, top vg.Length) {
	for i, row := range l.rows {
		x, y := left, top-rowSize*vg.Length(i)-rowSize/2
		for _, e := range row {
			e.draw(c, x, y)
			x += e.width()
		}
	}
}

func (e entry) draw(c *canvas, x, y vg.Length) {
	if e.line {
		style := e.look.line(2)
		c.SetColor(style.Color)
		c.SetLineWidth(style.Width)
		c.SetLineDash(style.Dashes, 0)
		var p vg.Path
		p.Move(vg.Point{X: x, Y: y})
		p.Line(vg.Point{X: x + swatch, Y: y})
		c.Stroke(p)
		c.SetLineDash(nil, 0)
	}

	if e.sign {
		c.marker(e.look, vg.Point{X: x + swatch/2, Y: y}, 4, e.hollow)
	}

	c.text(vg.Point{X: x + swatch + 6, Y: y - 4}, "start", "", cut(e.name, textSize, entryMost))
}
