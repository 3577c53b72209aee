package chart

import (
	"cmp"
)

// BarsSpec compares one figure of several things.
type BarsSpec struct {
	Head
	Value     Axis // bars begin at 0: Log is not used
	Bars      []Bar
	Reference *float64 // a line across all bars, for example the baseline's value; null: none
}

// Bar is one thing's figure.
type Bar struct {
	Label     string
	Slot      int // 1 to 8: colour; 0: the first for all
	Value     float64
	Low, High *float64 // interval; null: none
	Hollow    bool     // drawn hollow
	Ref
}

const (
	barRow  length = 24
	barThin length = 14
)

// Bars draws horizontal bars with intervals, in the order given.
func Bars(s BarsSpec) (SVG, error) {
	s.Value.Log, s.Value.Zero = false, true
	values := newSpan(s.Value)
	left, right := length(40), length(40)
	for _, b := range s.Bars {
		for _, v := range []float64{b.Value, known(b.Low), known(b.High)} {
			values.add(v)
		}
		left = max(left, min(textWidth(b.Label, textSize), s.width()*0.32)+14)
		right = max(right, min(textWidth(s.Value.Unit.words(b.Value), tickSize), 160)+14)
	}

	values.add(known(s.Reference))
	c := newCanvas(s.width(), barRow*length(max(len(s.Bars), 1))+tickRoom+rowSize+12)
	x := newScale(s.Value, values, max(s.ticks()*2/3, 2), loose)
	f := newFrame(c, x, scale{max: 1}, left, right, tickRoom+rowSize+2, 4)
	f.verticals(f.area.Min.Y)
	f.upright(stroke{paint: "axis", width: 1}, f.area.Min.Y, 0)
	f.bottomAxis(x.title(s.Value))
	if len(s.Bars) == 0 || values.empty() {
		f.nothing("nothing was measured")
		return c.drawing(s.Head, "bars", []string{"Nothing was measured."})
	}

	for i, b := range s.Bars {
		s.drawBar(f, b, f.area.Max.Y-barRow*(length(i)+0.5)-2)
	}

	s.drawReference(f)

	return c.drawing(s.Head, "bars", s.says())
}

func (s BarsSpec) drawBar(f *frame, b Bar, y length) {
	l := lookOf(max(b.Slot, 1), 0)
	ref := b.Ref
	if ref.Title == "" {
		ref.Title = s.barWords(b)
	}

	place := func(v float64) length { return f.area.X(min(max(f.x.norm(v), 0), 1)) }
	f.c.text(point{X: f.area.Min.X - 8, Y: y - 4}, "end", "", cut(b.Label, textSize, f.area.Min.X-12))
	end := place(0)
	if finite(b.Value) {
		f.c.mark(ref, func() {
			fill := l.paint + " half"
			if b.Hollow {
				fill = l.paint + " o"
			}
			f.c.fill(fill, box(place(0), y-barThin/2, place(b.Value), y+barThin/2))
		}, "data-x", raw(b.Value))
		end = max(end, place(b.Value))
	}

	if lo, hi := known(b.Low), known(b.High); finite(lo) && finite(hi) {
		whisker := [][]point{{{X: place(lo), Y: y}, {X: place(hi), Y: y}}}
		for _, v := range []float64{lo, hi} {
			whisker = append(whisker, []point{{X: place(v), Y: y - 4}, {X: place(v), Y: y + 4}})
		}
		f.strokeAll(stroke{paint: "fg", width: 1.3}, whisker)
		end = max(end, place(hi))
	}

	f.c.text(point{X: end + 7, Y: y - 4}, "start", "t", cut(s.Value.Unit.words(b.Value), tickSize, 160))
}

func (s BarsSpec) drawReference(f *frame) {
	if v := known(s.Reference); f.x.holds(v) {
		f.upright(stroke{paint: "fg", width: 1.2, dash: []length{4, 3}}, f.area.Min.Y, v)
	}
}

func (s BarsSpec) barWords(b Bar) string {
	name := cmp.Or(b.Label, s.Value.Label, "values")
	words := name + ": " + s.Value.Unit.words(b.Value) + s.Value.interval(b.Low, b.High)
	if b.Hollow {
		words += ", suspect or incomplete"
	}
	return words
}

func (s BarsSpec) says() []string {
	var bars []string
	for _, b := range s.Bars {
		bars = append(bars, s.barWords(b))
	}
	out := []string{cmp.Or(s.Value.Label, "values") + " of " + list(bars, 20) + "."}
	if v := known(s.Reference); finite(v) {
		out = append(out, "The dashed line is at "+s.Value.Unit.words(v)+".")
	}
	return out
}
