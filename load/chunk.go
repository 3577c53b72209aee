package load

import "github.com/benchrig/bench/results"

// chunk is what one data event of a stream carried, in terms that all
// dialects share. Its byte slices are valid until the next event.
type chunk struct {
	done      bool   // the end mark, not a chunk
	last      bool   // a chunk, and the end of the stream
	choices   bool   // at least one choice
	content   []byte // the answer's text, all choices joined
	sofar     bool   // content is all of the answer so far, not what is new
	whole     []byte // the answer's text from its begin, if the server repeats it at the end; nil: it does not
	reasoning []byte
	tool      bool
	role      bool
	finish    []byte
	usage     tokenCounts
	timings   tokenCounts
	drafts    draftCounts
	fault     []byte // JSON of the error the server reported; nil: none
}

// tokenCounts are the server's own counts; -1 where it did not say.
type tokenCounts struct{ input, output, cached int }

var noCounts = tokenCounts{input: -1, output: -1, cached: -1}

// draftCounts are the server's own counts of speculative decoding for the
// answer; 0 where it did not say, or drafted nothing.
type draftCounts struct{ tokens, accepted, steps int }

// known reports whether the counts say anything. Servers send usage objects
// full of zeros before they know.
func (t tokenCounts) known() bool { return t.input > 0 || t.output > 0 }

// reset empties the chunk and keeps its buffers.
func (c *chunk) reset() {
	*c = chunk{content: c.content[:0], reasoning: c.reasoning[:0], usage: noCounts, timings: noCounts}
}

// kind classifies the chunk. An error outranks all else; text outranks the
// finish reason that comes with it.
func (c *chunk) kind() results.ChunkKind {
	switch {
	case c.fault != nil:
		return results.ChunkError
	case len(c.content) > 0:
		return results.ChunkText
	case len(c.reasoning) > 0:
		return results.ChunkReasoning
	case c.tool:
		return results.ChunkTool
	case c.choices && len(c.finish) > 0:
		return results.ChunkFinish
	case c.choices && c.role:
		return results.ChunkRole
	case c.choices:
		return results.ChunkEmpty
	case c.usage != noCounts || c.timings != noCounts:
		return results.ChunkUsage
	}
	return results.ChunkOther
}

// isToken reports whether a chunk of this kind carried output of the model.
func isToken(k results.ChunkKind) bool {
	return k == results.ChunkText || k == results.ChunkReasoning || k == results.ChunkTool || k == results.ChunkWhole
}
