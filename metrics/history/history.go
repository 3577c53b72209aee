package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// Entry is one run of a series.
type Entry struct {
	Run     string // as its side is called
	Began   time.Time
	Version string          // of the engine; "": not known
	Values  []float64       // one per server start
	Summary compare.Summary // of Values
	Suspect bool            // no step of it is ok

	run  *results.Run
	cell *compare.Cell
}

// Series is a figure of a variant at a load point over runs of one scenario.
type Series struct {
	Scenario, Variant, Point string
	Simulated                bool
	Figure                   catalog.Figure
	Entries                  []Entry // in order of time
	Breaks                   []Break // in the same order
}

// Break is a place in a series between two entries: settings changed there, or
// the level of the figure did, or both.
type Break struct {
	At       int // index of the first entry after it
	Recorded []versus.Change
	// why the figures of both sides are not compared; "": they are
	NotCompared string
	// Means of runs are compared where both sides have enough of them, else the
	// server starts of the two runs beside the break.
	OfRuns   bool
	Searched bool // the place was found in the figures; nothing recorded differs there
	compare.Difference
}

// Wanted says which series are followed. Empty lists: all.
type Wanted struct {
	Variants, Points []string
	Figures          []catalog.Figure
	Rule             compare.Rule
}

// Of are the series of some runs, in the order of the newest run's plan. Series
// of one entry are left out.
func Of(sides []versus.Side, w Wanted) []Series {
	sides = slices.Clone(sides)
	slices.SortStableFunc(sides, func(a, b versus.Side) int {
		return cmp.Or(began(a.Run).Compare(began(b.Run)), cmp.Compare(a.Run.Manifest.Run, b.Run.Manifest.Run))
	})

	cells := make([][]compare.Cell, len(sides))
	for i, side := range sides {
		cells[i] = compare.CellsOf(side.Run.Manifest, versus.InOrder(side.Run))
	}

	var all []Series
	changes := changeBook{}
	for _, f := range w.Figures {
		for _, s := range seriesOf(sides, cells, f, w) {
			if len(s.Entries) > 1 {
				s.findBreaks(w.Rule, changes)
				all = append(all, s)
			}
		}
	}
	judge(all, w.Rule)
	return all
}

// began is when a run started; the zero time where that is not known.
func began(run *results.Run) time.Time {
	at, err := time.Parse(time.RFC3339, run.Manifest.StartedAt)
	if err != nil {
		return time.Time{}
	}
	return at
}

// seriesOf are the series of a figure; cells are those of each side.
func seriesOf(sides []versus.Side, cells [][]compare.Cell, f catalog.Figure, w Wanted) []Series {
	var all []Series
	for i, side := range sides {
		for j := range cells[i] {
			cell := &cells[i][j]
			values := cell.PerLife(f.Of)
			if len(values) == 0 || !named(w.Variants, cell.Variant) || !named(w.Points, cell.Point) || cell.Again {
				continue
			}

			entry := Entry{
				Run: side.Name, Began: began(side.Run), Values: values, run: side.Run, cell: cell,
				Summary: compare.Sample{Values: values}.Summarize(w.Rule.Confidence), Suspect: !cell.Valid(),
			}
			if r := versus.WithServers(*cell); r != nil {
				entry.Version = r.Servers[0].Version
			}

			all = add(all, Series{
				Scenario: side.Run.Manifest.Scenario, Variant: cell.Variant, Point: cell.Point,
				Simulated: cell.IsSimulated(), Figure: f,
			}, entry)
		}
	}
	return all
}

// add puts an entry into its series.
func add(all []Series, key Series, entry Entry) []Series {
	at := slices.IndexFunc(all, func(s Series) bool {
		return s.Scenario == key.Scenario && s.Variant == key.Variant && s.Point == key.Point &&
			s.Simulated == key.Simulated
	})
	if at < 0 {
		at = len(all)
		all = append(all, key)
	}
	all[at].Entries = append(all[at].Entries, entry)
	return all
}

func named(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
