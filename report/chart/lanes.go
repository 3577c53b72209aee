package chart

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// packed is a lane whose spans have rows.
type packed struct {
	Lane
	rows  int
	rowOf []int // by span
}

// packLanes gives spans that overlap different rows, as few as can be.
func packLanes(lanes []Lane, x scale) []packed {
	out := make([]packed, len(lanes))
	for i, lane := range lanes {
		p := packed{Lane: lane, rows: 1, rowOf: make([]int, len(lane.Spans))}
		order := make([]int, len(lane.Spans))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order,
			func(a, b int) int { return cmp.Compare(lane.Spans[a].FromS, lane.Spans[b].FromS) })
		slack := (x.max - x.min) * 1e-9
		var ends []float64
		for _, j := range order {
			sp := lane.Spans[j]
			if !sp.drawable() {
				continue
			}
			row := slices.IndexFunc(ends, func(end float64) bool { return end <= sp.FromS+slack })
			switch {
			case row < 0 && len(ends) == maxLaneRows:
				row = len(ends) - 1
			case row < 0:
				row = len(ends)
				ends = append(ends, sp.ToS)
			}
			ends[row] = max(ends[row], sp.ToS)
			p.rowOf[j] = row
		}
		p.rows = max(len(ends), 1)
		out[i] = p
	}

	return out
}

// height is that of a lane's rows, with one above for its marks.
func (p packed) height() length { return laneRow*length(p.rows) + p.markRoom() + laneGap }

func (p packed) markRoom() length {
	if len(p.Marks) > 0 || slices.ContainsFunc(p.Spans, func(s Span) bool { return s.Class == Failed }) {
		return 12
	}
	return 0
}

func lanesHeight(lanes []packed) length {
	h := length(0)
	for _, p := range lanes {
		h += p.height()
	}
	return max(h, 40)
}

// defs writes the patterns that the lanes use.
func (c *canvas) defs(id string, lanes []packed) {
	used := map[Class]bool{}
	for _, p := range lanes {
		for _, s := range p.Spans {
			used[s.Class] = true
		}
	}

	c.patterns = id
	for _, pattern := range []struct {
		class Class
		d     string
	}{
		{Suspect, "M0 6l6-6M-1 1l2-2M5 7l2-2"},
		{Failed, "M0 6l6-6M-1 1l2-2M5 7l2-2M0 0l6 6"},
		{Stopping, "M0 0v6M3 0v6"},
	} {
		if !used[pattern.class] {
			continue
		}
		c.open("pattern", "id", id+"-"+string(pattern.class), "width", "6", "height", "6", "patternUnits",
			"userSpaceOnUse")
		c.path("class", "l bg", "d", pattern.d)
		c.close("pattern")
	}
}

// drawLanes draws from top downwards.
func (f *frame) drawLanes(lanes []packed) {
	top := f.area.Max.Y
	for _, p := range lanes {
		rows := top - p.markRoom()
		f.c.text(point{X: f.area.Min.X - 8, Y: rows - laneRow/2 - 4}, "end", "", cut(p.Name, textSize, f.area.Min.X-12))
		for rank := range 3 {
			for j, sp := range p.Spans {
				if sp.drawable() && sp.Class.rank() == rank {
					f.drawSpan(sp, rows-laneRow*length(p.rowOf[j])-laneRow/2, rows)
				}
			}
		}

		for _, m := range p.Marks {
			if finite(m.AtS) && f.x.holds(m.AtS) {
				f.drawMark(m, rows, laneRow*length(p.rows))
			}
		}

		top -= p.height()
	}
}

// fill is the colour of a class; pattern says whether it has one.
func (c Class) fill() (p paint, pattern bool) {
	switch c {
	case OK:
		return "ok", false
	case Serving:
		return "c6", false
	case Suspect:
		return "warn", true
	case Failed:
		return "bad", true
	case NotRun:
		return "muted o", false
	case Running:
		return "c1 half", false
	case Starting:
		return "muted half", false
	case Stopping:
		return "muted", true
	case Hook:
		return "c4", false
	default:
		return "c1", false
	}
}

func (f *frame) drawSpan(sp Span, y, rows length) {
	x0, x1 := f.area.X(f.x.norm(sp.FromS)), f.area.X(f.x.norm(sp.ToS))
	if x1-x0 > 4 {
		x1 -= 0.6 // neighbours stay apart
	}

	x1 = max(x1, x0+1)
	if sp.Class.rank() > 0 { // the shortest stays in sight
		x1 = max(x1, x0+2.4)
	}
	ref := sp.Ref
	if ref.Title == "" {
		ref.Title = sp.words()
	}

	shape := box(x0, y-laneBar/2, x1, y+laneBar/2)
	fill, pattern := sp.Class.fill()
	f.c.mark(ref, func() {
		f.c.fill(fill, shape)
		if pattern && x1-x0 >= 3 {
			f.c.patterned(string(sp.Class), shape)
		}
		if sp.Open {
			f.strokeAll(stroke{paint: "fg", width: 2, dash: []length{2, 2}},
				[][]point{{{X: x1, Y: y - laneBar/2}, {X: x1, Y: y + laneBar/2}}})
		}
		if sp.Class == Failed {
			f.c.cross("bad", point{X: (x0 + x1) / 2, Y: rows + 6}, 3.5)
		}
	}, "data-x", raw(sp.FromS), "data-y", raw(sp.ToS))

	label := cut(sp.Label, tickSize, x1-x0-8)
	if label != "" && (label == sp.Label || utf8.RuneCountInString(label) > 6) {
		class := "s"
		switch {
		case pattern:
			class = "n"
		case sp.Class == NotRun, sp.Class == Starting, sp.Class == Running:
			class = "p"
		}
		f.c.text(point{X: x0 + 4, Y: y - 4}, "start", class, label)
	}
}

// rank orders the spans of a lane by what must not be covered.
func (c Class) rank() int {
	switch c {
	case Failed:
		return 2
	case Suspect:
		return 1
	default:
		return 0
	}
}

// words describes a span.
func (sp Span) words() string {
	words := cmp.Or(sp.Label, string(sp.Class), "span")
	if sp.Class != Plain && string(sp.Class) != words {
		words += ", " + string(sp.Class)
	}
	words += ", " + Seconds.words(sp.ToS-sp.FromS)
	if sp.Open {
		words += ", end not known"
	}
	return words
}

func (f *frame) drawMark(m Mark, rows, height length) {
	x := f.area.X(f.x.norm(m.AtS))
	ref := m.Ref
	if ref.Title == "" {
		ref.Title = cmp.Or(m.Label, string(m.Class), "mark")
	}

	f.c.mark(ref, func() {
		f.c.target(point{X: x, Y: rows + 6}, 7)
		if m.Class == Failed {
			f.c.cross("bad", point{X: x, Y: rows + 6}, 3.5)
			return
		}
		f.strokeAll(stroke{paint: "muted", width: 1}, [][]point{{{X: x, Y: rows + 3}, {X: x, Y: rows - height}}})
		f.c.marker(look{paint: "muted", shape: 4}, point{X: x, Y: rows + 6}, 3.5, false)
	}, "data-x", raw(m.AtS))
}

// cross is the sign of a failure.
func (c *canvas) cross(p paint, at point, r length) {
	var sign path
	sign.move(point{X: at.X - r, Y: at.Y - r})
	sign.line(point{X: at.X + r, Y: at.Y + r})
	sign.move(point{X: at.X - r, Y: at.Y + r})
	sign.line(point{X: at.X + r, Y: at.Y - r})
	c.stroke(stroke{paint: p, width: 2}, sign)
}

// classKeys say what the looks of spans stand for.
type classKeys struct{ rows [][]Class }

const keySize length = 12

// newClassKeys are those of the classes in use; none where only slots are.
func newClassKeys(lanes []Lane, width length) classKeys {
	used := map[Class]bool{}
	for _, lane := range lanes {
		for _, s := range lane.Spans {
			used[s.Class] = s.Class != Plain
		}
	}

	all := []Class{OK, Suspect, Failed, NotRun, Running, Starting, Serving, Stopping, Hook}
	all = slices.DeleteFunc(all, func(c Class) bool { return !used[c] })
	return classKeys{inRows(all, width, Class.keyWidth)}
}

func (c Class) keyWidth() length { return keySize + 6 + textWidth(string(c), textSize) + entryGap }

func (k classKeys) height() length { return rowSize * length(len(k.rows)) }

func (k classKeys) draw(c *canvas, left, top length) {
	for i, row := range k.rows {
		x, y := left, top-rowSize*length(i)-rowSize/2
		for _, class := range row {
			fill, pattern := class.fill()
			shape := box(x, y-keySize/2, x+keySize, y+keySize/2)
			c.fill(fill, shape)
			if pattern {
				c.patterned(string(class), shape)
			}
			c.text(point{X: x + keySize + 6, Y: y - 4}, "start", "", string(class))
			x += class.keyWidth()
		}
	}
}
