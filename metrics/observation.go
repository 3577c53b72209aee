package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// IsToken says which chunks carry tokens in the headline reading: those with
// content. Role-only, empty and finish chunks do not count.
func IsToken(kind results.ChunkKind) bool {
	switch kind {
	case results.ChunkText, results.ChunkReasoning, results.ChunkTool, results.ChunkWhole:
		return true
	default:
		return false
	}
}

// Observation is a record seen through a reading: which chunks are tokens, and
// whether the request succeeded.
type Observation struct {
	*results.Record
	TokenS  []float64        // arrival of each token chunk
	LateS   []float64        // by how much each may have arrived earlier; null: none did
	Failure *results.Failure // null: the request succeeded
}

// Observe looks at a record. token is the reading's idea of a token chunk.
func Observe(r *results.Record, token func(results.ChunkKind) bool) Observation {
	o := Observation{Record: r, Failure: r.Failure}
	inBand := false
	for i := range min(len(r.ChunkKinds), len(r.ChunkS)) {
		kind := results.ChunkKind(r.ChunkKinds[i])
		inBand = inBand || kind == results.ChunkError
		if token(kind) {
			if o.TokenS == nil {
				o.TokenS = make([]float64, 0, len(r.ChunkS)-i)
			}
			o.TokenS = append(o.TokenS, r.ChunkS[i])
			if i < len(r.ChunkLateS) {
				o.LateS = append(o.LateS, r.ChunkLateS[i])
			}
		}
	}

	switch {
	case o.Failure != nil:
	case inBand:
		o.Failure = results.Failf(results.FailInBand, "an error object inside the stream")
	case len(o.TokenS) == 0:
		o.Failure = results.Failf(results.FailNoTokens, "the stream carried no token")
	}

	return o
}

// observeAll looks at records in the order of the prompt list.
func observeAll(records []results.Record) []Observation {
	all := make([]Observation, len(records))
	for i := range records {
		all[i] = Observe(&records[i], IsToken)
	}
	slices.SortStableFunc(all, func(a, b Observation) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// OK reports whether the request succeeded.
func (o Observation) OK() bool { return o.Failure == nil }

// unsent says that the pass ended before the request was sent.
func (o Observation) unsent() bool {
	return o.SentS == nil && o.Failure != nil && o.Failure.Class == results.FailCanceled
}

// since is the time from start to the token chunk at index i, -1 for the last;
// null where one of the two is unknown.
func (o Observation) since(start *float64, i int) *float64 {
	if start == nil || len(o.TokenS) == 0 {
		return nil
	}
	if i < 0 {
		i = len(o.TokenS) - 1
	}
	return new(o.TokenS[i] - *start)
}

// first is the time from start to the first token; null for an answer that was
// not streamed.
func (o Observation) first(start *float64) *float64 {
	if o.Whole() {
		return nil
	}
	return o.since(start, 0)
}

// Whole reports whether the answer came in one piece, not streamed.
func (o Observation) Whole() bool {
	return strings.IndexByte(o.ChunkKinds, byte(results.ChunkWhole)) >= 0
}

// TTFT returns the seconds from sending to the first token; nil if either is unknown or the answer was not streamed.
func (o Observation) TTFT() *float64 { return o.first(o.SentS) }

// E2EL returns the seconds from sending to the last token; nil if the request was not sent or no token came.
func (o Observation) E2EL() *float64 { return o.since(o.SentS, -1) }

// gaps are the times between token chunks.
func (o Observation) gaps() []float64 {
	gaps := make([]float64, 0, max(len(o.TokenS)-1, 0))
	for i := 1; i < len(o.TokenS); i++ {
		gaps = append(gaps, o.TokenS[i]-o.TokenS[i-1])
	}
	return gaps
}

// TPOT is null for answers of one token or one chunk and where their length is
// unknown. It is the time from the first chunk to the last over the tokens that
// came after the first: not those that were held back before it.
func (o Observation) TPOT() *float64 {
	if o.OutputTokens == nil || len(o.TokenS) < 2 || o.Whole() {
		return nil
	}
	later := *o.OutputTokens - 1 - o.hiddenTokens()
	if later < 1 {
		return nil
	}
	return new((o.TokenS[len(o.TokenS)-1] - o.TokenS[0]) / float64(later))
}

// fewestHidden is how many chunks without content must come before the first
// token to be taken for tokens that a parser held back: servers begin their
// answers with one or two chunks that are not.
const fewestHidden = 3

// hiddenTokens are the tokens that the server generated before the first that
// it showed, as far as it sent a chunk for each: reasoning and tool parsers hold
// tokens back. Tokens without any chunk cannot be distinguished from chunks of several.
func (o Observation) hiddenTokens() int {
	if o.OutputTokens == nil {
		return 0
	}
	empty := 0
	for _, kind := range []byte(o.ChunkKinds) {
		if IsToken(results.ChunkKind(kind)) {
			break
		}
		if results.ChunkKind(kind) == results.ChunkEmpty {
			empty++
		}
	}
	if empty < fewestHidden {
		return 0
	}
	return max(min(empty, *o.OutputTokens-len(o.TokenS)), 0)
}

// ChunkWeight is how many tokens one token chunk stands for; false where the
// length of the answer is unknown.
func (o Observation) ChunkWeight() (tokens float64, known bool) {
	if o.OutputTokens == nil || len(o.TokenS) == 0 {
		return 0, false
	}
	return float64(*o.OutputTokens) / float64(len(o.TokenS)), true
}
