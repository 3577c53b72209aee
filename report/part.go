package report

import (
	"bytes"
	"fmt"
	"strings"
)

// parts prints pieces for a terminal.
func (p *printer) parts(parts []Piece) {
	for _, piece := range parts {
		switch {
		case piece.Title == "":
		case piece.Below:
			p.line("")
			p.line(piece.Title)
		default:
			p.section(piece.Title)
		}
		for _, line := range piece.Intro {
			p.wrapped("  ", line)
		}
		p.comparison(piece.Table)
		for _, line := range piece.Notes {
			p.wrapped("  ", line)
		}
		if piece.Verbatim != "" {
			p.line("")
			p.out.WriteString(piece.Verbatim)
		}
	}
}

func markdownParts(out *bytes.Buffer, parts []Piece) {
	for _, piece := range parts {
		if piece.Title != "" {
			level := "##"
			if piece.Below {
				level = "###"
			}
			fmt.Fprintf(out, "\n%s %s\n", level, escape(piece.Title))
		}
		for _, line := range piece.Intro {
			fmt.Fprintf(out, "\n%s\n", escape(line))
		}
		markdownTable(out, piece.Table)
		if len(piece.Notes) > 0 {
			out.WriteString("\n")
		}
		for _, line := range piece.Notes {
			fmt.Fprintf(out, "- %s\n", escape(line))
		}
		if piece.Verbatim != "" {
			fence := strings.Repeat("`", 3)
			for strings.Contains(piece.Verbatim, fence) {
				fence += "`"
			}
			fmt.Fprintf(out, "\n%stext\n%s%s\n", fence, piece.Verbatim, fence)
		}
	}
}
