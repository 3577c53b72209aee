package chart

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// trail writes the d attribute of a path.
type trail struct {
	c    *canvas
	b    strings.Builder
	x, y int // where the pen is, in tenths, y downwards
	last byte
}

func newTrail(c *canvas) *trail { return &trail{c: c} }

func (t *trail) empty() bool    { return t.b.Len() == 0 }
func (t *trail) String() string { return t.b.String() }

func (t *trail) add(part vg.PathComp) {
	switch part.Type {
	case vg.MoveComp:
		t.moveTo(t.at(part.Pos))
	case vg.LineComp:
		t.lineTo(t.at(part.Pos))
	case vg.ArcComp:
		t.arc(part)
	case vg.CurveComp:
		t.curve(part)
	case vg.CloseComp:
		t.command('z')
	}
}

// at is a point in tenths from the upper left.
func (t *trail) at(pt vg.Point) (x, y int) {
	pt = t.c.place(pt)
	return round(pt.X), round(t.c.h - pt.Y)
}

func (t *trail) moveTo(x, y int) {
	t.command('M')
	t.numbers(x, y)
	t.x, t.y = x, y
}

// lineTo leaves out a step that is too short to be seen.
func (t *trail) lineTo(x, y int) {
	dx, dy := x-t.x, y-t.y
	switch {
	case t.empty():
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

// arc writes at most half a circle at a time: an arc whose ends meet would be
// none.
func (t *trail) arc(part vg.PathComp) {
	edge := func(angle float64) (int, int) {
		sin, cos := math.Sincos(angle)
		return t.at(vg.Point{X: part.Pos.X + part.Radius*vg.Length(cos), Y: part.Pos.Y + part.Radius*vg.Length(sin)})
	}

	t.lineTo(edge(part.Start))
	pieces := max(int(math.Ceil(math.Abs(part.Angle)/math.Pi-1e-9)), 1)
	sweep := 0
	if part.Angle < 0 {
		sweep = 1
	}

	for i := range pieces {
		x, y := edge(part.Start + part.Angle*float64(i+1)/float64(pieces))
		r := round(part.Radius)
		t.command('a')
		t.b.WriteString(decimal(r) + " " + decimal(r) + " 0 0 " + decimal(sweep*10) + " ")
		t.numbers(x-t.x, y-t.y)
		t.x, t.y = x, y
	}
}

func (t *trail) curve(part vg.PathComp) {
	command := byte('q')
	if len(part.Control) == 2 {
		command = 'c'
	}
	t.command(command)
	var pairs []int
	for _, pt := range append(slices.Clip(part.Control), part.Pos) {
		x, y := t.at(pt)
		pairs = append(pairs, x-t.x, y-t.y)
	}
	t.numbers(pairs...)
	t.x, t.y = t.x+pairs[len(pairs)-2], t.y+pairs[len(pairs)-1]
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
