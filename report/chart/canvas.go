package chart

import (
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

// open begins an element with attributes in pairs; attr may add more, then
// end or inside must follow.
func (c *canvas) open(name string, pairs ...string) {
	c.out.WriteString("<" + name)
	for i := 0; i+1 < len(pairs); i += 2 {
		c.attr(pairs[i], pairs[i+1])
	}
}

func (c *canvas) attr(name, value string) {
	c.out.WriteString(" " + name + `="` + escape(value) + `"`)
}

// set adds an attribute unless its value is empty.
func (c *canvas) set(name, value string) {
	if value != "" {
		c.attr(name, value)
	}
}

// end closes an element that has nothing inside.
func (c *canvas) end() { c.out.WriteString("/>") }

// inside ends the start tag.
func (c *canvas) inside() { c.out.WriteString(">") }

func (c *canvas) close(name string) { c.out.WriteString("</" + name + ">") }

// leaf writes an element that holds only text.
func (c *canvas) leaf(name, text string, pairs ...string) {
	c.open(name, pairs...)
	c.inside()
	c.out.WriteString(escape(text))
	c.close(name)
}

// text writes s with its baseline at pt. anchor is "start", "middle" or "end".
func (c *canvas) text(pt point, anchor, class, s string) {
	if s == "" {
		return
	}

	c.open("text", "x", tenths(pt.X), "y", tenths(c.h-pt.Y))
	c.set("class", class)
	if anchor != "start" {
		c.attr("text-anchor", anchor)
	}

	c.inside()
	c.out.WriteString(escape(s))
	c.close("text")
}

// mark draws something that explains itself: a link where ref leads
// somewhere. more are further attributes in pairs.
func (c *canvas) mark(ref Ref, draw func(), more ...string) {
	name, href := "g", safeHref(ref.Href)
	if href != "" {
		name, c.links = "a", true
	}

	c.open(name)
	c.set("href", href)
	c.set("data-step", ref.Step)
	c.set("data-variant", ref.Variant)
	for i := 0; i+1 < len(more); i += 2 {
		c.set(more[i], more[i+1])
	}

	c.inside()
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

	id := h.ID
	if id == "" {
		id = h.Title
	}

	id = idOf(id)
	root := &canvas{w: c.w, h: c.h}
	root.open("svg", "xmlns", "http://www.w3.org/2000/svg", "id", id, "class", "chart "+kind,
		"viewBox", "0 0 "+tenths(c.w)+" "+tenths(c.h), "role", "img")
	if c.links {
		root.out.Reset()
		root.open("svg", "xmlns", "http://www.w3.org/2000/svg", "id", id, "class", "chart "+kind,
			"viewBox", "0 0 "+tenths(c.w)+" "+tenths(c.h), "role", "group", "aria-roledescription", "chart")
	}

	root.attr("aria-labelledby", id+"-t")
	root.attr("aria-describedby", id+"-d")
	root.inside()
	root.leaf("title", h.Title, "id", id+"-t")
	root.leaf("desc", strings.Join(append(sentences(h.Note), says...), " "), "id", id+"-d")
	root.out.WriteString(c.out.String())
	root.close("svg")

	// every text went through escape, every address through safeHref
	return SVG(root.out.String()), nil
}

// sentences is the note as a sentence, if there is one.
func sentences(note string) []string {
	note = strings.TrimSpace(note)
	if note == "" {
		return nil
	}
	if !strings.HasSuffix(note, ".") {
		note += "."
	}
	return []string{note}
}

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
