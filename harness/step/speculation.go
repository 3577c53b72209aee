package step

import (
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

// drafted is what a server did with drafted tokens over a pass, by the best
// source that it has; nil: nothing was drafted, or it is not known. info is its
// own, with the change of its counters.
func drafted(info results.Server, p Pass, seen []results.ServerMetrics) *results.Drafting {
	d := results.DraftingBy(results.DraftsByCounters, info.Counters)
	if d == nil {
		d = draftedByAnswers(info.Replica, p.records)
	}
	if d == nil {
		d = results.DraftingBy(results.DraftsByLog, info.Counters)
	}
	if d == nil {
		d = draftedByGauges(info.Replica, seen)
	}
	if d == nil {
		return nil
	}
	if speculation := info.Speculation; speculation != nil {
		d.Tokens, d.LogLines = speculation.Tokens, speculation.LogLines
	}

	d.Derive()
	return d
}

// draftedByAnswers adds up what the answers of one server say about themselves.
// An answer that says nothing drafted nothing.
func draftedByAnswers(replica int, records []results.Record) *results.Drafting {
	var tokens, accepted, drafts, output float64
	counted, known := true, true // drafts, and lengths, by every answer
	for _, rec := range records {
		if rec.Replica != replica || rec.Failure != nil && rec.DraftTokens == nil {
			continue
		}
		if known = known && rec.OutputTokens != nil; known {
			output += float64(*rec.OutputTokens)
		}
		if rec.DraftTokens == nil || rec.AcceptedTokens == nil {
			continue
		}
		tokens += float64(*rec.DraftTokens)
		accepted += float64(*rec.AcceptedTokens)
		if counted = counted && rec.Drafts != nil; counted {
			drafts += float64(*rec.Drafts)
		}
	}

	if tokens == 0 {
		return nil
	}

	d := &results.Drafting{Source: results.DraftsByAnswers, DraftTokens: &tokens, AcceptedTokens: &accepted}
	if counted {
		d.Drafts = &drafts
	}
	if known {
		d.OutputTokens = &output
	}

	return d
}

// draftedByGauges takes means of what the engine says about its last moments.
func draftedByGauges(replica int, seen []results.ServerMetrics) *results.Drafting {
	for _, m := range seen {
		length, known := m.Gauges[scrape.DraftLength]
		if m.Replica != replica || !known || length.Mean <= 0 {
			continue
		}
		d := &results.Drafting{Source: results.DraftsByGauges, Length: new(length.Mean)}
		if rate, known := m.Gauges[scrape.DraftRate]; known {
			d.Rate = new(rate.Mean)
		}
		return d
	}
	return nil
}

// speculationWarnings say when acceptance means little.
func speculationWarnings(asked results.Asked, servers []results.Server) []results.Warning {
	if !slices.ContainsFunc(servers, func(s results.Server) bool { return s.Speculation != nil }) {
		return nil
	}

	var all []results.Warning
	if madeOfRandomIDs(asked.Dataset) {
		all = append(all, results.Warnf(results.WarnSpecRandom, "the prompts are random token ids: drafts are "+
			"accepted differently on random tokens than on text, so acceptance does not predict real use"))
	}

	if asked.IgnoreEOS {
		all = append(all, results.Warnf(results.WarnSpecPastEnd, "ignore_eos continues answers past their natural "+
			"end, where drafts are accepted differently: acceptance mixes both"))
	}

	for _, s := range servers {
		if w := warnPinned(s); w != nil {
			return append(all, *w)
		}
	}
	return all
}

// pinTolerance is the share by which a measured acceptance length may differ from the one
// that the server was configured to simulate.
const pinTolerance = 0.05

// warnPinned compares the acceptance length of a server with the one that it was configured to
// simulate; nil where they agree, or none was asked for.
func warnPinned(s results.Server) *results.Warning {
	pinned, ok := engines.PinnedAcceptance(s.Argv, s.Env)
	if !ok || s.Speculation == nil || s.Speculation.Length == nil ||
		math.Abs(*s.Speculation.Length-pinned) <= pinTolerance*pinned {
		return nil
	}
	return new(results.Warnf(results.WarnAcceptance, "the acceptance length is pinned to %.4g, and the drafts of the "+
		"pass have %.4g (by %s): more than %.0f %% apart", pinned, *s.Speculation.Length, s.Speculation.Source,
		100*pinTolerance))
}

// madeOfRandomIDs reports whether a dataset's prompts are drawn at random.
func madeOfRandomIDs(kind string) bool {
	return strings.HasPrefix(kind, "random") || kind == "prefix_repetition"
}
