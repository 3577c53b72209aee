package chart

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
	swatch    length = 26
	entryGap  length = 18
	entryMost length = 240
)

// legend lays entries out in rows above the plot.
type legend struct {
	entries []entry
	rows    [][]entry
}

// seriesEntry is the entry of the series at a position.
func seriesEntry(name string, slot, position int, line, sign bool) entry {
	return entry{name: name, look: lookOf(slot, position), line: line, sign: sign, rest: slot == Rest}
}

// legendOf is that of a drawing; empty where the page has it.
func (h Head) legendOf(entries []entry) legend {
	if h.Bare {
		return legend{}
	}

	return newLegend(entries, h.width()-20)
}

// newLegend is empty where there is nothing to tell apart.
func newLegend(entries []entry, width length) legend {
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

	l.rows = inRows(l.entries, width, entry.width)

	return l
}

// inRows puts things side by side, and begins a row where the last is full.
func inRows[T any](all []T, width length, widthOf func(T) length) (rows [][]T) {
	at := width
	for _, one := range all {
		if at+widthOf(one) > width {
			rows, at = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], one)
		at += widthOf(one)
	}
	return rows
}

func (e entry) width() length {
	return swatch + 6 + min(textWidth(e.name, textSize), entryMost) + entryGap
}

func (l legend) height() length { return rowSize * length(len(l.rows)) }

// draw writes the rows from top downwards.
func (l legend) draw(c *canvas, left, top length) {
	for i, row := range l.rows {
		x, y := left, top-rowSize*length(i)-rowSize/2
		for _, e := range row {
			e.draw(c, x, y)
			x += e.width()
		}
	}
}

func (e entry) draw(c *canvas, x, y length) {
	if e.line {
		var p path
		p.move(point{X: x, Y: y})
		p.line(point{X: x + swatch, Y: y})
		c.stroke(e.look.line(2), p)
	}

	if e.sign {
		c.marker(e.look, point{X: x + swatch/2, Y: y}, 4, e.hollow)
	}

	c.text(point{X: x + swatch + 6, Y: y - 4}, "start", "", cut(e.name, textSize, entryMost))
}

// KeySpec is a legend by itself, for charts that have none of their own.
type KeySpec struct {
	Head
	Series []KeySeries
	Hollow string // what hollow marks stand for; "": none is hollow
	Front  bool   // a Pareto front is drawn
}

// KeySeries is one series of the charts.
type KeySeries struct {
	Name string
	Slot int // 1 to 8 or Rest, as in the charts; 0: by position
}

// Key draws the legend of several charts.
func Key(s KeySpec) (SVG, error) {
	var entries []entry
	for i, series := range s.Series {
		entries = append(entries, seriesEntry(series.Name, series.Slot, i, true, true))
	}

	if s.Front {
		entries = append(entries, frontEntry())
	}
	if s.Hollow != "" {
		entries = append(entries, entry{name: s.Hollow, look: look{paint: "muted"}, sign: true, hollow: true})
	}

	const margin length = 4
	l := newLegend(entries, s.width()-2*margin)
	c := newCanvas(s.width(), l.height()+2*margin)
	l.draw(c, margin, c.h-margin)

	var names []string
	for _, e := range l.entries {
		names = append(names, e.name)
	}

	return c.drawing(s.Head, "key", []string{list(names, describedSeries) + "."})
}
