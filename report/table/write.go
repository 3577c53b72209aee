package table

import (
	"bytes"
	"io"
)

// Format says how tables are drawn.
type Format string

// The forms.
const (
	ForTerminal Format = "terminal"
	ForMarkdown Format = "markdown"
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
