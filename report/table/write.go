package table

import (
	"bytes"
	"io"
)

// Format is a form of the output, as --format names it.
type Format string

// The forms. Print draws the first two; what has a form in JSON writes that itself.
const (
	ForTerminal Format = "table"
	ForMarkdown Format = "markdown"
	ForJSON     Format = "json"
)

// Print prints pieces in a form.
func Print(w io.Writer, pieces []Piece, form Format, opts Options) error {
	if form == ForMarkdown {
		out := &bytes.Buffer{}
		MarkdownPieces(out, pieces)
		_, err := w.Write(bytes.TrimLeft(out.Bytes(), "\n"))

		return err
	}

	p := NewPrinter(opts)
	p.Pieces(pieces)
	return p.Flush(w)
}
