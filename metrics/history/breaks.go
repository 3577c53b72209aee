package history

import (
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
)

// enoughRuns is how many runs each side of a break needs for their means to be
// compared: the days between runs vary more than server starts of one run.
const enoughRuns = 3

// changeBook keeps what differs between two cells: it is the same for every
// figure.
type changeBook map[[2]*compare.Cell]recordedChange

type recordedChange struct {
	differ []versus.Change
	never  string
}

func (b changeBook) between(before, after Entry) recordedChange {
	key := [2]*compare.Cell{before.cell, after.cell}
	c, known := b[key]
	if !known {
		c.differ, c.never = versus.Between(before.run, after.run, *before.cell, *after.cell)
		b[key] = c
	}
	return c
}

// findBreaks finds the places at which settings changed, and between these the
// places at which the level did without them.
func (s *Series) findBreaks(rule compare.Rule, changes changeBook) {
	for i := 1; i < len(s.Entries); i++ {
		c := changes.between(s.Entries[i-1], s.Entries[i])
		if len(c.differ) > 0 || c.never != "" {
			s.Breaks = append(s.Breaks, Break{At: i, Recorded: c.differ, NotCompared: c.never})
		}
	}

	ends := []int{0}
	for _, b := range s.Breaks {
		ends = append(ends, b.At)
	}
	ends = append(ends, len(s.Entries))
	for i := range s.Breaks {
		if b := &s.Breaks[i]; b.NotCompared == "" {
			b.Difference, b.OfRuns = s.across(ends[i], ends[i+1], ends[i+2], rule)
		}
	}

	for i := 1; i < len(ends); i++ {
		first, last := ends[i-1], ends[i]
		for _, found := range compare.Shifts(s.Figure.Name, s.Figure.Higher, s.means(first, last), rule) {
			s.Breaks = append(s.Breaks, Break{
				At: first + found.At, OfRuns: true, Searched: true, Difference: found.Difference,
			})
		}
	}
	slices.SortStableFunc(s.Breaks, func(a, b Break) int { return a.At - b.At })
}

// across compares the entries from first to the one before at with those from at
// to the one before last.
func (s *Series) across(first, at, last int, rule compare.Rule) (d compare.Difference, ofRuns bool) {
	before, after := s.Entries[at-1].Values, s.Entries[at].Values
	if at-first >= enoughRuns && last-at >= enoughRuns {
		before, after, ofRuns = s.means(first, at), s.means(at, last), true
	}
	return compare.Compare(s.Figure.Name, s.Figure.Higher, compare.Sample{Values: before},
		compare.Sample{Values: after}, rule), ofRuns
}

// means are those of the entries from first to the one before last.
func (s *Series) means(first, last int) []float64 {
	var means []float64
	for _, e := range s.Entries[first:last] {
		means = append(means, metrics.Mean(e.Values))
	}
	return means
}

// BreakAt is the break before an entry, if there is one.
func (s *Series) BreakAt(at int) (b Break, ok bool) {
	i := slices.IndexFunc(s.Breaks, func(b Break) bool { return b.At == at })
	if i < 0 {
		return Break{}, false
	}
	return s.Breaks[i], true
}

// Changed reports whether the level of the figure changed there.
func (b *Break) Changed() bool { return b.Verdict == compare.Better || b.Verdict == compare.Worse }

// judge gives all breaks their verdicts together: of many series one breaks by
// chance.
func judge(all []Series, rule compare.Rule) {
	var differences []compare.Difference
	var places []*Break
	for i := range all {
		for j := range all[i].Breaks {
			if b := &all[i].Breaks[j]; b.NotCompared == "" {
				differences, places = append(differences, b.Difference), append(places, b)
			}
		}
	}
	compare.Judge(differences, rule)
	for i, b := range places {
		b.Difference = differences[i]
	}
	for i := range all {
		all[i].Breaks = slices.DeleteFunc(all[i].Breaks, func(b Break) bool {
			return b.Searched && !b.Changed()
		})
	}
}
