// Package event reads the events of answers.
//
// What goes in: the data of one event of an answer's stream, or a whole answer
// that is not streamed. What comes out: a Chunk, what the event carried in terms
// that all APIs share; how OpenAI-style events are read is here, how others are
// is in package dialect. It allocates nothing for an event of plain text, does no
// I/O and keeps no time.
package event

import (
	"bytes"

	"github.com/benchrig/bench/load/toolcall"
	"github.com/benchrig/bench/results"
)

// Chunk is what one data event of a stream carried, in terms that all
// dialects share. Its byte slices are valid until the next event.
type Chunk struct {
	Done      bool   // the end mark, not a chunk
	Last      bool   // a chunk, and the end of the stream
	Choices   bool   // at least one choice
	Content   []byte // the answer's text, all choices joined
	Sofar     bool   // Content is all of the answer so far, not what is new
	Whole     []byte // the answer's whole text, if the server repeats it at the end; nil: it does not
	Reasoning []byte
	Numbers   bool // embeddings or scores, the whole answer
	Calls     []toolcall.Piece
	Tool      bool // a piece of a tool call
	Role      bool // the role of the answer, which begins it
	Finish    []byte
	Usage     TokenCounts
	Timings   TokenCounts
	Drafts    DraftCounts
	Fault     []byte // JSON of the error the server reported; nil: none

	// Odd is set where a client that reads only the first listed choice, or trusts
	// the types of members, may read the event differently; see ReadFirst.
	Odd      bool
	HasText  bool // a choice has a member "text"
	HasDelta bool // a choice has an object "delta"

	texts int  // texts that are not empty, as far as their places are known
	text  span // place of the last of them
}

// TokenCounts are the server's own counts of tokens; -1 where it gave none.
type TokenCounts struct{ Input, Output, Cached int }

// NoCounts are the counts of a server that gave none.
var NoCounts = TokenCounts{Input: -1, Output: -1, Cached: -1}

// DraftCounts are the server's own counts of speculative decoding for the
// answer; 0 where it gave none, or drafted nothing.
type DraftCounts struct{ Tokens, Accepted, Steps int }

// Known reports whether the counts tell anything. Servers send usage objects
// full of zeros before they know.
func (t TokenCounts) Known() bool { return t.Input > 0 || t.Output > 0 }

// Over returns t with the counts that it lacks taken from before: some APIs give
// the prompt's count first and the answer's last.
func (t TokenCounts) Over(before TokenCounts) TokenCounts {
	if t.Input < 0 {
		t.Input = before.Input
	}
	if t.Output < 0 {
		t.Output = before.Output
	}
	if t.Cached < 0 {
		t.Cached = before.Cached
	}
	return t
}

// Reset empties the chunk and keeps its buffers.
func (c *Chunk) Reset() {
	*c = Chunk{
		Content: c.Content[:0], Reasoning: c.Reasoning[:0], Calls: c.Calls[:0], Usage: NoCounts, Timings: NoCounts,
	}
}

// Begin empties the chunk for an event and reports whether there is more to read:
// false for the end mark of OpenAI-style streams, which proxies send on other
// APIs too.
func (c *Chunk) Begin(data []byte) bool {
	c.Reset()
	c.Done = string(bytes.TrimSpace(data)) == "[DONE]"
	return !c.Done
}

// Kind classifies the chunk. An error outranks all else; text outranks the
// finish reason that comes with it.
func (c *Chunk) Kind() results.ChunkKind {
	switch {
	case c.Fault != nil:
		return results.ChunkError
	case len(c.Content) > 0, c.Numbers:
		return results.ChunkText
	case len(c.Reasoning) > 0:
		return results.ChunkReasoning
	case c.Tool:
		return results.ChunkTool
	case c.Choices && len(c.Finish) > 0:
		return results.ChunkFinish
	case c.Choices && c.Role:
		return results.ChunkRole
	case c.Choices:
		return results.ChunkEmpty
	case c.Usage != NoCounts || c.Timings != NoCounts:
		return results.ChunkUsage
	}

	return results.ChunkOther
}

// IsToken reports whether a chunk of this kind carried output of the model.
func IsToken(k results.ChunkKind) bool {
	return k == results.ChunkText || k == results.ChunkReasoning || k == results.ChunkTool || k == results.ChunkWhole
}
