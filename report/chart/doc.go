// Package chart draws figures as SVG.
//
// What goes in: small structs of points, spans and names, in base units. What
// comes out: one <svg> element, safe to put into an HTML page, the same bytes
// for the same input. It computes no figure, reads no file and no clock, and
// sets no colour: shapes carry classes, whose colours are CSS custom
// properties of the page (see Style and Colors).
//
// A number that is NaN or infinite is a gap: it is not drawn, and never read
// as 0. Drawings without anything to draw say so in words.
package chart
