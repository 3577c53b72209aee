// Package parts computes figures of parts of a pass: of the requests of each class
// and for each adapter, of each stage of the load, of the probes beside it.
//
// What goes in: records, and the settings of the load that say which parts there
// are. What comes out: one results.PartFigures for each part, all by the same
// definitions as those of the whole pass. It reads no clock and no file.
package parts

import (
	"slices"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Of computes the figures of each part of a pass, in the order of the settings;
// none where all its requests are alike. p is as for the whole pass; asked counts
// the planned requests of each class and adapter, nil where their number is not
// planned.
func Of(records []results.Record, p metrics.Params, settings *spec.Settings, asked map[Kind]int) []results.PartFigures {
	var all []results.PartFigures
	add := func(by results.PartBy, name string, own func(*results.Record) bool, asked int) {
		some := slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool { return !own(&r) })
		q := p
		q.Asked = max(asked, len(some))
		if goals, ok := p.ClassGoals[name]; by == results.ByClass {
			if q.ClassGoals = nil; ok {
				q.Goals = goals
			}
		}
		all = append(all, results.PartFigures{By: by, Name: name, Figures: metrics.SummarizePart(some, q)})
	}

	for _, class := range settings.Classes {
		add(results.ByClass, class.Name, func(r *results.Record) bool { return r.Class == class.Name },
			count(asked, func(k Kind) bool { return k.Class == class.Name }))
	}
	for _, adapter := range adapters(settings) {
		add(results.ByAdapter, adapter, func(r *results.Record) bool { return r.Adapter == adapter },
			count(asked, func(k Kind) bool { return k.Adapter == adapter }))
	}
	return append(all, stages(records, p, settings.Stages)...)
}

// stages are the figures of each stage: latencies of the requests that were due in it,
// rates of what came in it.
func stages(records []results.Record, p metrics.Params, all []spec.Stage) []results.PartFigures {
	var parts []results.PartFigures
	from := 0.0
	for i, stage := range all {
		to := from + stage.Duration.Seconds()
		last := i == len(all)-1 // has what was sent in the moment of its end
		some := slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool {
			due := r.IntendedS
			if stage.RequestRate == nil && r.SentS != nil {
				due = *r.SentS
			}
			return due < from || due >= to && !last
		})

		q := p
		q.DurationS, q.Asked = to-from, len(some)
		f := metrics.SummarizePart(some, q)
		requests, goodput, output := metrics.RatesWithin(records, p, from, to)
		f.RequestThroughput, f.RequestGoodput = &requests, goodput
		f.OutputThroughput, f.TotalTokenThroughput = output, nil
		parts = append(parts, results.PartFigures{
			By: results.ByStage, Name: stage.Name, FromS: new(from), ToS: &to, Figures: f,
		})
		from = to
	}
	return parts
}

// OfProbes are the figures of the probes beside a pass. p is as for the pass: goals are
// for its own requests.
func OfProbes(records []results.Record, p metrics.Params) results.PartFigures {
	p.Asked, p.Goals, p.ClassGoals, p.MaxConcurrency = len(records), metrics.Goals{}, nil, nil
	return results.PartFigures{By: results.ByProbe, Name: "probes", Figures: metrics.SummarizePart(records, p)}
}

// Kind is what a request is: of which class, "" for none, and for which adapter.
type Kind struct{ Class, Adapter string }

func count(asked map[Kind]int, of func(Kind) bool) int {
	n := 0
	for kind, requests := range asked {
		if of(kind) {
			n += requests
		}
	}
	return n
}

// adapters are those that any request asks for, each once.
func adapters(settings *spec.Settings) []string {
	var names []string
	for _, kind := range settings.Kinds() {
		if kind.Adapter != "" && !slices.Contains(names, kind.Adapter) {
			names = append(names, kind.Adapter)
		}
	}
	return names
}

// Goals are the goals of each class that has some, by its name.
func Goals(settings *spec.Settings) map[string]metrics.Goals {
	var all map[string]metrics.Goals
	for _, class := range settings.Classes {
		if len(class.GoodputS) == 0 {
			continue
		}
		if all == nil {
			all = map[string]metrics.Goals{}
		}
		goal := func(name string) *float64 {
			if s, ok := class.GoodputS[name]; ok {
				return &s
			}
			return nil
		}
		all[class.Name] = metrics.Goals{TTFT: goal("ttft"), TPOT: goal("tpot"), E2EL: goal("e2el")}
	}
	return all
}
