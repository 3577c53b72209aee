package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// isToken says which chunks carry tokens in the headline reading: those with
// content. Role-only, empty and finish chunks are none.
func isToken(kind results.ChunkKind) bool {
	switch kind {
	case results.ChunkText, results.ChunkReasoning, results.ChunkTool, results.ChunkWhole:
		return true
	default:
		return false
	}
}

// observation is a record seen through a reading: which chunks are tokens, and
// whether the request succeeded.
type observation struct {
	*results.Record
	tokenS  []float64        // arrival of each token chunk
	failure *results.Failure // null: the request succeeded
}

// observe looks at a record. token is the reading's idea of a token chunk.
func observe(r *results.Record, token func(results.ChunkKind) bool) observation {
	o := observation{Record: r, failure: r.Failure}
	inBand := false
	for i := range min(len(r.ChunkKinds), len(r.ChunkS)) {
		kind := results.ChunkKind(r.ChunkKinds[i])
		inBand = inBand || kind == results.ChunkError
		if token(kind) {
			if o.tokenS == nil {
				o.tokenS = make([]float64, 0, len(r.ChunkS)-i)
			}
			o.tokenS = append(o.tokenS, r.ChunkS[i])
		}
	}
	switch {
	case o.failure != nil:
	case inBand:
		o.failure = results.Failf(results.FailInBand, "an error object inside the stream")
	case len(o.tokenS) == 0:
		o.failure = results.Failf(results.FailNoTokens, "the stream carried no token")
	}
	return o
}

// observeAll looks at records in the order of the prompt list.
func observeAll(records []results.Record) []observation {
	all := make([]observation, len(records))
	for i := range records {
		all[i] = observe(&records[i], isToken)
	}
	slices.SortStableFunc(all, func(a, b observation) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

func (o observation) ok() bool { return o.failure == nil }

// unsent says that the pass ended before the request was sent.
func (o observation) unsent() bool {
	return o.SentS == nil && o.failure != nil && o.failure.Class == results.FailCanceled
}

// since is the time from start to the token chunk at index i, -1 for the last;
// null where one of the two is unknown.
func (o observation) since(start *float64, i int) *float64 {
	if start == nil || len(o.tokenS) == 0 {
		return nil
	}
	if i < 0 {
		i = len(o.tokenS) - 1
	}
	return new(o.tokenS[i] - *start)
}

// first is the time from start to the first token; null for an answer that was
// not streamed.
func (o observation) first(start *float64) *float64 {
	if o.whole() {
		return nil
	}
	return o.since(start, 0)
}

// whole reports whether the answer came in one piece, not streamed.
func (o observation) whole() bool {
	return strings.IndexByte(o.ChunkKinds, byte(results.ChunkWhole)) >= 0
}

func (o observation) ttft() *float64 { return o.first(o.SentS) }
func (o observation) e2el() *float64 { return o.since(o.SentS, -1) }

// gaps are the times between token chunks.
func (o observation) gaps() []float64 {
	gaps := make([]float64, 0, max(len(o.tokenS)-1, 0))
	for i := 1; i < len(o.tokenS); i++ {
		gaps = append(gaps, o.tokenS[i]-o.tokenS[i-1])
	}
	return gaps
}

// tpot is null for answers of one token and where their length is unknown.
func (o observation) tpot() *float64 {
	if o.OutputTokens == nil || *o.OutputTokens <= 1 || len(o.tokenS) == 0 || o.whole() {
		return nil
	}
	return new((o.tokenS[len(o.tokenS)-1] - o.tokenS[0]) / float64(*o.OutputTokens-1))
}

// chunkWeight is how many tokens one token chunk stands for, at least 1.
func (o observation) chunkWeight() float64 {
	if o.OutputTokens == nil || *o.OutputTokens <= len(o.tokenS) || len(o.tokenS) == 0 {
		return 1
	}
	return float64(*o.OutputTokens) / float64(len(o.tokenS))
}
