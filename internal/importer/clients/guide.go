package clients

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/stated"
)

// guideMetrics maps metrics of GuideLLM to figures of bench and the unit of the metric.
// Its inter-token latency leaves out the first token, as bench's TPOT does; its time
// per output token does not.
func guideMetrics() map[string]struct{ figure, unit string } {
	return map[string]struct{ figure, unit string }{
		"requests_per_second":      {"request_throughput", ""},
		"output_tokens_per_second": {"output_throughput", ""},
		"tokens_per_second":        {"total_token_throughput", ""},
		"request_latency":          {"e2el", "s"},
		"time_to_first_token_ms":   {"ttft", "ms"},
		"inter_token_latency_ms":   {"tpot", "ms"},
	}
}

// guideBenchmark is one benchmark of a report of GuideLLM. Versions keep the
// counts of its requests in different places.
type guideBenchmark struct {
	Config struct {
		Strategy guideStrategy   `json:"strategy"`
		Profile  json.RawMessage `json:"profile"`
		Backend  struct {
			Model string `json:"model"`
		} `json:"backend"`
	} `json:"config"`
	Args struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"args"`
	Duration  *float64                   `json:"duration"`
	Metrics   map[string]json.RawMessage `json:"metrics"`
	Requests  guideCounts                `json:"request_totals"`
	Scheduler struct {
		Requests guideCounts `json:"requests_made"`
	} `json:"scheduler_metrics"`
	Stats struct {
		Requests guideCounts `json:"requests_made"`
	} `json:"run_stats"`
}

type guideStrategy struct {
	Type    string   `json:"type_"`
	Streams *float64 `json:"streams"`
	Rate    *float64 `json:"rate"`
	Max     *float64 `json:"max_concurrency"`
}

// guideCounts are requests by how they ended: those that were still running at
// the end of the benchmark are incomplete.
type guideCounts struct {
	Successful, Errored, Incomplete *float64
}

// guideStats are the statistics of a metric over successful requests.
type guideStats struct {
	Mean, Median, Min, Max, Count *float64

	StdDev      *float64 `json:"std_dev"`
	Total       *float64 `json:"total_sum"`
	Percentiles map[string]*float64
}

// fromGuide reads a report of GuideLLM: a result for each benchmark in it.
func fromGuide(name string, o lenient.Object) ([]*stated.Entry, error) {
	var list []guideBenchmark
	if !o.Into("benchmarks", &list) {
		return nil, unreadForm("GuideLLM", o)
	}

	var all []*stated.Entry
	for _, b := range list {
		e := stated.New(name, GuideLLM, o.Line)
		if b.Duration != nil {
			takeStat(e, "duration", "duration_s", "value", "s", *b.Duration, o.Line)
		}
		b.takeMetrics(e, o.Line)
		b.takeCounts(e, o.Line)
		b.takeLoad(e, o.Line)
		var args struct{ Model string }
		o.Into("args", &args)
		e.Model = cmp.Or(args.Model, b.Config.Backend.Model)
		all = append(all, e)
	}

	return all, nil
}

// takeMetrics gives e the statistics of latencies, the rates and the totals of tokens.
func (b guideBenchmark) takeMetrics(e *stated.Entry, line int) {
	for _, key := range slices.Sorted(maps.Keys(guideMetrics())) {
		d, ok := b.successful(key)
		if !ok {
			continue
		}
		m := guideMetrics()[key]
		stats := map[string]*float64{"mean": d.Mean}
		if !labels.FigureNamed(m.figure) {
			stats["median"], stats["std"], stats["min"], stats["max"] = d.Median, d.StdDev, d.Min, d.Max
			stats["count"] = d.Count
			maps.Copy(stats, d.Percentiles)
			delete(stats, "p50") // the median
		}
		for _, stat := range slices.Sorted(maps.Keys(stats)) {
			if v := stats[stat]; v != nil {
				takeStat(e, key+"."+stat, m.figure, guidePercentile(stat), m.unit, *v, line)
			}
		}
	}

	for _, total := range [][2]string{
		{"prompt_token_count", "total_input_tokens"},
		{"output_token_count", "total_output_tokens"},
	} {
		if d, ok := b.successful(total[0]); ok && d.Total != nil {
			takeStat(e, total[0]+".total_sum", total[1], "value", "", *d.Total, line)
		}
	}
}

// successful returns the statistics of a metric over successful requests; false: it has
// none.
func (b guideBenchmark) successful(key string) (guideStats, bool) {
	var metric struct{ Successful *guideStats }
	if json.Unmarshal(b.Metrics[key], &metric) != nil || metric.Successful == nil {
		return guideStats{}, false
	}
	return *metric.Successful, true
}

// takeCounts takes the counts of requests from the first place that has them.
// Incomplete requests are neither successful nor failed: the benchmark's end cut
// them off.
func (b guideBenchmark) takeCounts(e *stated.Entry, line int) {
	var ofMetrics guideCounts
	if json.Unmarshal(b.Metrics["request_totals"], &ofMetrics) != nil {
		ofMetrics = guideCounts{}
	}

	for _, c := range []guideCounts{ofMetrics, b.Requests, b.Scheduler.Requests, b.Stats.Requests} {
		if c.Successful == nil {
			continue
		}
		takeStat(e, "request_totals.successful", "completed", "value", "", *c.Successful, line)
		if c.Errored != nil {
			takeStat(e, "request_totals.errored", "failed", "value", "", *c.Errored, line)
		}
		if c.Incomplete != nil {
			e.State("request_totals.incomplete", number(*c.Incomplete), line, "")
		}
		return
	}
}

// guidePercentile returns the usual name of a percentile: GuideLLM's p999 is p99.9, and
// its p01 is p1. Other names stay as they are.
func guidePercentile(name string) string {
	digits, isPercentile := strings.CutPrefix(name, "p")
	switch {
	case !isPercentile:
		return name
	case len(digits) > 2:
		return "p" + digits[:2] + "." + digits[2:]
	}
	return "p" + strings.TrimLeft(digits, "0")
}

// isUnlimited reports whether the profile that was asked for has no limit of
// concurrency: that of the strategy is then GuideLLM's own, of its connections.
func (b guideBenchmark) isUnlimited() bool {
	var profile map[string]json.RawMessage
	return json.Unmarshal(b.Config.Profile, &profile) == nil && string(profile["max_concurrency"]) == "null"
}

// takeLoad gives e the load that the benchmark asked for.
func (b guideBenchmark) takeLoad(e *stated.Entry, line int) {
	for _, s := range []guideStrategy{b.Config.Strategy, b.Args.Strategy} {
		streams := s.Streams
		var shape *float64 // of the arrivals
		if s.Type == "poisson" {
			shape = new(1.0)
		}
		switch {
		case s.Type == "synchronous":
			streams = new(1.0)
		case streams == nil && !b.isUnlimited():
			streams = s.Max
		}

		for _, setting := range []struct {
			name, key string
			value     *float64
		}{{"max_concurrency", "streams", streams}, {"request_rate", "rate", s.Rate}, {"burstiness", "type_", shape}} {
			if setting.value != nil && !e.IsStated(setting.name) {
				e.Setting(setting.name, "strategy."+setting.key, number(*setting.value), line)
			}
		}
	}
}
