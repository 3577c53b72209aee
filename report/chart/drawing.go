package chart

import (
	"errors"
	"fmt"
	"strings"
)

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
