// Package scrape reads what inference servers count.
//
// What goes in: a metrics page in Prometheus text, and Metrics, the names that a
// kind of server has on it. What comes out: counters and gauges under names that
// all kinds share; what a server does not show is absent. The package asks no
// server.
package scrape

import (
	"fmt"
)

// Names of gauges under which all kinds report, where they have them.
const (
	Running = "running" // requests that are worked on
	Waiting = "waiting" // requests in the queue
	Swapped = "swapped" // requests whose cache was moved out, vLLM before V1
	KVUse   = "kv_use"  // share of the KV cache in use, 0 to 1; the fullest engine's

	DraftLength = "draft_length" // tokens a step of the large model, over the engine's last moments
	DraftRate   = "draft_rate"   // accepted / drafted tokens, likewise
)

// Gauge says where the value of a moment comes from.
type Gauge struct {
	Names   []string // the engine's metrics, newest first; see Metrics.Counters
	Highest bool     // the highest over the engines of a server counts, else their sum
}

// IsGauge reports whether a name of ours is a gauge's: it may fall.
func IsGauge(name string) bool {
	switch name {
	case Running, Waiting, Swapped, KVUse, DraftLength, DraftRate:
		return true
	default:
		return false
	}
}

// Metrics says under which names a kind of server shows its counters and gauges.
type Metrics struct {
	// our name ("output_tokens_total") -> the engine's metric names, newest
	// first: the first present wins; "a+b" is their sum, "a?b" is a where b is
	// shown too
	Counters   map[string][]string
	Gauges     map[string]Gauge // our name ("running") -> where it comes from
	AcceptedAt []string         // metrics of accepted draft tokens by the label "position", newest first
}

// Translate turns a metrics page into our names.
func (m Metrics) Translate(text string) (counters, gauges map[string]float64) {
	all := parseSeries(text)
	sums := make(map[string]float64, len(all))
	for name, s := range all {
		sums[name] = s.sum
	}

	counters = pickCounters(sums, m.Counters)
	for _, name := range m.AcceptedAt {
		for position, value := range all[name].at {
			counters[AcceptedAt(position)] = value
		}
		if len(all[name].at) > 0 {
			break
		}
	}

	gauges = make(map[string]float64)
	for ours, gauge := range m.Gauges {
		for _, name := range gauge.Names {
			value, known := total(sums, name)
			if !known {
				continue
			}
			if gauge.Highest {
				value = all[name].max
			}
			gauges[ours] = value
			break
		}
	}

	return counters, gauges
}

// AcceptedAt names the counter of drafted tokens that were accepted at a
// position of their draft, from 0.
func AcceptedAt(position int) string { return fmt.Sprintf("%s_at_%d", AcceptedTotal, position) }

// The tables below hold the names of all versions, the newest first. A counter
// gets its _total from the library that shows it, so older pages and captures
// of the registry may lack it.

// Names of counters under which all kinds report, where they have them.
const (
	InputTokensTotal  = "input_tokens_total"
	OutputTokensTotal = "output_tokens_total"
	RequestsTotal     = "requests_total"
	PreemptionsTotal  = "preemptions_total"
	PrefixQueries     = "prefix_cache_queries_total"
	PrefixHits        = "prefix_cache_hits_total"
	DraftsTotal       = "drafts_total"
	DraftTokensTotal  = "draft_tokens_total"
	AcceptedTotal     = "accepted_tokens_total"

	CachedTokensTotal  = "cached_tokens_total"  // prompt tokens that were not computed
	EmittedTotal       = "emitted_tokens_total" // by steps with drafts
	QueueSecondsTotal  = "queue_seconds_total"  // of the requests that QueueRequestsTotal counts
	QueueRequestsTotal = "queue_requests_total"
	StepsTotal         = "steps_total" // forward passes of the model
)
