package harness

import (
	"math"
	"slices"

	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// cacheShift is how far the shares of prompt tokens found in a prefix cache may
// differ between two passes with the same prompts.
const cacheShift = 0.01

// joinPasses makes one result of two passes: the first one's, with what the
// second gave beside it. dir is the step's folder. ended is what has ended the run; nil: nothing.
func joinPasses(dir string, result *results.Result, second passRun, ended *results.Failure) {
	one := second.result
	if one == nil {
		one = &results.Result{
			Verdict: results.Failed, Failure: second.launched, Servers: second.servers,
			EndedAt: results.Now(),
		}
	}

	failure := passFailure(result, one, ended)
	result.SQZB = passFigures(dir, result, one, failure)
	result.EndedAt = one.EndedAt
	result.Hooks = append(result.Hooks, one.Hooks...)
	result.Warnings = append(result.Warnings, secondWarnings(result, one)...)
	shifted := cacheShifted(result.Cache, one.Cache)
	if shifted != nil {
		result.Warnings = append(result.Warnings, *shifted)
	}

	switch {
	case failure != nil:
		result.Verdict, result.Failure = results.Failed, failure
	case one.Verdict == results.Suspect || shifted != nil:
		result.Verdict = results.Suspect
	}
}

// passFailure says why two passes do not make a step; nil: they do. What ended
// the run keeps its words, by which a resumed run knows it.
func passFailure(full, one *results.Result, ended *results.Failure) *results.Failure {
	if one.Verdict == results.Failed {
		why := *one.Failure
		if ended == nil || ended.Message != why.Message {
			why.Message = "second pass: " + why.Message
		}
		return &why
	}
	if differ := metrics.CompareInputs(*full.Figures, *one.Figures); differ != "" {
		return results.Failf(results.FailPasses, "%s", differ)
	}
	return nil
}

// passFigures are the figures of the method. Where the passes do not make a
// step there are those of the first alone.
func passFigures(dir string, full, one *results.Result, failure *results.Failure) *results.SQZB {
	var records []results.Record
	for record, err := range store.ReadRecords(dir) {
		if err == nil { // else it is missing from one mean
			records = append(records, record)
		}
	}

	var s results.SQZB
	if failure == nil {
		s = metrics.SQZB(*full.Figures, *one.Figures, records)
		s.JPerInputToken = metrics.JPerInputToken(*one.Figures, one.Telemetry)
	} else {
		s = metrics.SQZB(*full.Figures, results.Figures{}, records)
		s.OneTokenPass, s.Undefined = one.Figures, failure.Message
	}

	s.OneTokenServer, s.OneTokenClient, s.OneTokenCache = one.Servers, one.Client, one.Cache
	s.OneTokenTelemetry, s.OneTokenServerMetrics = one.Telemetry, one.ServerMetrics
	s.CachedInPass1, s.CachedTokens = hitsOf(full.Cache), hitsOf(one.Cache)
	s.QueueMeanS = queueMean(full.Servers)
	if s.QueueMeanS != nil && s.TTFTMeanS != nil && *s.QueueMeanS <= *s.TTFTMeanS {
		s.TTFTUnqueuedS = new(*s.TTFTMeanS - *s.QueueMeanS)
	}

	return &s
}

// queueMean is the mean time that requests waited in the servers' queues, by
// the servers' own counters; null if one of them has none.
func queueMean(servers []results.Server) *float64 {
	var all []map[string]float64
	for _, s := range servers {
		if !s.Inner {
			all = append(all, s.Counters)
		}
	}
	seconds, known := step.Sum(all, scrape.QueueSecondsTotal)
	requests, counted := step.Sum(all, scrape.QueueRequestsTotal)
	if !known || !counted || requests <= 0 || seconds < 0 {
		return nil
	}
	return new(seconds / requests)
}

func hitsOf(state *results.CacheState) *float64 {
	if state == nil {
		return nil
	}
	return state.Hits
}

// cacheShifted warns of passes that found different shares of the same prompts
// in the prefix cache: then the second did not do the prefill of the first.
func cacheShifted(full, one *results.CacheState) *results.Warning {
	if full == nil || one == nil || full.HitShare == nil || one.HitShare == nil ||
		math.Abs(*full.HitShare-*one.HitShare) <= cacheShift {
		return nil
	}
	return metrics.Warnf(results.WarnPrefixCache, "the second pass found %.1f %% of the prompt tokens in the prefix "+
		"cache, the first %.1f %%: they did not compute the same prefill", 100**one.HitShare, 100**full.HitShare)
}

// secondWarnings are the doubts about the second pass that the first has not.
// Of answers of one token many are alike, which says nothing; its percentiles
// are in no table.
func secondWarnings(full, one *results.Result) []results.Warning {
	var all []results.Warning
	for _, w := range one.Warnings {
		if w.Code == results.WarnAnswers || w.Code == results.WarnFewSamples || slices.Contains(full.Warnings, w) {
			continue
		}
		w.Message = "second pass: " + w.Message
		all = append(all, w)
	}
	return all
}
