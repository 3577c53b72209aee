package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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

	width := ""
	if style.width != 1 {
		width = tenths(style.width)
	}
	c.path("class", "l "+string(style.paint), "d", d, "stroke-width", width, "stroke-dasharray",
		dashes(style.dash))
}

// fill fills a path.
func (c *canvas) fill(with paint, p path) {
	if d := c.trail(p); d != "" {
		c.path("class", "f "+string(with), "d", d)
	}
}

// patterned fills a path with the pattern of a class; see defs.
func (c *canvas) patterned(class string, p path) {
	c.path("fill", "url(#"+c.patterns+"-"+class+")", "pointer-events", "none", "d", c.trail(p))
}

func dashes(pattern []length) string {
	parts := make([]string, len(pattern))
	for i, d := range pattern {
		parts[i] = tenths(d)
	}
	return strings.Join(parts, " ")
}

// round is a coordinate in tenths of a unit. What is not a number is 0, what is
// too far away to be seen is at the edge of what browsers draw.
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

// tag writes a tag with attributes in pairs, without those that are empty, and what
// ends the tag.
func (c *canvas) tag(name, end string, pairs ...string) {
	c.out.WriteString("<" + name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			c.out.WriteString(" " + pairs[i] + `="` + escape(pairs[i+1]) + `"`)
		}
	}
	c.out.WriteString(end)
}

// open begins an element, which close ends.
func (c *canvas) open(name string, pairs ...string) { c.tag(name, ">", pairs...) }

func (c *canvas) close(name string) { c.out.WriteString("</" + name + ">") }

// path writes a path with attributes in pairs.
func (c *canvas) path(pairs ...string) { c.tag("path", "/>", pairs...) }

// leaf writes an element that holds only text.
func (c *canvas) leaf(name, text string, pairs ...string) {
	c.open(name, pairs...)
	c.out.WriteString(escape(text))
	c.close(name)
}

// text writes s with its baseline at pt. anchor is "start", "middle" or "end".
func (c *canvas) text(pt point, anchor, class, s string) {
	if anchor == "start" { // which SVG takes for granted
		anchor = ""
	}
	if s != "" {
		c.leaf("text", s, "x", tenths(pt.X), "y", tenths(c.h-pt.Y), "class", class, "text-anchor", anchor)
	}
}

// mark draws something that explains itself: a link where ref leads
// somewhere. more are further attributes in pairs.
func (c *canvas) mark(ref Ref, draw func(), more ...string) {
	name, href := "g", safeHref(ref.Href)
	if href != "" {
		name, c.links = "a", true
	}

	c.open(name, append([]string{"href", href, "data-step", ref.Step, "data-variant", ref.Variant}, more...)...)
	if ref.Title != "" {
		c.leaf("title", ref.Title)
	}

	draw()
	c.close(name)
}

// safeHref is the address if it is a fragment, relative or http(s); an address
// with another scheme could run a script and is left out.
func safeHref(href string) string {
	href = strings.TrimSpace(clean(href))
	scheme, _, found := strings.Cut(href, ":")
	if !found || strings.ContainsAny(scheme, "/?#") {
		return href
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
		return href
	}
	return ""
}

// escape makes text safe inside an element and inside a quoted attribute.
func escape(s string) string {
	if plain(s) {
		return s
	}

	var b strings.Builder
	for _, r := range clean(s) {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&#34;")
		case '\'':
			b.WriteString("&#39;")
		default:
			b.WriteRune(r)
		}
	}

	return b.String()
}

// plain reports whether text needs no look: most of it is numbers and names.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20, c >= 0x7f, c == '&', c == '<', c == '>', c == '"', c == '\'':
			return false
		}
	}
	return true
}

// clean replaces what XML cannot hold: control characters, halves of
// surrogate pairs and bytes that are not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// SVG is a drawing as an element of a page: all in it that came from elsewhere is
// escaped.
type SVG string

// drawing finishes what is on the canvas: the svg element with its accessible
// name and a description that holds the figures in words.
//
// A drawing without links is an image. One with links is a group: assistive
// technology hides everything inside an image.
func (c *canvas) drawing(h Head, kind string, says []string) (SVG, error) {
	if strings.TrimSpace(h.Title) == "" {
		return "", errors.New("draw " + kind + ": it has no title")
	}

	id := h.id()
	role, described := "img", ""
	if c.links {
		role, described = "group", "chart"
	}
	root := &canvas{}
	root.open("svg", "xmlns", "http://www.w3.org/2000/svg", "id", id, "class", "chart "+kind,
		"viewBox", "0 0 "+tenths(c.w)+" "+tenths(c.h), "role", role, "aria-roledescription", described,
		"aria-labelledby", id+"-t", "aria-describedby", id+"-d")
	root.leaf("title", h.Title, "id", id+"-t")
	root.leaf("desc", strings.Join(says, " "), "id", id+"-d")
	root.out.WriteString(c.out.String())
	root.close("svg")

	// every text went through escape, every address through safeHref
	return SVG(root.out.String()), nil
}

// id is that of the drawing's element.
func (h Head) id() string { return idOf(cmp.Or(h.ID, h.Title)) }

// idOf turns any text into an id: letters, digits, '-' and '_', with a letter
// in front.
func idOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	id := b.String()
	if id == "" || id[0] >= '0' && id[0] <= '9' || id[0] == '-' {
		id = "c" + id
	}
	return id
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", grouped(fmt.Sprint(n)), many)
}

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
