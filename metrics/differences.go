package metrics

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// differences counts why two readings of a pass differ, and what that does.
func differences(pairs []reading, f results.CompatFigures, g results.Generation) []results.Difference {
	counts := make(map[results.DifferenceCode]int)
	shifts := make(map[results.DifferenceCode][]float64) // seconds that a cause moves a figure by
	for _, p := range pairs {
		for _, c := range causes(p, g) {
			counts[c.code]++
			if c.shift != nil {
				shifts[c.code] = append(shifts[c.code], *c.shift)
			}
		}
	}

	var all []results.Difference
	for code, n := range counts {
		all = append(all, results.Difference{Code: code, Count: n, Effect: effect(code, shifts[code])})
	}

	slices.SortStableFunc(all, byCount)
	return append(all, peakDifferences(pairs, f)...)
}

// cause is one reason why a request is seen differently.
type cause struct {
	code  results.DifferenceCode
	shift *float64 // seconds; null: does not apply
}

func causes(p reading, g results.Generation) []cause {
	own, parsed := p.ours.VLLMReading[parserOf(g)]
	switch ours, theirs := p.ours.OK(), p.theirs.Success; {
	case !ours && !theirs:
		return nil
	case ours && !theirs:
		return []cause{{code: whyTheirsFails(p, parsed, g)}}
	case !ours && theirs:
		return []cause{{code: whyOursFails(p)}}
	}

	var all []cause
	if parsed {
		code := results.DiffEventTimes
		if own.ChunkKinds != p.ours.ChunkKinds || own.TextDiffers {
			code = results.DiffStreamLost
		}
		all = append(all, cause{code: code})
	}

	all = append(all, latencyCauses(p, g)...)
	return append(all, lengthCauses(p, g)...)
}

func parserOf(g results.Generation) results.Generation {
	if g == results.VLLM2605 {
		return results.VLLM
	}
	return g
}

func whyTheirsFails(p reading, parsed bool, g results.Generation) results.DifferenceCode {
	switch {
	case parsed:
		return results.DiffStreamLost
	case g == results.VLLM06 && p.theirs.Error == vllm.NoChoices:
		return results.DiffUsageFails
	}
	return results.DiffOtherFailure
}

func whyOursFails(p reading) results.DifferenceCode {
	switch p.ours.Failure.Class {
	case results.FailInBand:
		return results.DiffInBandSuccess
	case results.FailTruncated:
		return results.DiffTruncated
	case results.FailNoTokens:
		return results.DiffEmptySuccess
	default:
		return results.DiffOtherSuccess
	}
}

// latencyCauses says why the times of a request that both call a success
// differ.
func latencyCauses(p reading, g results.Generation) []cause {
	var all []cause
	ttft, e2el := p.ours.TTFT(), p.ours.E2EL()
	if ttft == nil || e2el == nil {
		return nil
	}

	kinds := p.ours.ChunkKinds
	if g == results.VLLM06 {
		all = append(all, cause{results.DiffDoneLatency, new(p.theirs.LatencyS - *e2el)})
		if slices.ContainsFunc([]byte(kinds), isThought) {
			all = append(all, cause{code: results.DiffReasoning})
		}
		return all
	}

	first := slices.IndexFunc([]byte(kinds), func(k byte) bool { return !isOutside(k) })
	if first >= 0 && !IsToken(results.ChunkKind(kinds[first])) {
		code := results.DiffEmptyFirst
		if results.ChunkKind(kinds[first]) == results.ChunkRole {
			code = results.DiffRoleFirst
		}
		all = append(all, cause{code, new(p.theirs.TTFTS - *ttft)})
	}

	if n := len(p.theirs.ITLS) + 1 - len(p.ours.TokenS); n > 0 {
		all = append(all, cause{code: results.DiffEmptyGaps})
	}

	last := lastIndex(kinds, func(k byte) bool { return !isOutside(k) })
	if last >= 0 && !IsToken(results.ChunkKind(kinds[last])) {
		all = append(all, cause{results.DiffLongerEnd, new(p.ours.ChunkS[last] - p.ours.TokenS[len(p.ours.TokenS)-1])})
	}
	if tail := p.theirs.LatencyS - p.theirs.TTFTS - sum(p.theirs.ITLS); g != results.VLLM && tail > 1e-9 {
		all = append(all, cause{results.DiffUsageLatency, &tail})
	}

	return all
}

// isOutside says that a chunk has no choices.
func isOutside(k byte) bool {
	switch results.ChunkKind(k) {
	case results.ChunkUsage, results.ChunkError, results.ChunkOther:
		return true
	default:
		return false
	}
}

func isThought(k byte) bool {
	return results.ChunkKind(k) == results.ChunkReasoning || results.ChunkKind(k) == results.ChunkTool
}

func lastIndex(kinds string, match func(byte) bool) int {
	for i := len(kinds) - 1; i >= 0; i-- {
		if match(kinds[i]) {
			return i
		}
	}
	return -1
}

// lengthCauses says why the token counts differ, or may.
func lengthCauses(p reading, g results.Generation) []cause {
	var all []cause
	if !p.theirs.UsageRead && !equalCounts(p.ours.OutputTokens, p.theirs.OutputLen) {
		code := results.DiffRetokenized
		if g != results.VLLM06 && p.ours.OutputTokensSource == results.CountUsage {
			code = results.DiffUsageIgnored
		}
		all = append(all, cause{code: code})
	}

	if !equalCounts(inputTokens(p.ours.Record), p.theirs.PromptLen) {
		all = append(all, cause{code: results.DiffLocalInput})
	}
	if g == results.VLLM06 && p.theirs.TTFTS == 0 {
		all = append(all, cause{code: results.DiffNoSampleIsZero})
	}

	return all
}

func equalCounts(a, b *int) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// peakDifferences compares the two peaks of the pass.
func peakDifferences(pairs []reading, f results.CompatFigures) []results.Difference {
	var all, good []Observation
	for _, p := range pairs {
		all = append(all, p.ours)
		if p.ours.OK() {
			good = append(good, p.ours)
		}
	}

	var found []results.Difference
	if exact := peakConcurrent(all); f.MaxConcurrentRequests != nil && *f.MaxConcurrentRequests != exact {
		found = append(found, results.Difference{
			Code: results.DiffPeakRequests, Count: 1,
			Effect: fmt.Sprintf("peak concurrency %d where %d were in flight: it counts the requests that touch a "+
				"second", *f.MaxConcurrentRequests, exact),
		})
	}

	if exact := maxOutputTokensPerS(good); f.MaxOutputTokensPerS != nil && exact != nil &&
		*f.MaxOutputTokensPerS != *exact {
		found = append(found, results.Difference{
			Code: results.DiffPeakTokens, Count: 1,
			Effect: fmt.Sprintf("peak of %.0f output tokens/s where %.0f came: it counts chunks",
				*f.MaxOutputTokensPerS, *exact),
		})
	}

	return found
}

// effects say in words what a difference does.
func effects(code results.DifferenceCode) string {
	switch code {
	case results.DiffRoleFirst:
		return "a role-only chunk is taken as the first token"
	case results.DiffEmptyFirst:
		return "a chunk without text is taken as the first token"
	case results.DiffEmptyGaps:
		return "chunks without text give further ITL samples"
	case results.DiffLongerEnd:
		return "a chunk without text after the last token is in E2EL and TPOT"
	case results.DiffReasoning:
		return "reasoning and tool calls are not tokens: TTFT begins with the answer's text"
	case results.DiffInBandSuccess:
		return "an error inside the stream is taken as success, with the tokens before it"
	case results.DiffTruncated:
		return "a stream without finish reason and [DONE] is taken as success"
	case results.DiffEmptySuccess:
		return "an answer without a token is taken as success"
	case results.DiffOtherSuccess:
		return "the failure is taken as success"
	case results.DiffUsageFails:
		return "a usage event that was not requested makes the request fail"
	case results.DiffStreamLost:
		return "its parser loses events of the stream or fails at them"
	case results.DiffEventTimes:
		return "its parser takes events at another read than the one that ends them"
	case results.DiffUsageIgnored:
		return "usage beside choices is ignored; the text is tokenized again"
	case results.DiffRetokenized:
		return "the answer's length is that of its text, tokenized again"
	case results.DiffLocalInput:
		return "the prompt's length is the client's own count"
	case results.DiffDoneLatency:
		return "E2EL and TPOT end with [DONE]"
	case results.DiffUsageLatency:
		return "E2EL and TPOT end with the usage event"
	case results.DiffNoSampleIsZero:
		return "a success without a first token has a TTFT of 0"
	default:
		return "the request is taken as failed"
	}
}

func effect(code results.DifferenceCode, shifts []float64) string {
	text := effects(code)
	if len(shifts) == 0 {
		return text
	}
	return fmt.Sprintf("%s: median %+.3f ms", text, 1000*Median(Ascending(shifts)))
}
