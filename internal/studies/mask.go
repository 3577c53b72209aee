package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	numbers  = regexp.MustCompile(`[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?`)
	verdicts = regexp.MustCompile(`\b(better|worse|no difference|ok|suspect|cannot tell(: [^|]*)?|undefined[^|]*)`)
	reasons  = regexp.MustCompile(`\b(failed|not run): ([a-z-]+)[:;].*`) // the class stays
	noise    = regexp.MustCompile(`\*\*|\\~|~|\?| ±`)
	blanks   = regexp.MustCompile(`[ -]+`)
	cells    = regexp.MustCompile(`:? ?\| ?:?`)
)

// masked are the lines of a page without what may differ from run to run:
// figures, marks of the best and of doubts, verdicts, the words of a failure, and
// remarks on single steps.
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
		line = cells.ReplaceAllString(line, "|")
		if line = strings.TrimSpace(line); line != "" && line != "#" {
			out = append(out, line)
		}
	}

	return out
}

// difference tells the first lines in which two pages differ; "" where they
// are equal, figures aside.
func difference(old, fresh string) string {
	a, b := masked(old), masked(fresh)
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("  checked in: %s\n  fresh:      %s", x, y)
		}
	}
	return ""
}
