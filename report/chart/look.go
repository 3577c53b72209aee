package chart

import (
	"math"
	"strconv"
)

// looks is how many series can be told apart.
const looks = 8

// Rest is the slot of series that are drawn alike, in grey: those that have no
// colour of their own.
const Rest = looks + 1

// look is how a series is drawn: colour, dash and marker together, so that
// each of them alone distinguishes it from the others.
type look struct {
	paint paint
	dash  []length
	shape int
}

// lookOf is the look of a slot from 1; 0 is that of the position.
func lookOf(slot, position int) look {
	if slot <= 0 {
		slot = position + 1
	}
	if slot == Rest {
		return look{paint: "axis half"}
	}
	dashes := [looks][]length{
		nil, {7, 3}, {2, 3}, {9, 3, 2, 3}, {12, 4}, {5, 2, 1.5, 2, 1.5, 2}, {4, 4}, {1, 2},
	}
	n := (slot - 1) % looks
	return look{paint: paint("c" + strconv.Itoa(n+1)), dash: dashes[n], shape: n}
}

// line is the style of a series' line.
func (l look) line(width length) stroke {
	return stroke{l.paint, width, l.dash}
}

// marker draws the series' sign; hollow ones are filled with the page's
// background.
func (c *canvas) marker(l look, at point, r length, hollow bool) {
	p := markerPath(l.shape, at, r)
	fill := l.paint
	if hollow {
		fill += " o"
	}
	c.fill(fill, p)
}

// corners are those of a marker, in shares of its radius; the first look is a disc.
func corners(shape int) []point {
	switch shape {
	case 1:
		return around(4, math.Pi/4, 1.25) // square
	case 2:
		return around(3, math.Pi/2, 1.3) // triangle
	case 3:
		return around(4, 0, 1.3) // diamond
	case 4:
		return around(3, -math.Pi/2, 1.3) // triangle on its tip
	case 5:
		return around(8, math.Pi/4, 1.4, 0.5) // cross
	case 6:
		return around(10, math.Pi/2, 1.45, 0.6) // star
	default:
		return around(6, 0, 1.15)
	}
}

// around are n points around the origin, counterclockwise from an angle, whose radii
// take turns.
func around(n int, from float64, radii ...float64) []point {
	points := make([]point, n)
	for i := range points {
		r := radii[i%len(radii)]
		sin, cos := math.Sincos(from + 2*math.Pi*float64(i)/float64(n))
		points[i] = point{X: length(cos * r), Y: length(sin * r)}
	}
	return points
}

func markerPath(shape int, at point, r length) path {
	if shape == 0 {
		var p path
		p.move(point{X: at.X + r, Y: at.Y})
		p.ring(at, r)
		p.close()
		return p
	}

	points := corners(shape)
	for i, corner := range points {
		points[i] = point{X: at.X + corner.X*r, Y: at.Y + corner.Y*r}
	}
	return polygon(points)
}

// target is an unseen disc that makes a small mark easy to hit.
func (c *canvas) target(at point, r length) {
	c.fill("h", markerPath(0, at, r))
}

// box is the path of a rectangle.
func box(x0, y0, x1, y1 length) path {
	return polygon([]point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}
