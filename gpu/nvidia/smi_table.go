package nvidia

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// smiTable is what a query of nvidia-smi printed: a header, and a row for
// each GPU or process. Cells are found by the name in the header, because
// names were changed and columns can be left out.
type smiTable struct {
	names []string
	rows  []smiRow
}

// smiRow is one line. Its cells match the names of its table.
type smiRow struct {
	names []string
	cells []string
}

// parseSMITable reads a table that was printed with its header. Text without
// one, which is how nvidia-smi reports errors, is an error with that text. A
// message among rows, about a GPU that was lost, does not hide the others.
func parseSMITable(out []byte) (smiTable, error) {
	var table smiTable
	var unread error // of the first line that is not a row
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "":
		case table.names == nil:
			names := smiHeader(text)
			if names == nil {
				return smiTable{}, fmt.Errorf("nvidia-smi: %q is not a table", device.Clip(text))
			}
			table.names = names
		default:
			row, err := newSMIRow(table.names, text)
			if err != nil {
				unread = cmp.Or(unread, err)
				continue
			}
			table.rows = append(table.rows, row)
		}
	}

	if len(table.rows) == 0 && unread != nil {
		return smiTable{}, unread
	}
	if table.names == nil {
		return smiTable{}, fmt.Errorf("nvidia-smi: it printed nothing")
	}

	return table, nil
}

// smiHeader is the names of the columns without their units; nil if the line
// is not a header. Names of properties have no spaces, sentences have.
func smiHeader(line string) []string {
	var names []string
	for cell := range strings.SplitSeq(line, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(cell), " [")
		if name == "" || strings.ContainsAny(name, " :'\"") || name != strings.ToLower(name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// newSMIRow splits a line. A name of a GPU or process may hold commas: cells
// too many belong to the column whose name ends in "name".
func newSMIRow(names []string, line string) (smiRow, error) {
	cells := strings.Split(line, ",")
	wide := slices.IndexFunc(names, func(name string) bool {
		return name == "process_name" || name == "name" || name == "gpu_name"
	})

	if at := slices.Index(names, "process_name"); at >= 0 {
		wide = at
	}
	if extra := len(cells) - len(names); extra > 0 && wide >= 0 {
		joined := strings.Join(cells[wide:wide+extra+1], ",")
		cells = slices.Replace(cells, wide, wide+extra+1, joined)
	}
	if len(cells) != len(names) {
		return smiRow{}, fmt.Errorf("nvidia-smi: %q is not a row of %d cells", device.Clip(line), len(names))
	}

	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}

	return smiRow{names: names, cells: cells}, nil
}

// text is the cell under the first of names that has something in it; "" if
// none has, or nvidia-smi says that it does not know.
func (r smiRow) text(names ...string) string {
	for _, name := range names {
		if at := slices.Index(r.names, name); at >= 0 {
			if cell := known(r.cells[at]); cell != "" {
				return cell
			}
		}
	}
	return ""
}

// number is the number in the cell, without its unit; nil if there is none.
func (r smiRow) number(names ...string) *float64 {
	for _, name := range names {
		cell, _, _ := strings.Cut(r.text(name), " ")
		n, err := strconv.ParseFloat(cell, 64)
		if err == nil && n >= 0 && n < 1e15 { // excludes NaN and infinities
			return &n
		}
	}
	return nil
}

// scaled is a number times a unit; nil stays nil.
func scaled(n *float64, unit float64) *float64 {
	if n == nil {
		return nil
	}
	product := *n * unit
	return &product
}

// switched is a cell of "Enabled" or "Disabled".
func (r smiRow) switched(name string) *bool {
	switch r.text(name) {
	case "Enabled":
		return new(true)
	case "Disabled":
		return new(false)
	}
	return nil
}

// mebibytesOf is a cell of MiB in bytes; nil if it holds none. 0 is a value.
func (r smiRow) mebibytesOf(name string) *int64 {
	n := r.number(name)
	if n == nil || *n > 1<<40 {
		return nil
	}
	size := int64(*n * mebibyte)
	return &size
}
