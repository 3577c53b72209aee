package table

import (
	"bytes"
	"strings"
	"testing"
)

// Names and codes come from files that anybody may have written, and a program that
// lays out a report need not think of that.
func TestNothingCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;title\x07\x1b[2J\x1b[8m\u009b31m\u202e<b>"
	pieces := []Piece{{
		Title: "a" + evil, Intro: []string{"b" + evil}, Notes: []string{"c" + evil}, Verbatim: "d" + evil + "\n",
		Table: Table{
			Columns: []Column{{Head: "e" + evil, Text: true}}, Legend: []string{"f" + evil},
			Rows: []Row{{Cells: []Cell{{Text: "g" + evil}}}},
		},
	}}

	for name, opts := range map[string]Options{"plain": {}, "colours": {Color: true}} {
		var out strings.Builder
		if err := Print(&out, pieces, ForTerminal, opts); err != nil {
			t.Fatal(err)
		}
		shown := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(out.String())
		if strings.ContainsAny(shown, "\x1b\x07\u009b\u202e") {
			t.Errorf("%s: %q", name, out.String())
		}
	}

	var out bytes.Buffer
	MarkdownPieces(&out, pieces)
	if strings.ContainsAny(out.String(), "\x1b\x07\u009b\u202e") {
		t.Errorf("Markdown: %q", out.String())
	}
}
