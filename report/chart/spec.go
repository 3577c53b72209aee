package chart

import (
	"cmp"
	"math"
)

// Head is what every drawing has.
type Head struct {
	ID    string // of the element, unique in its page; "": made of the title
	Title string // what is shown, in one line: the accessible name; must not be empty

	// of the view box, 240 to 2000; 0: 900. Text is 12 units high, so narrow charts that are shown narrow keep its size
	Width float64

	Bare bool // without a legend of its own: the page has one for several charts, see Key
}

// width is that of the canvas.
func (h Head) width() length {
	if !(h.Width > 0) {
		return 900
	}
	return length(min(max(h.Width, 240), 2000))
}

// heightOr is a height that a caller gives, or the usual one for 0.
func heightOr(given float64, usual length) length {
	return cmp.Or(length(min(max(given, 0), 2000)), usual)
}

// ticks is how many labels an axis as wide as the drawing has room for.
func (h Head) ticks() int { return max(int(h.width()/100), 3) }

// Target is a limit that a figure has to keep to, drawn as a line across the
// plot.
type Target struct {
	Value float64
	Label string // written at the right end of the line: "target <= 200 ms"
}

// Ref lets a mark explain itself and lead somewhere.
type Ref struct {
	Title   string // tooltip; "": made of label and values
	Href    string // fragment, relative or http(s) address; "": the mark is not a link
	Step    string // data-step, for the page's script
	Variant string // data-variant
}

// Unit is the base unit of an axis. Values of seconds, bytes and shares are
// shown in the unit that reads best; others as they are.
type Unit string

// The units that are scaled or written in a way of their own.
const (
	Number  Unit = ""    // counts and ratios
	Seconds Unit = "s"   // shown as µs, ms, s, min or h
	Bytes   Unit = "B"   // shown as KiB to TiB
	Share   Unit = "0-1" // 0 to 1, shown in per cent
)

// Axis says what a direction of a chart shows. The zero value is a linear
// axis of numbers as wide as its values.
type Axis struct {
	Label string // the quantity, without its unit
	Unit  Unit   // Seconds, Bytes, Share or any other, for example "tok/s"
	Log   bool   // values that are not positive are left out, and that is said
	Zero  bool   // begins at 0 where all values are positive; not with Log

	Ticks []float64 // where labels are; null: chosen
}

// shows reports whether the axis can show a value.
func (a Axis) shows(v float64) bool { return finite(v) && !(a.Log && v <= 0) }

// XY is a place in the units of the axes.
type XY struct{ X, Y float64 }

// drawable reports whether both coordinates are numbers.
func (p XY) drawable() bool { return finite(p.X) && finite(p.Y) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// known is what a pointer to a number holds; NaN where there is none.
func known(v *float64) float64 {
	if v == nil || !finite(*v) {
		return math.NaN()
	}
	return *v
}
