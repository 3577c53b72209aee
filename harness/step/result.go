package step

import (
	"slices"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/parts"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
)

// Complete turns a pass into figures, doubts and a verdict.
func (j Job) Complete(result *results.Result, p Pass) {
	result.EndedAt = results.Now()
	result.Client = p.client
	for i, s := range j.Servers {
		info := s.Info()
		if i < len(p.counters) {
			info.Counters = p.counters[i]
		}
		info.Speculation = drafted(info, p, result.ServerMetrics)
		result.Simulated = result.Simulated || info.Simulated
		result.Servers = append(result.Servers, info)
	}

	evidence := metrics.Evidence{Records: p.records, Asked: result.Asked, Client: p.client}
	if p.client != nil {
		result.Cache = j.cacheState(result.Asked, p)
		evidence.Cache = result.Cache
		if p.early != nil {
			result.Early, evidence.Early, evidence.Margins = p.early.Decision(), p.early.Decision(), p.early.Missed()
		}
		if len(p.again) > 0 {
			result.Resent = metrics.CompareResent(p.records, p.again, p.fresh, len(j.Prompts), result.Asked.Temperature)
			evidence.Resent = result.Resent
		}
		evidence.Scored, evidence.Command = result.Evaluation, result.CommandScore
		evidence.Figures = j.figures(result, p)
		result.Warnings = append(result.Warnings, metrics.Warnings(evidence)...)
		result.Warnings = append(result.Warnings, counterWarnings(evidence.Figures, p.outer, p.probes)...)
		result.Warnings = append(result.Warnings, speculationWarnings(result.Asked, result.Servers)...)
		checkSlots(j.Servers, evidence.Figures.PeakConcurrent, result)
		j.Judge(result, p)
	}
	result.Components = telemetry.OfComponents(result.Servers, result.Telemetry)

	WarnOrigin(result)
	if p.Failure != nil {
		result.Verdict, result.Failure = results.Failed, p.Failure
		return
	}

	result.Verdict, result.Failure = metrics.Verdict(evidence, result.Warnings, j.MinSuccess)
}

// WarnOrigin adds what is to be known of figures whatever they are.
func WarnOrigin(result *results.Result) {
	if result.Simulated {
		result.Warnf(results.WarnSimulated, "these figures come from the simulator, not from an inference engine")
	}
	if n := len(result.Earlier); n > 0 {
		result.Warnf(results.WarnRetried, "attempt %d: %s failed, the last with %s", result.Step.Attempt,
			text.Count(n, "earlier attempt"), result.Earlier[n-1].Class)
	}
}

func (j Job) figures(result *results.Result, p Pass) results.Figures {
	params := metrics.Params{
		DurationS: p.client.DurationS, Asked: j.planned(p), Percentiles: j.Percentiles, Goals: goals(j.Goodput),
		ClassGoals: parts.Goals(&j.Options.Settings),
		API:        result.Asked.API, UsageAsked: result.Asked.UsageAsked(),
		MaxConcurrency: result.Asked.MaxConcurrency,
		Temperature:    result.Asked.Temperature, SessionSizes: j.sessionSizes(),
	}
	figures := metrics.Summarize(p.records, params)
	result.Figures = &figures
	result.Compat = metrics.CompatReadings(p.records, params)
	result.Parts = parts.Of(p.records, params, &j.Options.Settings, j.kinds())
	if j.Options.Probes.Active() {
		result.Parts = append(result.Parts, parts.OfProbes(p.probes, params))
	}
	if n := len(takingRequests(j.Servers)); n > 1 {
		result.Replicas = metrics.PerReplica(p.records, n, params)
	}
	return figures
}

// kinds counts the requests of each kind; nil where a duration decides how many
// there are.
func (j Job) kinds() map[parts.Kind]int {
	if j.Options.Duration > 0 {
		return nil
	}
	counts := map[parts.Kind]int{}
	for _, p := range j.Prompts {
		kind := parts.Kind{Adapter: p.Model}
		if p.Class > 0 {
			kind.Class = j.Options.Classes[p.Class-1].Name
		}
		counts[kind] += requestsOf(p)
	}
	return counts
}

// sessionSizes are the requests that each prompt makes; nil: each makes one.
func (j Job) sessionSizes() []int {
	if !j.converses() {
		return nil
	}
	sizes := make([]int, len(j.Prompts))
	for i, p := range j.Prompts {
		sizes[i] = requestsOf(p)
	}
	return sizes
}

func (j Job) converses() bool {
	return slices.ContainsFunc(j.Prompts, func(p load.Prompt) bool { return len(p.Turns) > 0 })
}

// asked is how many requests the job makes; 0 where its duration decides.
func (j Job) asked() int {
	if j.Options.Duration > 0 {
		return 0
	}
	n := 0
	for _, p := range j.Prompts {
		n += requestsOf(p)
	}
	return n
}

// requestsOf is how many requests a prompt makes: one, and one for each further turn.
func requestsOf(p load.Prompt) int { return 1 + len(p.Turns) }

// planned is asked; of a pass that ended early, scheduled.
func (j Job) planned(p Pass) int {
	if p.early != nil && p.early.Decision() != nil {
		return j.scheduled()
	}
	return j.asked()
}

// scheduled is how many requests the job makes, also where a duration and a rate
// decide; 0 where the answers do.
func (j Job) scheduled() int {
	n := j.asked()
	if n == 0 && !j.converses() {
		return len(j.Options.Arrivals)
	}
	return n
}

func goals(asked map[string]time.Duration) metrics.Goals {
	goal := func(name string) *float64 {
		if limit, ok := asked[name]; ok {
			return new(limit.Seconds())
		}
		return nil
	}
	return metrics.Goals{TTFT: goal("ttft"), TPOT: goal("tpot"), E2EL: goal("e2el")}
}

// counterWarnings compares our total of output tokens, those of the probes included,
// with the servers' own. It can only do so where every request succeeded: of a failed
// one the server may have counted tokens that never reached us.
func counterWarnings(f results.Figures, counters []map[string]float64, probes []results.Record) []results.Warning {
	theirs, known := Sum(counters, scrape.OutputTokensTotal)
	for _, r := range probes {
		if known = known && r.Failure == nil && r.OutputTokens != nil; known {
			theirs -= float64(*r.OutputTokens)
		}
	}
	if !known || f.Failed > 0 || f.Unsent > 0 || f.TotalOutputTokens == nil || theirs == float64(*f.TotalOutputTokens) {
		return nil
	}
	return []results.Warning{results.Warnf(results.WarnCounters,
		"the servers' own counters report %.0f output tokens, the client counted %d", theirs, *f.TotalOutputTokens)}
}
