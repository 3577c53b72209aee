package report

import (
	"bytes"
	"fmt"
	"strings"
)

// part is a piece of a report that every form can draw.
type part struct {
	title    string     // "": it goes on from the part before
	below    bool       // the title stands below that of an earlier part
	intro    []string   // before the table
	table    comparison // without rows: none
	notes    []string   // after it
	verbatim string     // last, line by line as it is
}

// parts prints pieces for a terminal.
func (p *printer) parts(parts []part) {
	for _, piece := range parts {
		switch {
		case piece.title == "":
		case piece.below:
			p.line("")
			p.line(piece.title)
		default:
			p.section(piece.title)
		}
		for _, line := range piece.intro {
			p.wrapped("  ", line)
		}
		p.comparison(piece.table)
		for _, line := range piece.notes {
			p.wrapped("  ", line)
		}
		if piece.verbatim != "" {
			p.line("")
			p.out.WriteString(piece.verbatim)
		}
	}
}

func markdownParts(out *bytes.Buffer, parts []part) {
	for _, piece := range parts {
		if piece.title != "" {
			level := "##"
			if piece.below {
				level = "###"
			}
			fmt.Fprintf(out, "\n%s %s\n", level, escape(piece.title))
		}
		for _, line := range piece.intro {
			fmt.Fprintf(out, "\n%s\n", escape(line))
		}
		markdownTable(out, piece.table)
		if len(piece.notes) > 0 {
			out.WriteString("\n")
		}
		for _, line := range piece.notes {
			fmt.Fprintf(out, "- %s\n", escape(line))
		}
		if piece.verbatim != "" {
			fence := strings.Repeat("`", 3)
			for strings.Contains(piece.verbatim, fence) {
				fence += "`"
			}
			fmt.Fprintf(out, "\n%stext\n%s%s\n", fence, piece.verbatim, fence)
		}
	}
}
