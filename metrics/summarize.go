package metrics

import (
	"slices"

	"github.com/benchrig/bench/results"
)

// Params are what figures need to know beside the records.
type Params struct {
	DurationS   float64   // the window of all rates; ClientReport.DurationS
	Asked       int       // requests in the prompt list; 0: as many as there are records
	Percentiles []float64 // 0 to 100, ascending; nil: 50, 90, 95, 99
	Goals       Goals
	ClassGoals  map[string]Goals // of the classes of requests that have goals of their own

	// SessionSizes are the requests that each prompt of the list makes, where some make several; nil: each makes one,
	// or it is not known.
	SessionSizes []int

	API            string   // of the requests; "": one that answers with tokens
	UsageAsked     bool     // the requests ask for a usage event; see vllm.Read
	MaxConcurrency *int     // the cap, which the steady state is measured by; null: none
	Temperature    *float64 // of the requests; null: the server's choice
}

// Goals are limits that a good request keeps, in seconds; null means no limit.
type Goals struct{ TTFT, TPOT, E2EL *float64 }

func (g Goals) any() bool { return g.TTFT != nil || g.TPOT != nil || g.E2EL != nil }

// answersAreNumbers reports whether there are no output tokens to count.
func (p Params) answersAreNumbers() bool { return results.Asked{API: p.API}.Numbers() }

func (p Params) percentiles() []float64 {
	if p.Percentiles == nil {
		return []float64{50, 90, 95, 99}
	}
	return p.Percentiles
}

const maxFailureSamples = 5

// Summarize computes the figures of a pass in the headline reading: latencies
// and totals over successful requests, rates over the window p.DurationS.
func Summarize(records []results.Record, p Params) results.Figures {
	all := observeAll(records)
	good := slices.DeleteFunc(slices.Clone(all), func(o Observation) bool { return !o.OK() })
	f := results.Figures{
		Asked:          max(p.Asked, len(all)),
		Completed:      len(good),
		DurationS:      p.DurationS,
		PeakConcurrent: peakConcurrent(all),
	}

	countFailures(&f, all)
	addTotals(&f, all, good, p)
	addRates(&f, good, p)
	addLatencies(&f, good, p.percentiles())
	f.ChunkSizes, f.Lengths = chunkSizes(good), outputLengths(good)
	f.Series, f.Prompts = seriesOf(good), promptBuckets(good, p.percentiles())
	f.Tools = toolCallsOf(good, p.percentiles())
	f.Sessions = sessionsOf(all, p.SessionSizes, p.percentiles())
	f.Steady, f.Answers = steadyState(all, p), answersOf(all, f.Asked, p.Temperature)
	f.ClientAtMost = clientAtMost(all, good, &f, p)
	return f
}

func countFailures(f *results.Figures, all []Observation) {
	f.Unsent = f.Asked - len(all)
	for _, o := range all {
		switch {
		case o.OK():
			continue
		case o.unsent():
			f.Unsent++
			continue
		}
		f.Failed++
		if f.Failures == nil {
			f.Failures = make(map[results.FailureClass]int)
		}
		f.Failures[o.Failure.Class]++
		text := o.Failure.Error()
		if len(f.FailureSamples) < maxFailureSamples && !slices.Contains(f.FailureSamples, text) {
			f.FailureSamples = append(f.FailureSamples, text)
		}
	}
}

// addTotals adds token totals, and the counts of how answers ended.
func addTotals(f *results.Figures, all, good []Observation, p Params) {
	f.TotalInputTokens = sumKnown(good, func(o Observation) *int { return inputTokens(o.Record) })
	if !p.answersAreNumbers() {
		f.TotalOutputTokens = sumKnown(good, func(o Observation) *int { return o.OutputTokens })
	}

	if slices.ContainsFunc(all, func(o Observation) bool { return o.Images > 0 }) {
		f.Images = new(0)
		for _, o := range good {
			*f.Images += o.Images
		}
	}
	if slices.ContainsFunc(all, func(o Observation) bool { return o.AudioS > 0 }) {
		f.AudioS = new(0.0)
		for _, o := range good {
			*f.AudioS += o.AudioS
		}
	}

	for _, o := range good {
		if o.CachedTokens != nil {
			if f.CachedTokens == nil {
				f.CachedTokens = new(int64(0))
			}
			*f.CachedTokens += int64(*o.CachedTokens)
		}
		count(&f.FinishReasons, o.FinishReason)
		source := o.OutputTokensSource
		if source == "" {
			source = results.CountNone
		}
		count(&f.TokenSources, source)
	}
}

// inputTokens is the server's count of the prompt, else the dataset's.
func inputTokens(r *results.Record) *int {
	if r.InputTokens != nil {
		return r.InputTokens
	}
	return r.LocalInputTokens
}

func count[K comparable](counts *map[K]int, key K) {
	if *counts == nil {
		*counts = make(map[K]int)
	}
	(*counts)[key]++
}

func addRates(f *results.Figures, good []Observation, p Params) {
	f.MaxOutputTokensPerS = maxOutputTokensPerS(good)
	f.TokensPerChunk = tokensPerChunk(good)
	if p.DurationS <= 0 {
		return
	}

	f.RequestThroughput = new(float64(f.Completed) / p.DurationS)
	if f.Images != nil {
		f.ImageThroughput = new(float64(*f.Images) / p.DurationS)
	}
	if f.AudioS != nil {
		f.RTFx = new(*f.AudioS / p.DurationS)
	}
	if p.hasGoals() {
		n := 0
		for _, o := range good {
			if p.goalsOf(o).keptBy(o) {
				n++
			}
		}
		f.RequestGoodput = new(float64(n) / p.DurationS)
	}

	if p.answersAreNumbers() && f.TotalInputTokens != nil {
		f.TotalTokenThroughput = new(float64(*f.TotalInputTokens) / p.DurationS) // there are no others
	}
	if f.TotalOutputTokens == nil {
		return
	}

	f.OutputThroughput = new(float64(*f.TotalOutputTokens) / p.DurationS)
	if f.TotalInputTokens != nil {
		f.TotalTokenThroughput = new(float64(*f.TotalInputTokens+*f.TotalOutputTokens) / p.DurationS)
	}
}

func (p Params) hasGoals() bool { return p.Goals.any() || len(p.ClassGoals) > 0 }

// goalsOf are the goals of a request.
func (p Params) goalsOf(o Observation) Goals {
	if own, ok := p.ClassGoals[o.Class]; ok {
		return own
	}
	return p.Goals
}

// keptBy reports whether a request keeps every goal. An answer of one token has no
// time per output token and keeps any goal for it, as in vLLM.
func (g Goals) keptBy(o Observation) bool {
	oneToken := o.OutputTokens != nil && *o.OutputTokens <= 1
	return kept(g.TTFT, o.TTFT()) && kept(g.E2EL, o.E2EL()) && (oneToken || kept(g.TPOT, o.TPOT()))
}

func kept(goal, value *float64) bool {
	return goal == nil || value != nil && *value <= *goal
}

func addLatencies(f *results.Figures, good []Observation, percentiles []float64) {
	var ttft, tpot, icl, e2el, ttftIntended, e2elIntended []float64
	for _, o := range good {
		ttft = AppendKnown(ttft, o.TTFT())
		tpot = AppendKnown(tpot, o.TPOT())
		e2el = AppendKnown(e2el, o.E2EL())
		ttftIntended = AppendKnown(ttftIntended, o.first(&o.IntendedS))
		e2elIntended = AppendKnown(e2elIntended, o.since(&o.IntendedS, -1))
		icl = append(icl, o.gaps()...)
	}

	f.TTFT, f.TPOT = Describe(ttft, percentiles), Describe(tpot, percentiles)
	f.ICL, f.E2EL = Describe(icl, percentiles), Describe(e2el, percentiles)
	f.BurstGaps = burstGaps(icl)
	f.ITL = f.ICL
	if f.TokensPerChunk != nil && *f.TokensPerChunk > multiTokenChunk {
		f.ITL = Describe(nil, percentiles) // the gaps are not between tokens
	}

	itl := icl
	if f.ITL.N == 0 {
		itl = nil
	}
	f.UpperBounds = slices.Concat(upperBounds("ttft", ttft, percentiles, len(good)),
		upperBounds("tpot", tpot, percentiles, len(good)), upperBounds("itl", itl, percentiles, len(good)),
		upperBounds("e2el", e2el, percentiles, len(good)))
	f.TTFTFromIntended = Describe(ttftIntended, percentiles)
	f.E2ELFromIntended = Describe(e2elIntended, percentiles)
}

// AppendKnown appends a value to a sample unless it is nil.
func AppendKnown(sample []float64, value *float64) []float64 {
	if value == nil {
		return sample
	}
	return append(sample, *value)
}

// PerReplica computes the figures of each of a variant's servers over the
// window of the whole. Servers that took no request are in the list.
func PerReplica(records []results.Record, replicas int, p Params) []results.ReplicaFigures {
	all := make([]results.ReplicaFigures, replicas)
	for i := range all {
		own := slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool { return r.Replica != i })
		p.Asked = len(own)
		all[i] = results.ReplicaFigures{Replica: i, Figures: SummarizePart(own, p)}
	}
	return all
}

// SummarizePart computes the figures of some requests of a pass: all but those that
// only the whole pass has.
func SummarizePart(records []results.Record, p Params) results.Figures {
	f := Summarize(records, p)
	f.Series, f.Answers, f.Steady, f.Sessions, f.ClientAtMost = nil, nil, nil, nil, nil
	return f
}
