package load

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// request is one request that is due.
type request struct {
	dialect.Encoded
	index        int // over the whole pass
	replica      int
	conversation int // from 1; 0: none
	turn         int // from 1; 0: no conversation
	intended     time.Duration
	inputTokens  int // as the dataset knows them; 0: unknown
	images       int // that the prompt holds
	audioS       float64
	continued    bool // a later request goes on from its answer
	class        int  // of the load's, from 1; 0: none
	adapter      string
}

// finished is a request that has ended.
type finished struct {
	record  results.Record
	held    bool   // the cap kept it back: its lateness is not the client's
	text    string // the whole answer, where tokens are still to be counted
	content string // the answer without reasoning, where a later request goes on from it
}

// limits are the timeouts as they apply to the answers asked for.
func (p *pass) limits() spec.Timeouts {
	t := p.opts.Timeouts
	if p.opts.NoStream {
		t.FirstToken, t.Stall = 0, 0
	}
	return t
}

func (p *pass) newRecord(q request) results.Record {
	r := results.Record{
		Index: q.index, Replica: q.replica, Conversation: q.conversation, Turn: q.turn,
		RequestID:          cmp.Or(p.opts.RequestIDPrefix, "bench-") + strconv.Itoa(q.index),
		IntendedS:          q.intended.Seconds(),
		AskedOutputTokens:  q.Asked,
		OutputTokensSource: results.CountNone,
	}
	if q.class > 0 {
		r.Class = p.opts.Classes[q.class-1].Name
	}
	r.Adapter = q.adapter
	if p.opts.RequestID != nil {
		r.RequestID = p.opts.RequestID(q.index)
	}
	r.LocalInputTokens, r.Images, r.AudioS = atLeast(1, q.inputTokens), q.images, q.audioS
	return r
}

// noAnswer records a request without an answer. Without a connection it was
// never sent.
func (p *pass) noAnswer(r *results.Record, err, cause error) {
	failed, ok := errors.AsType[*wire.SendError](err)
	if !ok {
		failed = &wire.SendError{Err: err}
	}
	if !failed.Connected {
		r.SentS = nil
	}
	r.Failure = unsent(failed, cause)
}

// form is how the answers should be laid out.
func (p *pass) form() form {
	switch {
	case p.opts.NoStream:
		return formWhole
	case p.api.Lines:
		return formLines
	}
	return formEvents
}

// countsLater reports whether the answer's tokens are to be counted by
// Options.CountTokens after the pass.
func (p *pass) countsLater(r *results.Record) bool {
	return p.opts.CountTokens != nil && r.Failure == nil &&
		(r.OutputTokensSource == results.CountChunks || r.OutputTokensSource == results.CountNone)
}
