package chart

import (
	"strings"
)

// trail is the d attribute of a path. Coordinates are tenths of a unit, and
// each is given relative to the one before: half the bytes, and no error adds up.
func (c *canvas) trail(p path) string {
	t := trail{h: c.h}
	for _, s := range p {
		switch s.kind {
		case moveStep:
			t.moveTo(t.at(s.at))
		case lineStep:
			t.lineTo(t.at(s.at))
		case ringStep:
			t.ring(s.at, s.radius)
		case closeStep:
			t.command('z')
		}
	}
	return t.b.String()
}

// trail is what was written so far.
type trail struct {
	h    length // of the canvas
	b    strings.Builder
	x, y int // where the pen is, in tenths, y downwards
	last byte
}

// at is a point in tenths from the upper left.
func (t *trail) at(pt point) (x, y int) { return round(pt.X), round(t.h - pt.Y) }

func (t *trail) moveTo(x, y int) {
	t.command('M')
	t.numbers(x, y)
	t.x, t.y = x, y
}

// lineTo leaves out a step that is too short to be seen.
func (t *trail) lineTo(x, y int) {
	dx, dy := x-t.x, y-t.y
	switch {
	case t.b.Len() == 0:
		t.moveTo(x, y)
		return
	case dx == 0 && dy == 0:
		if t.last == 'M' { // a dot: round caps make it visible
			t.command('h')
			t.numbers(0)
		}
		return
	case dy == 0:
		t.command('h')
		t.numbers(dx)
	case dx == 0:
		t.command('v')
		t.numbers(dy)
	default:
		t.command('l')
		t.numbers(dx, dy)
	}

	t.x, t.y = x, y
}

// ring writes a circle as two halves: an arc whose ends meet would not be drawn.
func (t *trail) ring(center point, radius length) {
	right, y := t.at(point{X: center.X + radius, Y: center.Y})
	left, _ := t.at(point{X: center.X - radius, Y: center.Y})
	r := decimal(round(radius))

	t.lineTo(right, y)
	for _, x := range []int{left, right} {
		t.command('a')
		t.b.WriteString(r + " " + r + " 0 0 0 ")
		t.numbers(x-t.x, 0)
		t.x = x
	}
}

// command writes a letter; a letter that follows itself may be left out.
func (t *trail) command(letter byte) {
	if letter == t.last && letter != 'M' && letter != 'z' {
		t.b.WriteByte(' ')
		return
	}
	t.b.WriteByte(letter)
	t.last = letter
}

func (t *trail) numbers(ns ...int) {
	for i, n := range ns {
		if i > 0 && n >= 0 {
			t.b.WriteByte(' ')
		}
		t.b.WriteString(decimal(n))
	}
}
