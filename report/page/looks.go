package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/chart"
)

// slots is how many colours there are.
const slots = 8

// looks is how charts show each variant: the slot of its colour, and a name
// that is short enough for a legend.
type looks struct {
	slots  map[string]int
	names  map[string]string
	shared string // what all names begin and end with and the short ones leave out; "": nothing
}

// looksOf gives colours in the order of the scenario. Of more variants than
// there are colours only the leaders get one: a colour that stood for several
// variants would name the wrong one.
func looksOf(order, leaders []string) looks {
	l := looks{slots: make(map[string]int, len(order))}
	l.names, l.shared = shortNames(order)
	slot := 0
	for _, name := range order {
		l.slots[name] = chart.Rest
		if len(order) <= slots || slices.Contains(leaders[:min(slots, len(leaders))], name) {
			slot++
			l.slots[name] = slot
		}
	}

	return l
}

// slot is the colour of a variant, the same in all charts.
func (d *drawer) slot(variant string) int { return d.looks.slots[variant] }

// leaders are the variants in the order in which a reader looks for them: the
// best of each load point, whether ranked or not, the baseline, those on the
// Pareto front, then the second and third of each load point, and so on.
func (d *drawer) leaders() []string {
	var contests []versus.Contest
	if figure, ok := versus.StandingFigure(d.run); ok {
		contests = versus.Contests(d.run, figure)
	}

	var names []string
	for _, c := range contests {
		names = text.AppendNew(names, c.Best.Variant)
		if c.Unranked != nil {
			names = text.AppendNew(names, c.Unranked.Cell.Variant)
		}
	}

	names = text.AppendNew(names, versus.BaselineOf(d.run))
	t := curves.TradeOffOf(d.cells)
	for _, i := range t.Front {
		names = text.AppendNew(names, t.Cells[i].Variant)
	}

	for place := range d.order {
		for _, c := range contests {
			if place < len(c.Others) {
				names = text.AppendNew(names, c.Others[place].Cell.Variant)
			}
		}
	}

	for _, name := range d.order {
		names = text.AppendNew(names, name)
	}

	return names
}

// longName is from how many letters on names are shortened.
const longName = 24

// shortNames leaves out of long names what all begin and end with, up to a
// separator, and says what that is.
func shortNames(all []string) (names map[string]string, shared string) {
	names = make(map[string]string, len(all))
	longest := 0
	for _, name := range all {
		names[name] = text.Clean(name)
		longest = max(longest, utf8.RuneCountInString(names[name]))
	}
	if longest <= longName || len(all) < 2 {
		return names, ""
	}

	prefix, suffix := sharedEnds(names)
	if prefix+suffix == "" {
		return names, ""
	}

	for name, clean := range names {
		middle := strings.TrimSuffix(strings.TrimPrefix(clean, prefix), suffix)
		if prefix != "" {
			middle = "…" + middle
		}
		if suffix != "" {
			middle += "…"
		}
		names[name] = middle
	}

	return names, strings.Trim(prefix+"…"+suffix, "…")
}

// separators are where names may be cut.
const separators = "-_./: "

// sharedEnds are what all names begin and end with, with a separator towards
// what is left; "" where nothing would be left of one.
func sharedEnds(names map[string]string) (prefix, suffix string) {
	first := true
	for _, name := range names {
		if first {
			prefix, suffix, first = name, name, false
			continue
		}
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(name, suffix) {
			suffix = suffix[1:]
		}
	}

	prefix = prefix[:strings.LastIndexAny(prefix, separators)+1]
	if at := strings.IndexAny(suffix, separators); at >= 0 {
		suffix = suffix[at:]
	} else {
		suffix = ""
	}

	for _, name := range names {
		if len(prefix)+len(suffix) >= len(name) {
			return "", ""
		}
	}

	return prefix, suffix
}
