package step

import (
	"context"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

// Counters of an engine may lag behind its last answer: they are read again
// until they cover what was received, at most settleTries times.
const (
	settleTries = 5
	settlePause = 200 * time.Millisecond
)

// passesOn reports whether a server is a router of no known engine before others: what
// it answers to a question for metrics may be those of any of them.
func passesOn(servers []Server, s Server) bool {
	hasParts := slices.ContainsFunc(servers, func(s Server) bool { return s.Info().Inner })
	kind, _ := engines.Lookup(s.Info().Launcher)

	return hasParts && !s.Info().Inner && kind.WholeArgv
}

// counters reads the counters of every server; nil for one that has none of its own.
func counters(ctx context.Context, servers []Server) []map[string]float64 {
	out := make([]map[string]float64, len(servers))
	for i, s := range servers {
		if passesOn(servers, s) {
			continue
		}
		if values, err := s.Counters(ctx); err == nil {
			out[i] = values
		}
	}
	return out
}

func settledCounters(ctx context.Context, servers []Server, before []map[string]float64,
	records []results.Record,
) []map[string]float64 {
	var received float64
	for _, rec := range records {
		if rec.OutputTokens != nil {
			received += float64(*rec.OutputTokens)
		}
	}

	for try := 1; ; try++ {
		after := counters(ctx, servers)
		total, known := Sum(ofRequests(servers, changes(before, after)), scrape.OutputTokensTotal)
		if !known || total >= received || try == settleTries || !sleep.For(ctx, settlePause) {
			return after
		}
	}
}

// ofRequests are the counters of those servers to which requests go: inner parts
// count the same tokens, or tokens that nobody asked for.
func ofRequests(servers []Server, counters []map[string]float64) []map[string]float64 {
	var out []map[string]float64
	for i, s := range servers {
		if i < len(counters) && !s.Info().Inner {
			out = append(out, counters[i])
		}
	}
	return out
}

// changes are the differences of two readings of each server; a counter that
// is missing from one of them is missing here.
func changes(before, after []map[string]float64) []map[string]float64 {
	out := make([]map[string]float64, len(after))
	for i := range after {
		out[i] = map[string]float64{}
		for name, v := range after[i] {
			if b, ok := before[i][name]; ok {
				out[i][name] = v - b
			}
		}
	}
	return out
}

// Sum adds up one counter over the servers; unknown if any lacks it.
func Sum(counters []map[string]float64, name string) (total float64, known bool) {
	for _, c := range counters {
		v, ok := c[name]
		if !ok {
			return 0, false
		}
		total += v
	}
	return total, len(counters) > 0
}
