package chart

import (
	"strings"
	"unicode/utf8"
)

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
