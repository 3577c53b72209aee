package chart

import (
	"math"
	"strconv"
	"strings"
)

// paint is a colour by name: a CSS class.
type paint string

// stroke is how a line is drawn.
type stroke struct {
	paint paint
	width length
	dash  []length
}

// canvas writes SVG. Colours are classes, text keeps the page's font, and
// groups, links and tooltips can be opened between shapes.
type canvas struct {
	w, h  length
	out   strings.Builder
	links bool // something was drawn that can be focused

	patterns string // what the ids of patterns begin with
}

func newCanvas(w, h length) *canvas { return &canvas{w: w, h: h} }

// stroke draws the outline of a path.
func (c *canvas) stroke(style stroke, p path) {
	d := c.trail(p)
	if d == "" || style.width <= 0 {
		return
	}

	c.open("path", "class", "l "+string(style.paint), "d", d)
	if style.width != 1 {
		c.attr("stroke-width", tenths(style.width))
	}
	if len(style.dash) > 0 {
		c.attr("stroke-dasharray", dashes(style.dash))
	}
	c.end()
}

// fill fills a path.
func (c *canvas) fill(with paint, p path) {
	if d := c.trail(p); d != "" {
		c.open("path", "class", "f "+string(with), "d", d)
		c.end()
	}
}

// patterned fills a path with the pattern of a class; see defs.
func (c *canvas) patterned(class string, p path) {
	c.open("path", "fill", "url(#"+c.patterns+"-"+class+")", "pointer-events", "none", "d", c.trail(p))
	c.end()
}

func dashes(pattern []length) string {
	parts := make([]string, len(pattern))
	for i, d := range pattern {
		parts[i] = tenths(d)
	}
	return strings.Join(parts, " ")
}

// round is a coordinate in tenths of a unit. What is not a number is 0, what is
// too far away to be seen lies at the edge of what browsers draw.
func round(v length) int {
	f := math.Round(float64(v) * 10)
	if math.IsNaN(f) {
		return 0
	}
	return int(min(max(f, -1e6), 1e6))
}

// tenths writes a length.
func tenths(v length) string { return decimal(round(v)) }

// decimal writes a whole number of tenths.
func decimal(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	switch {
	case n%10 == 0:
		return sign + strconv.Itoa(n/10)
	case n < 10:
		return sign + "." + strconv.Itoa(n)
	}
	return sign + strconv.Itoa(n/10) + "." + strconv.Itoa(n%10)
}
