package chart

import (
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// paint is a colour by name: a CSS class. It is a color.Color so that it goes
// through gonum's drawing functions, which never look inside.
type paint string

// RGBA is black: nothing of ours asks for it.
func (paint) RGBA() (r, g, b, a uint32) { return 0, 0, 0, math.MaxUint16 }

// canvas is a vg.Canvas that writes SVG. Colours are classes, text keeps the
// page's font, and groups, links and tooltips can be opened between shapes.
type canvas struct {
	w, h  vg.Length
	out   strings.Builder
	now   pen
	saved []pen
	links bool // something was drawn that can be focused

	patterns string // what the ids of patterns begin with
}

// pen is what Push saves.
type pen struct {
	class        string // of strokes and fills
	width        vg.Length
	dash         []vg.Length
	move         vg.Point
	turn         float64
	scaleX, scaY float64
}

var _ vg.CanvasSizer = (*canvas)(nil)

func newCanvas(w, h vg.Length) *canvas {
	return &canvas{w: w, h: h, now: pen{class: "fg", width: 1, scaleX: 1, scaY: 1}}
}

// Size is that of the view box.
func (c *canvas) Size() (w, h vg.Length) { return c.w, c.h }

// SetLineWidth sets the width of strokes.
func (c *canvas) SetLineWidth(w vg.Length) { c.now.width = w }

// SetLineDash sets the dashes of strokes; the offset is not used.
func (c *canvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.now.dash = pattern }

// SetColor takes a paint; any other colour is that of text.
func (c *canvas) SetColor(col color.Color) {
	c.now.class = "fg"
	if p, ok := col.(paint); ok {
		c.now.class = string(p)
	}
}

// Rotate turns what follows.
func (c *canvas) Rotate(rad float64) { c.now.turn += rad }

// Translate moves what follows.
func (c *canvas) Translate(pt vg.Point) { c.now.move = c.place(pt) }

// Scale stretches what follows.
func (c *canvas) Scale(x, y float64) { c.now.scaleX *= x; c.now.scaY *= y }

// Push saves the pen.
func (c *canvas) Push() { c.saved = append(c.saved, c.now) }

// Pop restores the pen saved last.
func (c *canvas) Pop() {
	if n := len(c.saved); n > 0 {
		c.now, c.saved = c.saved[n-1], c.saved[:n-1]
	}
}

// Stroke draws the outline of a path.
func (c *canvas) Stroke(p vg.Path) {
	if c.now.width > 0 {
		c.path("l", p)
	}
}

// Fill fills a path.
func (c *canvas) Fill(p vg.Path) { c.path("f", p) }

// FillString writes text in the page's font, whatever the face.
func (c *canvas) FillString(f font.Face, pt vg.Point, text string) {
	if f.Font.Size != 0 {
		c.text(pt, "start", "", text)
	}
}

// DrawImage draws nothing: charts have no images.
func (c *canvas) DrawImage(vg.Rectangle, image.Image) {}

// place is a point after the pen's transformations.
func (c *canvas) place(pt vg.Point) vg.Point {
	x, y := float64(pt.X)*c.now.scaleX, float64(pt.Y)*c.now.scaY
	sin, cos := math.Sincos(c.now.turn)
	return vg.Point{
		X: c.now.move.X + vg.Length(float64(x*cos)-float64(y*sin)),
		Y: c.now.move.Y + vg.Length(float64(x*sin)+float64(y*cos)),
	}
}

// path writes a path element. Coordinates are tenths of a unit, and each is
// given relative to the one before: half the bytes, and no error adds up.
func (c *canvas) path(kind string, p vg.Path) {
	d := newTrail(c)
	for _, part := range p {
		d.add(part)
	}

	if d.empty() {
		return
	}

	c.open("path", "class", kind+" "+c.now.class, "d", d.String())
	if kind == "l" {
		if c.now.width != 1 {
			c.attr("stroke-width", tenths(c.now.width))
		}
		if len(c.now.dash) > 0 {
			c.attr("stroke-dasharray", dashes(c.now.dash))
		}
	}

	c.end()
}

// patterned fills a path with the pattern of a class; see defs.
func (c *canvas) patterned(class string, p vg.Path) {
	d := newTrail(c)
	for _, part := range p {
		d.add(part)
	}
	c.open("path", "fill", "url(#"+c.patterns+"-"+class+")", "pointer-events", "none", "d", d.String())
	c.end()
}

func dashes(pattern []vg.Length) string {
	parts := make([]string, len(pattern))
	for i, d := range pattern {
		parts[i] = tenths(d)
	}
	return strings.Join(parts, " ")
}

// round is a coordinate in tenths of a unit. What is not a number is 0, what is
// too far away to be seen lies at the edge of what browsers draw.
func round(v vg.Length) int {
	f := math.Round(float64(v) * 10)
	if math.IsNaN(f) {
		return 0
	}
	return int(min(max(f, -1e6), 1e6))
}

// tenths writes a length.
func tenths(v vg.Length) string { return decimal(round(v)) }

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
