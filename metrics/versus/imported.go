package versus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// isImported reports whether another program than bench measured a step of the cell.
func isImported(c compare.Cell) bool {
	return slices.ContainsFunc(c.Steps, func(r *results.Result) bool { return !r.MeasuredByBench() })
}

// readingOf is the generation of vLLM's client by whose definitions a cell's
// figures were computed elsewhere; "": by ours, or it is not known.
func readingOf(c compare.Cell) results.Generation {
	for _, r := range c.Counted {
		if r.Imported != nil {
			return r.Imported.Reading
		}
	}
	return ""
}

// sameReading gives two cells figures of one reading where one of them was
// imported from vLLM's client and the other measured here: ours has that
// client's figures too. The note says so, or why it could not be done.
func sameReading(base, with compare.Cell) (compare.Cell, compare.Cell, []string) {
	b, w := isImported(base), isImported(with)
	if b == w {
		return base, with, nil
	}

	theirs, ours := &base, &with
	if w {
		theirs, ours = &with, &base
	}

	g := readingOf(*theirs)
	if g == "" {
		return base, with, []string{fmt.Sprintf("%s was imported and does not say which definitions its figures "+
			"follow; %s follows bench's", text.Clean(theirs.Variant), text.Clean(ours.Variant))}
	}

	read, ok := asReadBy(*ours, g)
	if !ok {
		return base, with, []string{fmt.Sprintf("%s follows the definitions of %s, which %s was not evaluated by: "+
			"bench's figures are shown beside it",
			text.Clean(theirs.Variant), g, text.Clean(ours.Variant))}
	}

	*ours = read

	return base, with, []string{fmt.Sprintf("%s was imported from vLLM's client; the figures of %s are those that "+
		"this client (%s) would have shown, not bench's", text.Clean(theirs.Variant), text.Clean(ours.Variant), g)}
}

// asReadBy replaces the figures of a cell's steps by those of a generation of
// vLLM's client; ok is false where a step has none.
func asReadBy(c compare.Cell, g results.Generation) (compare.Cell, bool) {
	steps, counted := slices.Clone(c.Steps), slices.Clone(c.Counted)
	for i, r := range c.Counted {
		reading, known := r.Compat[g]
		if r.Figures == nil || !known {
			return c, false
		}
		read, figures := *r, reading.Over(*r.Figures)
		read.Figures = &figures
		counted[i] = &read
		if at := slices.Index(steps, r); at >= 0 {
			steps[at] = &read
		}
	}

	c.Steps, c.Counted = steps, counted
	return c, true
}

// unknownOf replaces facts that an imported side does not state: they are not
// known, which is not the same as being equal.
func unknownOf(imported bool, facts map[string]string) map[string]string {
	if !imported {
		return facts
	}
	for name, value := range facts {
		if value == "" {
			facts[name] = NotKnown
		}
	}
	return facts
}

// recipeUnknown reports whether a step does not say how its server was started.
func recipeUnknown(r *results.Result) bool {
	return r != nil && r.Imported != nil && (len(r.Servers) == 0 || len(r.Servers[0].Argv) == 0)
}

// unknownRecipe is what differs between recipes of which one is not known; ok
// is false where both are.
func unknownRecipe(base, with *results.Result) (changes []Change, ok bool) {
	b, w := recipeUnknown(base), recipeUnknown(with)
	switch {
	case !b && !w:
		return nil, false
	case b && w:
		return nil, true
	}
	text := func(r *results.Result, unknown bool) string {
		if unknown || r == nil || len(r.Servers) == 0 {
			return NotKnown
		}
		return strings.Join(r.Servers[0].Argv, " ")
	}
	return []Change{{"server's command", beginningOf(text(base, b)), beginningOf(text(with, w))}}, true
}

func beginningOf(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return text
}

// unknownOnBoth lists what neither side states, so that nobody takes it for
// equal.
func unknownOnBoth(base, with *results.Run, b, w *results.Result) []string {
	if b == nil || w == nil || b.MeasuredByBench() && w.MeasuredByBench() {
		return nil
	}

	var names []string
	if RunFacts(base) == nil && RunFacts(with) == nil {
		names = append(names, "machine")
	}

	if recipeUnknown(b) && recipeUnknown(w) {
		names = append(names, "server's command")
	}

	if versionOf(b) == "" && versionOf(w) == "" {
		names = append(names, "engine version")
	}

	for _, setting := range LoadSettings(b.Asked) {
		if !b.IsStated(setting.Key) && !w.IsStated(setting.Key) {
			names = append(names, "load "+setting.Name)
		}
	}

	if b.Asked.DatasetSHA256 == "" || w.Asked.DatasetSHA256 == "" {
		names = append(names, "whether the prompts are the same")
	}

	return names
}

func versionOf(r *results.Result) string {
	if len(r.Servers) == 0 {
		return ""
	}
	return r.Servers[0].Version
}
