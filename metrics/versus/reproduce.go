package versus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// ReproduceOptions say how a reproduction is judged.
type ReproduceOptions struct {
	Margin float64  // smallest relative difference of interest; 0: that of the origin's scenario
	Spread float64  // relative deviation between server starts, where neither run shows it; 0: not stated
	Steps  []string // ids that were to be repeated; nil: all
}

// Reproduction sets a run beside the one that it repeats.
type Reproduction struct {
	Origin, Here *results.Run
	Rule         compare.AgreeRule

	Cells   []Reproduced
	Figures []catalog.Figure
	Configs Against // what differs in configuration
	Notes   []string
}

// Reproduced is a variant at a point, on both sides.
type Reproduced struct {
	Origin, Here compare.Cell
	NotCompared  string   // why nothing of it is compared; "": it is
	Failed       bool     // here, and not at the origin
	Notes        []string // what readers must know
	Figures      []*compare.Agreement
	Reasons      []string // why a figure is not comparable, by its place; "": it is
}

// Tally counts what became of a reproduction's figures. Failed counts variants
// at a point that have figures at the origin and none here.
type Tally struct {
	Agree, Differ, CannotTell, NotComparable, Failed int
}

// Reproduce compares a run with the one that it repeats. The server life is
// the unit, as everywhere.
func Reproduce(origin, here *results.Run, o ReproduceOptions) (*Reproduction, error) {
	base := RuleOf(origin.Manifest)
	r := &Reproduction{
		Origin: origin, Here: here,
		Rule: compare.AgreeRule{Confidence: base.Confidence, Margin: base.Margin, Power: base.Power, Spread: o.Spread},
	}
	if o.Margin > 0 {
		r.Rule.Margin = o.Margin
	}

	sides := []Side{{Name: "origin", Run: origin}, {Name: "here", Run: here}}
	all, judged, err := FiguresOf(sides, nil)
	if err != nil {
		return nil, err
	}

	r.Figures = all
	if !samePrices(origin, here) {
		judged = slices.DeleteFunc(judged, func(f catalog.Figure) bool { return strings.Contains(f.Name, "cost") })
		r.Notes = append(r.Notes, "costs are not compared: the prices differ")
	}

	r.Configs = Against{Delta: runChanges(origin, here)}
	matches, notes := matchCells(wantedCells(origin, o.Steps), wantedCells(here, o.Steps), nil)
	r.Notes = append(r.Notes, notes...)
	for _, m := range matches {
		r.Configs.Delta = gather(r.Configs.Delta, m.with.Variant, cellChanges(m.base, m.with))
		r.Cells = append(r.Cells, r.compare(m, judged))
	}

	r.Configs.Things = things(r.Configs.Delta)
	var together []*compare.Agreement
	for _, c := range r.Cells {
		together = append(together, c.Figures...)
	}

	compare.JudgeAgreements(together, r.Rule)

	return r, nil
}

func samePrices(a, b *results.Run) bool {
	text := func(run *results.Run) string {
		data, err := json.Marshal([]any{run.Manifest.Price, run.Manifest.Prices})
		if err != nil {
			return ""
		}
		return string(data)
	}
	return text(a) == text(b)
}

// wantedCells are the cells of a run, of some steps only if they are named.
func wantedCells(run *results.Run, ids []string) []compare.Cell {
	all := InOrder(run)
	steps := all
	if ids != nil {
		steps = slices.DeleteFunc(slices.Clone(all), func(s *results.Result) bool {
			return !slices.ContainsFunc(all, func(w *results.Result) bool {
				return slices.Contains(ids, w.Step.ID) && w.Step.Variant == s.Step.Variant &&
					w.Step.Point == s.Step.Point
			})
		})
	}
	return compare.CellsOf(run.Manifest, steps)
}

// compare judges the figures of one cell, each by itself.
func (r *Reproduction) compare(m matched, figures []catalog.Figure) Reproduced {
	origin, here, notes := sameReading(m.base, m.with)
	c := Reproduced{Origin: m.base, Here: m.with, Notes: notes, NotCompared: kindDiffers(m.base, m.with)}
	switch {
	case c.NotCompared != "":
		return c
	case len(here.Counted) == 0 && len(origin.Counted) == 0:
		c.NotCompared = fmt.Sprintf("no figures on either side: origin %s; here %s",
			strings.Join(Uncounted(origin), "; "), strings.Join(Uncounted(here), "; "))
		return c
	case len(here.Counted) == 0:
		c.Failed = true
		c.NotCompared = "no figures here: " + strings.Join(Uncounted(here), "; ")
		return c
	case len(origin.Counted) == 0:
		c.NotCompared = "the origin has no figures: " + strings.Join(Uncounted(origin), "; ")
		return c
	}

	if c.NotCompared = settingsDiffer(m.base, m.with); c.NotCompared != "" {
		return c
	}

	origin, here, notes = pairedByPrompts(origin, here)
	c.Notes = append(c.Notes, notes...)
	c.Notes = append(c.Notes, sideRemarks("origin", m.base)...)
	c.Notes = append(c.Notes, sideRemarks("here", m.with)...)
	for _, f := range figures {
		o, h := origin.PerLife(f.Of), here.PerLife(f.Of)
		if o == nil && h == nil {
			continue
		}
		a := compare.Agree(f.Name, compare.Sample{Name: "origin", Values: o}, compare.Sample{Name: "here", Values: h},
			compare.BoundOf(f), r.Rule)
		c.Figures, c.Reasons = append(c.Figures, &a), append(c.Reasons, unknownSide(o, h, a))
	}

	return c
}

// pairedByPrompts leaves the repeats of each side whose prompts the other has
// too: where each repeat has prompts of its own, one that is lacking here would
// otherwise be compared with another's. Of sides that share none, or do not tell,
// nothing is left out.
func pairedByPrompts(origin, here compare.Cell) (compare.Cell, compare.Cell, []string) {
	var notes []string
	shared := func(side string, c compare.Cell, with []string) compare.Cell {
		counted := slices.DeleteFunc(slices.Clone(c.Counted), func(r *results.Result) bool {
			return r.Asked.DatasetSHA256 != "" && !slices.Contains(with, r.Asked.DatasetSHA256)
		})
		if left := len(c.Counted) - len(counted); left > 0 && len(counted) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s left out, whose prompts the other side has not", side,
				text.Count(left, "repeat")))
			c.Counted = counted
		}
		return c
	}

	ours, theirs := hashesOf(origin.Counted), hashesOf(here.Counted)
	if len(ours) == 0 || len(theirs) == 0 {
		return origin, here, nil
	}
	origin, here = shared("origin", origin, theirs), shared("here", here, ours)
	return origin, here, notes
}

func sideRemarks(side string, c compare.Cell) []string {
	var all []string
	for _, note := range sideNotes(c) {
		all = append(all, side+": "+note)
	}
	return all
}

func unknownSide(origin, here []float64, a compare.Agreement) string {
	switch {
	case a.Verdict != compare.NotComparable:
		return ""
	case origin == nil:
		return "a repeat of the origin does not have it"
	case here == nil:
		return "a repeat here does not have it"
	}
	return "0 at the origin"
}

// Tally counts the verdicts.
func (r *Reproduction) Tally() Tally {
	var t Tally
	for _, c := range r.Cells {
		if c.Failed {
			t.Failed++
		}
		for _, a := range c.Figures {
			switch a.Verdict {
			case compare.Agrees:
				t.Agree++
			case compare.Differs:
				t.Differ++
			case compare.Undecided:
				t.CannotTell++
			case compare.NotComparable:
				t.NotComparable++
			}
		}
	}

	return t
}

// Headline says in one line what came of it.
func (r *Reproduction) Headline() string {
	t := r.Tally()
	counts := fmt.Sprintf("%d agree, %d differ, %d undecided, %d not comparable", t.Agree, t.Differ, t.CannotTell,
		t.NotComparable)
	never := 0
	for _, c := range r.Cells {
		if c.NotCompared != "" && !c.Failed {
			never++
		}
	}

	if t.Failed > 0 {
		counts += fmt.Sprintf("; %s failed here", text.Count(t.Failed, "point"))
	}

	if never > 0 {
		counts += fmt.Sprintf("; %s not compared", text.Count(never, "point"))
	}

	switch {
	case t.Differ > 0:
		return "DIFFERS: " + counts
	case t.Failed > 0:
		return "NOT REPRODUCED: " + counts
	case t.Agree == 0:
		return "CANNOT TELL: " + counts
	case t.CannotTell+t.NotComparable+never > 0:
		return "NO DIFFERENCE FOUND, SOME UNDECIDED: " + counts
	}

	return "AGREES: " + counts
}
