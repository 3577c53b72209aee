package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// writer writes records that spreadsheets read as text and numbers, never as
// formulas, and that do not command a terminal.
type writer struct{ csv *csv.Writer }

func newWriter(w io.Writer) writer { return writer{csv.NewWriter(w)} }

func (w writer) write(record []string) error {
	safe := make([]string, len(record))
	for i, field := range record {
		safe[i] = withoutFormula(text.WithoutCommands(field))
	}

	return w.csv.Write(safe)
}

func (w writer) flush() error {
	w.csv.Flush()

	return w.csv.Error()
}

// withoutFormula puts an apostrophe before text that a spreadsheet would run:
// it begins with =, +, - or @ (or a blank that is cut off before them). Numbers
// stay as they are.
func withoutFormula(field string) string {
	start := strings.TrimLeft(field, " \t\r\n")
	if start == "" || !strings.ContainsRune("=+-@", rune(start[0])) {
		return field
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil {
		return field
	}

	return "'" + field
}
