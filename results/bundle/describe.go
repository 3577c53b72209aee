package bundle

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// Describe says what was taken out and what was left out.
func (i *Index) Describe(w io.Writer) {
	for _, r := range i.Redactions {
		fmt.Fprintf(w, "redacted: %s: %s, %s\n", text.Clean(r.Name), text.Clean(r.What), text.Count(r.Count, "time"))
	}
	asked := map[string]int{}
	for _, l := range i.LeftOut {
		if strings.HasPrefix(l.Why, "without ") {
			asked[l.Why]++
			continue
		}
		fmt.Fprintf(w, "left out: %s: %s\n", text.Clean(l.Name), text.Clean(l.Why))
	}
	for _, why := range slices.Sorted(maps.Keys(asked)) {
		fmt.Fprintf(w, "left out: %s: %s\n", text.Count(asked[why], "file"), text.Clean(why))
	}
}
