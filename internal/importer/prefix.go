package importer

import (
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
)

var (
	titleWithin = regexp.MustCompile(`={4,} ?Serving Benchmark Result ?={4,}`)
	digits      = regexp.MustCompile(`\d+`)
)

// withoutPrefixes cuts off what a log puts before each line of a block and before the
// lines above it: the mark of a comment, a time, the name of a container. Numbers in
// it may differ from line to line.
func withoutPrefixes(lines []plain.Line) {
	const longest = 200
	for i, l := range lines {
		at := titleWithin.FindStringIndex(l.Text)
		if at == nil || at[0] > longest || strings.TrimSpace(l.Text[:at[0]]) == "" {
			continue
		}

		prefix := strings.TrimRight(l.Text[:at[0]], " ")
		before := regexp.MustCompile("^" + digits.ReplaceAllString(regexp.QuoteMeta(prefix), `\d+`) + " ?")
		cut := func(k int) (more bool) {
			found := before.FindString(lines[k].Text)
			lines[k].Text = lines[k].Text[len(found):]
			return found != ""
		}
		for k := i - 1; k >= 0 && !blockEnd.MatchString(lines[k].Text) && cut(k); k-- {
		}
		for k := i; k < len(lines) && cut(k) && !blockEnd.MatchString(lines[k].Text); k++ {
		}
	}
}
