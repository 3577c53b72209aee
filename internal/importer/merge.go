package importer

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// sharedFigures is how many figures two places must have in common, all equal, to
// state the same result.
const sharedFigures = 3

// printedFigures returns the figures of a result as they were printed.
func printedFigures(e *stated.Entry) map[string]string {
	all := make(map[string]string)
	for _, s := range e.Origin.Stated {
		if t, ok := labels.Of(s.Label, false); ok && t.IsFigure() && s.As != "" {
			all[s.As] = plain.Cell(s.Text)
		}
	}
	return all
}

// mergeSame makes one result of those that a text states twice: a table that sums up
// the blocks below it would otherwise count each of them again.
func mergeSame(entries []*stated.Entry) []*stated.Entry {
	const most = 2000 // entries, of which every pair is compared
	if len(entries) > most {
		return entries
	}

	figures := make([]map[string]string, len(entries))
	for i, e := range entries {
		figures[i] = printedFigures(e)
	}

	gone := make([]bool, len(entries))
	for i := range entries {
		for k := range entries {
			if i == k || gone[i] || gone[k] || !within(entries[i], entries[k], figures[i], figures[k]) {
				continue
			}
			if len(figures[i]) == len(figures[k]) && i < k {
				continue // of two that state as much the first stays
			}
			entries[k].Absorb(entries[i])
			gone[i] = true
		}
	}

	var left []*stated.Entry
	for i, e := range entries {
		if !gone[i] {
			left = append(left, e)
		}
	}

	return left
}

// within reports whether b states everything that a does.
func within(a, b *stated.Entry, figures, others map[string]string) bool {
	if a.OfProgram() || b.OfProgram() || a.Own != nil || b.Own != nil || len(figures) < sharedFigures ||
		len(figures) > len(others) {
		return false
	}
	if a.Table != 0 && a.Table == b.Table {
		return false // rows of one table are results of their own
	}

	for name, text := range figures {
		if others[name] != text {
			return false
		}
	}

	for _, name := range []string{
		"max_concurrency", "request_rate", "num_prompts", "input_len", "output_len", "burstiness",
	} {
		if a.IsStated(name) && b.IsStated(name) && a.SettingText(name) != b.SettingText(name) {
			return false
		}
	}

	return true
}

// withoutCopies leaves out results of a variant and point that were read before: two
// files, or two places of one, may hold the same measurement, which must not count
// as a repeat of itself. Results of one moment whose values are all equal are the same
// measurement.
func withoutCopies(all []*stated.Entry) []*stated.Entry {
	first := make(map[string]*stated.Entry)
	again := func(key string, e *stated.Entry) bool {
		key = fmt.Sprintf("%q %q %s", e.Ref.Variant, e.Ref.Point, key)
		before, known := first[key]
		if !known {
			first[key] = e
			return false
		}
		before.Warn(results.WarnImported, "%s, line %d, has a result of it once more; it counts once", e.Origin.File,
			e.Origin.Line)
		return true
	}

	return slices.DeleteFunc(all, func(e *stated.Entry) bool {
		switch {
		case e.Own != nil:
			return again(fmt.Sprint("bench\x00", e.Own.Run, "\x00", e.Own.Step), e)
		case e.Rows != nil:
			e.Rows = slices.DeleteFunc(e.Rows, func(r results.LlamaBenchRow) bool {
				return r.Rest["test_time"] != "" && again(fmt.Sprintf("llama-bench\x00%#v", rowValues(r)), e)
			})
			return len(e.Rows) == 0
		case e.Date != "":
			return again(fmt.Sprintf("%s\x00%q", e.Origin.Format, statedTexts(e)), e)
		}
		return false
	})
}

// rowValues returns all values of a row.
func rowValues(r results.LlamaBenchRow) []any {
	return []any{r.Test, r.TokensPerS, r.SamplesS, fmt.Sprint(r.Rest), fmt.Sprint(r.Settings())}
}

// statedTexts returns all labels and values of a result, sorted.
func statedTexts(e *stated.Entry) []string {
	var texts []string
	for _, s := range e.Origin.Stated {
		texts = append(texts, s.Label+"="+s.Text)
	}
	slices.Sort(texts)
	return texts
}
