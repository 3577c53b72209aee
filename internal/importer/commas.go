package importer

import (
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/metrics/catalog"
)

func isCount(label string) bool {
	t, understood := labelled(label, false)
	return understood && t.counts()
}

// counts says that a figure is a whole number.
func (t target) counts() bool {
	f, err := catalog.Find(t.name)
	return t.stat == "" && err == nil && f.Whole && f.Unit == ""
}

// valuesOf are the values of a text: of its blocks and tables.
func valuesOf(lines []textLine) []plain.Value {
	var values []plain.Value
	var heads []string
	for _, l := range lines {
		text := plainText(withoutQuote(l.text))
		if strings.HasPrefix(text, "|") {
			cells := cellsOf(text)
			if heads == nil {
				heads = cells
			}
			for i, cell := range cells {
				// a table has a figure in each column, or in each row
				count := i < len(heads) && isCount(heads[i]) || isCount(cells[0])
				values = append(values, plain.Value{Text: cell, Count: count})
			}
			continue
		}

		heads = nil
		if m := blockLine.FindStringSubmatch(text); m != nil {
			values = append(values, plain.Value{Text: m[2], Count: isCount(m[1])})
		}
	}
	return values
}
