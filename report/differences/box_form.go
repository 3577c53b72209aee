package differences

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
)

// WriteMachineCheck prints the check for a terminal or as Markdown.
func WriteMachineCheck(w io.Writer, b *versus.MachineCheck, form table.Format, opts table.Options) error {
	if form == table.ForJSON {
		return MachineCheckJSON(w, b)
	}

	counts := b.Counts()
	var words []string
	for _, state := range []versus.FactState{
		versus.FactSame, versus.FactDiffers, versus.FactFixed, versus.FactMissing,
		versus.FactUnknown,
	} {
		if counts[state] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[state], state))
		}
	}

	p := table.Piece{
		Title: "This machine compared with that of " + text.Clean(b.Origin),
		Intro: []string{strings.Join(words, ", ")},
	}
	p.Table = table.Table{Keys: []int{0, 3}, Columns: []table.Column{
		table.Words("what"), table.Words("origin"),
		table.Words("here"), table.Words("state"), table.Words("shows in"),
	}}
	for _, f := range b.Facts {
		p.Table.Rows = append(p.Table.Rows, table.NewRow(
			text.Clean(f.What), table.OrMissing(text.Clean(f.Origin)), table.OrMissing(text.Clean(f.Here)),
			string(f.State), table.OrMissing(f.Touches),
		))
	}

	for _, note := range b.Notes {
		p.Notes = append(p.Notes, text.Clean(note))
	}

	for _, problem := range b.Problems {
		p.Notes = append(p.Notes, "cannot run here: "+text.Clean(problem))
	}

	return table.Print(w, []table.Piece{p}, form, opts)
}

// MachineCheckJSON prints the check for programs.
func MachineCheckJSON(w io.Writer, b *versus.MachineCheck) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(b)
}
