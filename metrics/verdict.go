package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Verdict judges a step by its figures and by the warnings about it, whoever
// gave them. minSuccess is the share of the requests asked for that must have
// succeeded, 0 to 1. The failure is null unless the verdict is Failed.
func Verdict(e Evidence, warnings []results.Warning, minSuccess float64) (results.Verdict, *results.Failure) {
	f := e.Figures
	needed := f.Asked
	if e.Early != nil { // what was not needed is no failure
		needed -= f.Unsent
	}
	if f.Completed == 0 || float64(f.Completed) < minSuccess*float64(needed) {
		return results.Failed, requestsFailure(f, minSuccess)
	}
	for _, w := range warnings {
		if doubtful(w.Code, e) {
			return results.Suspect, nil
		}
	}
	return results.OK, nil
}

func requestsFailure(f results.Figures, minSuccess float64) *results.Failure {
	why := fmt.Sprintf("%d of %s succeeded (at least %.4g %% must)", f.Completed, text.Count(f.Asked, "request"),
		100*minSuccess)
	if f.Completed == 0 {
		why = fmt.Sprintf("no request of %d succeeded", f.Asked)
	}
	if len(f.Failures) > 0 {
		why += "; failures: " + classCounts(f.Failures)
	}
	if f.Unsent > 0 {
		why += fmt.Sprintf("; never sent: %d", f.Unsent)
	}
	// not for our own end of the pass
	own := slices.DeleteFunc(slices.Clone(f.FailureSamples), func(sample string) bool {
		return strings.HasPrefix(sample, string(results.FailCanceled)+":")
	})
	if first := append(own, f.FailureSamples...); len(first) > 0 {
		why += "; first: " + first[0]
	}
	return &results.Failure{Class: results.FailRequests, Message: why}
}

// doubtful reports whether a warning means that the figures may not be what they
// seem. The others tell how to read figures that are sound: too few samples
// for a percentile, several tokens a chunk, a warm cache.
func doubtful(code results.WarningCode, e Evidence) bool {
	switch code {
	case results.WarnFailures, results.WarnInterrupted, results.WarnStartCache, results.WarnOverloaded,
		results.WarnLongOutput,
		results.WarnClientLimit, results.WarnCounters, results.WarnForeignGPUUser,
		results.WarnThrottled, results.WarnPowerLimit, results.WarnPaused, results.WarnReplaced,
		results.WarnLowScore:
		return true
	case results.WarnClientLate:
		return e.Figures.ClientAtMost == nil // else the bounds say what it did to the figures
	case results.WarnShortOutput:
		return e.Asked.IgnoreEOS // else the answers' own ends are the work asked for
	case results.WarnPrefixCache:
		return e.Cache != nil && e.Cache.Doubtful() // else it was asked for, or is only reported
	case results.WarnTokenSource:
		return e.Figures.TokenSources[results.CountChunks]+e.Figures.TokenSources[results.CountNone] > 0
	default:
		return false
	}
}

// Doubts are the warnings of a step that make it suspect.
func Doubts(r *results.Result) []results.Warning {
	e := Evidence{Asked: r.Asked, Cache: r.Cache}
	if r.Figures != nil {
		e.Figures = *r.Figures
	}
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w results.Warning) bool { return !doubtful(w.Code, e) })
}

// classCounts prints counts by class, most frequent first.
func classCounts(counts map[results.FailureClass]int) string { return printCounts(counts) }

// sourceCounts prints counts by source, most frequent first.
func sourceCounts(counts map[results.TokenCount]int) string { return printCounts(counts) }

func printCounts[K cmp.Ordered](counts map[K]int) string {
	keys := slices.SortedStableFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%v %d", k, counts[k])
	}
	return strings.Join(parts, ", ")
}
