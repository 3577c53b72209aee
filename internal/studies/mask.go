package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	numbers  = regexp.MustCompile(`[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?`)
	verdicts = regexp.MustCompile(`\b(better|worse|no difference|ok|suspect|cannot tell( \([^|)]*\))?(: [^|]*)?|undefined[^|]*)`)
	reasons  = regexp.MustCompile(`\b(failed|not run): ([a-z-]+)[:;].*`) // the class stays
	noise    = regexp.MustCompile(`\*\*|\\~|~|\?| ±`)
	blanks   = regexp.MustCompile(`[ -]+`)
	cells    = regexp.MustCompile(`:? ?\| ?:?`)
	rule     = regexp.MustCompile(`─+`)
	// what a cell without words comes to: a figure, an interval, a share, or that it is not known
	figures = regexp.MustCompile(`^[N %/,.#()]*(?:to [N %/,.#()]*)?$`)
)

// masked are the lines of a page without what may differ from run to run:
// figures, also whether one is known, marks of the best and of doubts, verdicts,
// the words of a failure, the width of a table, and remarks on single steps.
func masked(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "- `") {
			continue // remarks below a table, and lists
		}
		line = verdicts.ReplaceAllString(line, "VERDICT")
		line = reasons.ReplaceAllString(line, "$1: $2")
		line = noise.ReplaceAllString(line, "")
		line = numbers.ReplaceAllString(line, "N")
		line = blanks.ReplaceAllString(line, " ")
		line = maskCells(rule.ReplaceAllString(cells.ReplaceAllString(line, "|"), "─"))
		if line = strings.TrimSpace(line); line != "" && line != "#" {
			out = append(out, line)
		}
	}

	return out
}

// maskCells puts one mark in the place of every cell of a table's row that has no
// word: on a busy machine a figure may not be known, or lack its interval.
func maskCells(line string) string {
	if !strings.HasPrefix(line, "|") {
		return line
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, part := range parts {
		if figures.MatchString(part) {
			parts[i] = "N"
		}
	}
	return "|" + strings.Join(parts, "|") + "|"
}

// difference shows all lines in which two pages differ, figures aside; "" where
// they are equal.
func difference(old, fresh string) string {
	a, b := masked(old), masked(fresh)
	if slices.Equal(a, b) {
		return ""
	}

	common := commonTails(a, b)
	var out strings.Builder
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && common[i+1][k] >= common[i][k+1]:
			fmt.Fprintf(&out, "  checked in: %s\n", a[i])
			i++
		default:
			fmt.Fprintf(&out, "  fresh:      %s\n", b[k])
			k++
		}
	}

	return strings.TrimSuffix(out.String(), "\n")
}

// commonTails holds for each pair of positions how many lines the longest common
// sequence from there on has.
func commonTails(a, b []string) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, old := range slices.Backward(a) {
		for k, fresh := range slices.Backward(b) {
			if old == fresh {
				common[i][k] = common[i+1][k+1] + 1
			} else {
				common[i][k] = max(common[i+1][k], common[i][k+1])
			}
		}
	}
	return common
}
