package metrics

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Evidence is what a step's figures are judged by.
type Evidence struct {
	Records []results.Record
	Figures results.Figures
	Asked   results.Asked
	Client  *results.ClientReport // null: unknown
	Cache   *results.CacheState   // null: unknown
	Early   *results.EarlyEnd     // null: the pass did not end early
	Margins []results.MarginFound // asked for and not all reached
	Resent  *results.Resent       // null: nothing was sent again
	Scored  *results.Evaluation   // null: no questions were asked
	Command *results.CommandScore // null: no evaluation command ran
}

// Thresholds of the doubts.
const (
	shortOutputShare  = 0.95  // answered tokens of those asked for
	endTokens         = 1     // an end mark that a server may count beyond the limit
	longChunkCount    = 1.25  // chunks of an answer for each token asked, where no server counted
	multiTokenChunk   = 1.05  // tokens in a chunk
	lateS             = 0.010 // p99 of intended to actual send
	inputTolerance    = 0.05  // share of the prompt's tokens
	templateTokens    = 64    // that a chat template may add to a prompt
	specialTokens     = 2     // that a server may add to a plain prompt
	reachedRateShare  = 0.95  // of the send rate that the schedule meant
	enoughForRateTest = 10    // sends
	movedShare        = 0.02  // of a figure, that the client may have moved it by
	movedLeastS       = 0.001 // s; opening a connection takes as much on any machine that is busy
	movedTurnaroundS  = 0.005 // s from the end of a request to the send of the next, on average
	busyShare         = 0.9   // of the cores that the client may use
	burstShare        = 0.5   // of the chunk gaps that are too short for a model
	enoughForBursts   = 20    // chunk gaps
	oddAnswersShare   = 0.5   // of the answers that are empty or repetitive
	sameAnswersShare  = 0.9   // of the answers that equal another one
	badCallsShare     = 0.05  // of the answers with tool calls that are invalid
	enoughForAnswers  = 8     // answers
)

// Warnings lists the doubts about a step's figures that its records and the
// client's report give, in a fixed order. Doubts about the server come from
// whoever watched it.
func Warnings(e Evidence) []results.Warning {
	var all []results.Warning
	for _, check := range []func(Evidence) *results.Warning{
		warnInterrupted, warnEarlyEnd, warnMargins,
		warnFailures, warnShortOutput, warnLongOutput, warnTokenSource, warnInputLength,
		warnCached, warnClientLate, warnClientLimit, warnClientBusy, warnClientStarved, warnClientPlace, warnAgentClock,
		warnRate,
		warnMultiToken, warnHiddenTokens, warnBuffered, warnAnswers, warnToolCalls, warnLowScore, warnCommandScore,
		warnNoScore, warnResent,
		warnAtOnce,
		warnFewSamples,
	} {
		if w := check(e); w != nil {
			all = append(all, *w)
		}
	}
	return all
}

// Warnf is results.Warnf for checks that may find nothing.
func Warnf(code results.WarningCode, format string, args ...any) *results.Warning {
	return new(results.Warnf(code, format, args...))
}

func warnInterrupted(e Evidence) *results.Warning {
	why := ""
	if e.Client != nil {
		why = e.Client.Interrupted
	}
	if why == "" && (e.Figures.Unsent == 0 || e.Early != nil) {
		return nil
	}
	if why == "" {
		why = "no reason given"
	}
	if e.Figures.Unsent == 0 {
		return Warnf(results.WarnInterrupted, "the pass ended early (%s)", why)
	}
	return Warnf(results.WarnInterrupted, "the pass ended early (%s); %d of %s were never sent", why,
		e.Figures.Unsent, text.Count(e.Figures.Asked, "request"))
}

func warnFailures(e Evidence) *results.Warning {
	if e.Figures.Failed == 0 {
		return nil
	}
	return Warnf(results.WarnFailures, "%d of %s failed and do not count in latencies and tokens: %s",
		e.Figures.Failed, text.Count(e.Figures.Asked, "request"), classCounts(e.Figures.Failures))
}

func warnShortOutput(e Evidence) *results.Warning {
	asked, got := 0, 0
	for _, o := range observeAll(e.Records) {
		if o.OK() && o.AskedOutputTokens > 0 && o.OutputTokens != nil {
			asked += o.AskedOutputTokens
			got += *o.OutputTokens
		}
	}
	if float64(got) >= shortOutputShare*float64(asked) {
		return nil
	}
	hint := "answers ended by themselves: without ignore-eos, variants may do different work"
	if e.Asked.IgnoreEOS {
		hint = "the server did not honour ignore_eos, or its context is too small"
	}
	return Warnf(results.WarnShortOutput, "answers have %s of the requested output tokens (%d of %d); %s",
		percent(got, asked), got, asked, hint)
}

// warnLongOutput speaks of answers beyond the limit that was asked for. Chunks
// are counted less exactly than a server counts: one may hold part of a token.
func warnLongOutput(e Evidence) *results.Warning {
	long, answers, worst, asked := 0, 0, 0, 0
	for _, r := range e.Records {
		if r.Failure != nil || r.AskedOutputTokens <= 0 || r.OutputTokens == nil {
			continue
		}
		answers++
		limit := r.AskedOutputTokens + endTokens
		if r.OutputTokensSource != results.CountUsage && r.OutputTokensSource != results.CountTimings {
			limit = max(limit, int(longChunkCount*float64(r.AskedOutputTokens)))
		}
		if *r.OutputTokens <= limit {
			continue
		}
		if long++; *r.OutputTokens > worst {
			worst, asked = *r.OutputTokens, r.AskedOutputTokens
		}
	}
	if long == 0 {
		return nil
	}

	return Warnf(results.WarnLongOutput, "%d of %s are longer than requested, one with %s where the limit was "+
		"%d: the server ignores the field that limits an answer (load: max-tokens-field)",
		long, text.Count(answers, "answer"), text.Count(worst, "token"), asked)
}

func warnTokenSource(e Evidence) *results.Warning {
	sources := e.Figures.TokenSources
	other := 0
	for source, n := range sources {
		if source != results.CountUsage && source != results.CountNumbers {
			other += n
		}
	}
	if other == 0 {
		return nil
	}
	what := "counts may differ from the server's"
	if sources[results.CountChunks] > 0 {
		what = "counting chunks gives a lower bound"
	}
	if sources[results.CountNone] > 0 {
		what = "the total is not known"
	}
	return Warnf(results.WarnTokenSource, "output tokens of %d of %s are not from the server's usage (%s); %s",
		other, text.Count(e.Figures.Completed, "answer"), sourceCounts(sources), what)
}

// warnInputLength compares the server's count of the prompts with the data
// set's, or with the length that was asked for where nothing here counts. It
// cannot speak of prompts with images or tools: only the server knows how many
// tokens these are.
func warnInputLength(e Evidence) *results.Warning {
	if strings.ReplaceAll(e.Asked.Dataset, "-", "_") == "random_mm" || e.Figures.Tools != nil {
		return nil
	}

	meant, server, n, counted := 0, 0, 0, true
	for _, o := range observeAll(e.Records) {
		length := o.LocalInputTokens
		if length == nil && o.Turn <= 1 {
			length, counted = e.Asked.InputLen, false
		}
		if o.OK() && length != nil && o.InputTokens != nil {
			meant += *length
			server += *o.InputTokens
			n++
		}
	}
	added := specialTokens
	if e.Asked.Templated() {
		added = templateTokens
	}
	slack := inputTolerance * float64(meant)
	if n == 0 || float64(server) <= float64(meant+n*added)+slack && float64(server) >= float64(meant)-slack {
		return nil
	}

	whose := "by the dataset's"
	if !counted {
		whose = "were requested"
	}
	return Warnf(results.WarnInputMismatch, "prompts have %.1f tokens on average by the server's count, %.1f %s",
		float64(server)/float64(n), float64(meant)/float64(n), whose)
}

func warnCached(e Evidence) *results.Warning {
	if e.Cache != nil && e.Cache.Doubtful() {
		return warnCacheState(*e.Cache)
	}
	cached := e.Figures.CachedTokens
	if cached == nil || *cached == 0 {
		return nil
	}
	share := ""
	if input := e.Figures.TotalInputTokens; input != nil && *input > 0 {
		if hitsExpected(e, *cached, *input) {
			return nil
		}
		share = fmt.Sprintf(" (%s)", percent(int(*cached), int(*input)))
	}
	return Warnf(results.WarnPrefixCache, "%d prompt tokens%s came from the server's prefix cache", *cached, share)
}

// hitsExpected reports whether the load itself explains what was found in the cache:
// the state is the one asked for, the prompts have as much in common (turns of a
// conversation, a shared prefix), or each has a start token and a chat template.
func hitsExpected(e Evidence, cached, input int64) bool {
	const templateTokens, small, near = 8, 0.1, 0.01
	share := float64(cached) / float64(input)

	if c := e.Cache; c != nil && (c.Verified != nil || c.CeilingShare != nil && share <= *c.CeilingShare+near) {
		return true
	}

	return cached <= int64(templateTokens*e.Figures.Completed) && share <= small
}

// warnCacheState says how a cache differs from the one asked for.
func warnCacheState(c results.CacheState) *results.Warning {
	switch {
	case c.Verified == nil:
		return Warnf(results.WarnPrefixCache, "a %s prefix cache was requested, but bench could neither ensure nor "+
			"check it", c.Asked)
	case c.HitShare == nil:
		return Warnf(results.WarnPrefixCache, "a %s prefix cache was requested, but the cache was in another state "+
			"(by %s)", c.Asked, c.VerifiedHow)
	case c.Asked == "warm":
		return Warnf(results.WarnPrefixCache, "a warm prefix cache was requested, but only %.1f %% of the prompt "+
			"tokens came from it (by %s)", 100**c.HitShare, c.VerifiedHow)
	}
	return Warnf(results.WarnPrefixCache, "a cold prefix cache was requested, but %.1f %% of the prompt tokens came "+
		"from it (by %s), more than the prompts share",
		100**c.HitShare, c.VerifiedHow)
}

func warnClientLate(e Evidence) *results.Warning {
	if e.Client == nil || e.Client.LateP99S == nil || *e.Client.LateP99S <= lateS {
		return nil
	}
	return Warnf(results.WarnClientLate, "requests were sent up to %.1f ms later than intended (p99; "+
		"%.0f ms is the limit): %s was too slow",
		*e.Client.LateP99S*1000, lateS*1000, latest(e.Client))
}

// warnRate compares the rate of sends with the rate of the schedule, so that
// the tail of the last answers has no part in it.
func warnRate(e Evidence) *results.Warning {
	if e.Asked.RequestRate == nil {
		return nil
	}
	meant, sent, n := span{}, span{}, 0
	for _, r := range e.Records {
		if r.SentS != nil {
			meant.add(r.IntendedS)
			sent.add(*r.SentS)
			n++
		}
	}
	if n < enoughForRateTest || meant.length() <= 0 || meant.length() >= reachedRateShare*sent.length() {
		return nil
	}
	return Warnf(results.WarnRequestRate, "requests were sent at %.2f/s instead of the scheduled %.2f/s: "+
		"the concurrency limit or the client held them back",
		float64(n-1)/sent.length(), float64(n-1)/meant.length())
}

// span is the range of some instants.
type span struct {
	any         bool
	first, last float64
}

func (s *span) add(at float64) {
	if !s.any {
		*s = span{true, at, at}
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

func (s *span) length() float64 { return s.last - s.first }

func warnMultiToken(e Evidence) *results.Warning {
	per := e.Figures.TokensPerChunk
	if per == nil || *per <= multiTokenChunk {
		return nil
	}
	return Warnf(results.WarnMultiToken, "a chunk carries %.2f tokens on average: ITL is the time between chunks, "+
		"not between tokens; if a parser holds tokens back without a sign, TPOT is too low", *per)
}

// warnHiddenTokens speaks of tokens that came before the first visible one.
func warnHiddenTokens(e Evidence) *results.Warning {
	answers, hidden, tokens := 0, 0, 0
	for _, o := range observeAll(e.Records) {
		if n := o.hiddenTokens(); o.OK() && n > 0 {
			answers++
			hidden += n
			tokens += *o.OutputTokens
		}
	}
	if answers == 0 {
		return nil
	}

	return Warnf(results.WarnHiddenTokens, "%s of the tokens of %s came before the first that is shown: "+
		"TTFT includes their generation, and TPOT is over the shown ones",
		percent(hidden, tokens), text.Count(answers, "answer"))
}

// warnFewSamples names the percentiles that have too few samples behind them.
func warnFewSamples(e Evidence) *results.Warning {
	type thin struct{ percentiles, samples string }
	names := make(map[thin][]string)
	var order []thin
	for _, m := range []struct {
		name string
		dist results.Dist
	}{{"TTFT", e.Figures.TTFT}, {"TPOT", e.Figures.TPOT}, {"ITL", e.Figures.ITL}, {"E2EL", e.Figures.E2EL}} {
		percentiles, needs := thinPercentiles(m.dist)
		if len(percentiles) == 0 {
			continue
		}
		key := thin{strings.Join(percentiles, ", "), fmt.Sprintf("%d, and %s needs "+
			"%d", m.dist.N, percentiles[len(percentiles)-1], needs)}
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], m.name)
	}

	if len(order) == 0 {
		return nil
	}
	var parts []string
	for _, key := range order {
		parts = append(parts, fmt.Sprintf("%s of %s (there are %s)", key.percentiles, strings.Join(names[key], ", "),
			key.samples))
	}
	message := "too few samples for " + strings.Join(parts, "; ")
	if unknown := unknownPercentiles(e.Figures.UpperBounds); len(unknown) > 0 {
		message += "; not yet known at 95 %: " + strings.Join(unknown, ", ")
	}
	return Warnf(results.WarnFewSamples, "%s", message)
}

// thinPercentiles lists the percentiles of d with too few samples, and how many
// the last of them needs.
func thinPercentiles(d results.Dist) (names []string, needs int) {
	for _, p := range d.Percentiles {
		if p.Value != nil && d.N < SamplesFor(p.P) {
			names = append(names, PercentileName(p.P))
			needs = SamplesFor(p.P)
		}
	}
	return names, needs
}

// PercentileName is the name of a percentile: "p99", "p99.9".
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
