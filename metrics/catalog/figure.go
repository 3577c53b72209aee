package catalog

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/results"
)

// Figure is all that is said of a figure of a step in one place. Tables, files,
// charts, comparisons, conditions and importers take it from here.
type Figure struct {
	Name    string // in conditions: "output_throughput", "p99_ttft_s"
	File    string // in summary.csv, where Name has no unit: "output_throughput_tokens_per_s"
	Title   string // for people: "p99 TTFT ms"
	Unit    string // of the shown value: "tok/s", "ms"
	Group   Group
	Test    string  // of llama-bench that it is; "": none
	Scale   float64 // base unit to shown unit
	Higher  bool    // is better
	Neutral bool    // no end of it is good
	P       float64 // the percentile that it is; 0: none
	Share   bool    // from 0 to 1
	Whole   bool    // a count
	Goals   bool    // needs the load's goodput goals
	Of      func(*results.Result) *float64
	Sample  func(*results.Figures) results.Dist // behind a latency; nil: none

	// Where it stands.
	Compared  bool    // in comparisons
	Extra     bool    // compared only where asked for
	Condition bool    // may be held against a limit
	Drawn     bool    // over the points of the load
	Column    Heading // in the comparison table of a run
	Detail    Heading // in the table of its group

	// Aliases are how files of other programs call it, in small letters and
	// without signs; nil: it is not imported.
	Aliases []string

	At      func(*results.Figures) **float64    // its field, of a rate; nil: another kind of figure
	Stat    func(results.Dist) *float64         // of Sample
	Shown   func(*results.Figures) results.Dist // in place of Sample in tables, where that is empty; nil: nothing is
	Powered bool                                // it depends on the power of the GPUs

	pass  func(*results.Figures) *float64    // reads it
	known func(results.KnownCounts) *float64 // reads it
	file  func(*results.Result) *float64     // in summary.csv, where that has another value than Of
	gpus  func(*results.GPUFigures) *float64 // reads it
	work  func(*results.Efficiency) *float64 // reads it
	cost  func(*results.Cost) *float64       // reads it
}

// Heading is that of a column, in two lines; empty: there is no column.
type Heading struct{ Head, Unit string }

// Currency stands for the currency in a heading.
const Currency = "¤"

// Group is what figures are about. Tables and files keep groups together, each
// in its own order.
type Group int

// The groups.
const (
	Pass     Group = iota // counts, totals and rates of the measured pass
	Latency               // statistics of samples of time
	Hardware              // memory and power of the GPUs
	Heat                  // of the GPUs
	Energy                // for the work done
	Cost
	Shares // of all requests
)

// All are the figures of a step that have names of their own, in groups, and of
// latencies mean, median and p99.
func All(groups ...Group) []Figure {
	lists := map[Group]func() []Figure{
		Pass: passFigures, Latency: latencyFigures, Hardware: hardwareFigures, Heat: heatFigures, Energy: energyFigures,
		Cost: costFigures, Shares: shareFigures,
	}

	var all []Figure
	for _, g := range groups {
		for _, f := range lists[g]() {
			f.Group = g
			all = append(all, f.ready())
		}
	}

	return all
}

// ready fills in what follows from the way in which a figure is read.
func (f Figure) ready() Figure {
	if f.Scale == 0 {
		f.Scale = 1
	}
	if f.At != nil {
		f.pass = func(r *results.Figures) *float64 { return *f.At(r) }
	}

	switch {
	case f.Of != nil:
	case f.pass != nil:
		f.Of = OfFigures(f.pass)
	case f.gpus != nil:
		f.Of = ofSum(f.gpus)
	case f.known != nil:
		f.Of = ofCounts(f.known)
	case f.work != nil:
		f.Of = ofEfficiency(f.work)
	case f.cost != nil:
		f.Of = ofCost(f.cost)
	}

	return f
}

// Compare orders two values, the better one first.
func (f Figure) Compare(a, b float64) int {
	if f.Higher {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// FileName is the name in summary.csv, which has the unit.
func (f Figure) FileName() string { return cmp.Or(f.File, f.Name) }

// InFile is the figure as summary.csv has it.
func (f Figure) InFile(r *results.Result) *float64 {
	if f.file != nil {
		return f.file(r)
	}
	return f.Of(r)
}

// InTable is the figure as tables show it: of a sample that is empty, with what
// is shown in its place.
func (f Figure) InTable(r *results.Result) *float64 {
	if f.Shown == nil {
		return f.Of(r)
	}
	return OfFigures(func(figures *results.Figures) *float64 { return f.Stat(f.Shown(figures)) })(r)
}

// Headline are the figures of the comparison, in the order of reports:
// rates, latencies, cost, energy and memory.
func Headline() []Figure {
	return slices.DeleteFunc(All(Pass, Latency, Cost, Energy, Hardware), func(f Figure) bool { return !f.Compared })
}

// FiguresOf are the figures by which steps can be compared: those of
// Headline, or where no requests were sent, those that the method gives.
func FiguresOf(steps []*results.Result) []Figure {
	runs := testRuns(steps)
	own := MeasureFigures(steps)
	if runs == nil && own == nil {
		return inCurrency(append(sqzbFigures(steps), WithTail(Headline(), steps)...), steps)
	}
	if runs != nil {
		own = append(testFigures(runs), own...)
	}
	return append(own, slices.DeleteFunc(Headline(), func(f Figure) bool { return f.Group != Hardware })...)
}

// Drawn are the figures of the charts over the load that a step has.
func Drawn(steps []*results.Result) []Figure {
	return slices.DeleteFunc(WithTail(All(Pass, Latency, Energy), steps), func(f Figure) bool {
		known := func(r *results.Result) bool { return f.Of(r) != nil }
		return !f.Drawn || f.Goals && !slices.ContainsFunc(steps, known)
	})
}

// Must is the figure of a name that is in the program's own text.
func Must(name string) Figure {
	f, err := Find(name)
	if err != nil {
		panic(err)
	}
	return f
}

// Imported finds the figure that files of other programs call so.
func Imported(alias string) (Figure, bool) {
	all := All(Pass)
	at := slices.IndexFunc(all, func(f Figure) bool { return slices.Contains(f.Aliases, alias) })
	if at < 0 {
		return Figure{}, false
	}
	return all[at], true
}
