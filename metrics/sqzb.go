package metrics

import (
	"fmt"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// SQZB derives the figures of method sqzb from its two passes. Latencies are
// the passes' whole windows, from the first send to the last answer.
//
// The difference of the passes is an approximation: prefill and decode overlap
// in the first and not in the second. Where it is not positive the figures of
// the generation are null, with the reason.
func SQZB(full, one results.Figures, records []results.Record) results.SQZB {
	s := results.SQZB{
		InputTokens: full.TotalInputTokens, OutputTokens: full.TotalOutputTokens,
		TTFTMeanS: full.TTFT.Mean, TPOTMeanS: full.TPOT.Mean, TPOTByTokensS: tpotByTokens(records),
		FirstTokens: full.Completed, OneTokenPass: &one,
	}

	if full.DurationS > 0 {
		s.E2ELatencyS = &full.DurationS
	}
	if one.DurationS > 0 {
		s.SummarizationLatencyS = &one.DurationS
	}

	s.SummarizationThroughput = perSecond(s.InputTokens, s.SummarizationLatencyS)
	s.E2EThroughput = perSecond(s.OutputTokens, s.E2ELatencyS)
	switch {
	case s.E2ELatencyS == nil || s.SummarizationLatencyS == nil:
		s.Undefined = "a pass has no duration"
	case *s.E2ELatencyS <= *s.SummarizationLatencyS:
		s.Undefined = fmt.Sprintf("the pass with one token an answer took %.3f s, not less than the whole one with "+
			"%.3f s: what is left for the generation is not positive",
			*s.SummarizationLatencyS, *s.E2ELatencyS)
	default:
		s.GenerationLatencyS = new(*s.E2ELatencyS - *s.SummarizationLatencyS)
		s.GenerationThroughput = perSecond(s.OutputTokens, s.GenerationLatencyS)
	}

	return s
}

// JPerInputToken is the energy of a pass with one token an answer for each token of
// its prompts; nil where either is not known.
func JPerInputToken(pass results.Figures, t *results.Telemetry) *float64 {
	if t == nil || t.Sum == nil || t.Sum.Pass.EnergyJ == nil || pass.TotalInputTokens == nil ||
		*pass.TotalInputTokens == 0 {
		return nil
	}
	return new(*t.Sum.Pass.EnergyJ / float64(*pass.TotalInputTokens))
}

func perSecond(tokens *int64, seconds *float64) *float64 {
	if tokens == nil || seconds == nil {
		return nil
	}
	return new(float64(*tokens) / *seconds)
}

// tpotByTokens is the mean over answers of (end - first token) / tokens: the
// method divides by all tokens, where vLLM leaves out the first.
func tpotByTokens(records []results.Record) *float64 {
	var values []float64
	for _, o := range observeAll(records) {
		first := o.first(o.SentS)
		last := o.since(o.SentS, -1)
		if o.OK() && first != nil && last != nil && o.OutputTokens != nil && *o.OutputTokens > 0 {
			values = append(values, (*last-*first)/float64(*o.OutputTokens))
		}
	}
	if len(values) == 0 {
		return nil
	}
	return new(Mean(values))
}

// CompareInputs says why the two passes did not see the same prompts; "": they
// did, as far as their counts tell.
func CompareInputs(full, one results.Figures) string {
	switch {
	case full.Completed != one.Completed:
		return fmt.Sprintf("%s succeeded in the first pass and %d in the second",
			text.Count(full.Completed, "request"), one.Completed)
	case full.TotalInputTokens == nil || one.TotalInputTokens == nil:
		return "the server did not count the prompts of both passes"
	case *full.TotalInputTokens != *one.TotalInputTokens:
		return fmt.Sprintf("the first pass had %d input tokens and the second %d", *full.TotalInputTokens,
			*one.TotalInputTokens)
	}
	return ""
}
