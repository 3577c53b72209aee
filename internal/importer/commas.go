package importer

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
)

func isCount(label string) bool {
	t, understood := labelled(label, false)
	return understood && t.counts()
}

// counts says that a figure is a whole number.
func (t target) counts() bool {
	const counts = "completed failed total_input_tokens total_output_tokens peak_concurrent_requests"
	return t.stat == "" && slices.Contains(strings.Fields(counts), t.name)
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
