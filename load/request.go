package load

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"benchrig/results"
)

// request is one request that is due.
type request struct {
	encoded
	index        int // over the whole pass
	replica      int
	conversation int // from 1; 0: none
	turn         int // from 1; 0: no conversation
	intended     time.Duration
	inputTokens  int  // as the dataset knows them; 0: unknown
	talks        bool // more turns may follow
}

// finished is a request that has ended.
type finished struct {
	record results.Record
	held   bool   // the cap kept it back: its lateness is not the client's
	text   string // the whole answer, where tokens are still to be counted
	said   string // the answer without reasoning, where more turns may follow
}

// perform sends a request and reads its answer. It reports false if the pass
// ended before the request was sent.
func (p *pass) perform(ctx context.Context, q request) (finished, bool) {
	if ctx.Err() != nil {
		p.keptBack.Store(true)
		return finished{}, false
	}
	p.slots.begin()
	defer p.slots.end()
	r := p.newRecord(q)
	a := p.answers.get(q.asked)
	defer p.answers.put(a)
	a.talks = q.talks

	reqCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sent := p.clock.now()
	w := startWatch(cancel, p.limits(), p.clock, sent)
	defer w.stop()
	p.count.sent.Add(1)
	rep, err := p.wire.send(reqCtx, wireRequest{replica: q.replica, id: r.RequestID, body: q.body})
	r.SentS = seconds(sent)
	if err != nil {
		r.EndS = p.clock.now().Seconds()
		p.noAnswer(&r, err, context.Cause(reqCtx))
		return finished{record: r}, true
	}
	defer rep.close()
	r.HeaderS = seconds(rep.headerAt)
	p.readAnswer(&r, a, rep, w, func() error { return context.Cause(reqCtx) })
	f := finished{record: r, said: string(a.said)}
	if p.countsLater(&r) {
		f.text = string(a.text)
	}
	return f, true
}

// limits are the timeouts as they apply to the answers asked for.
func (p *pass) limits() Timeouts {
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
		AskedOutputTokens:  q.asked,
		OutputTokensSource: results.CountNone,
	}
	if p.opts.RequestID != nil {
		r.RequestID = p.opts.RequestID(q.index)
	}
	r.LocalInputTokens = atLeast(1, q.inputTokens)
	return r
}

// noAnswer records a request without an answer. Without a connection it was
// never sent.
func (p *pass) noAnswer(r *results.Record, err, cause error) {
	failed, ok := errors.AsType[*sendError](err)
	if !ok {
		failed = &sendError{err: err}
	}
	if !failed.connected {
		r.SentS = nil
	}
	r.Failure = unsent(failed, cause)
}

// readAnswer reads the body of rep to its end and records what it carried.
func (p *pass) readAnswer(r *results.Record, a *answer, rep *reply, w *watch, cause func() error) {
	body := &watchedBody{stampedReader: rep.body, watch: w}
	if r.Failure = refused(rep, w, p.form()); r.Failure != nil {
		r.EndS = p.clock.now().Seconds()
		return
	}
	var err error
	a.begin(body, p.api)
	rep.drive(func() bool {
		if p.opts.NoStream {
			err = a.readWhole(p.api, &p.count.chunks)
		} else {
			err = a.read(p.api, w, &p.count.chunks)
		}
		return !errors.Is(err, errWouldBlock)
	})
	r.EndS = a.end.Seconds()
	r.Failure = a.verdict(err, cause(), rep.reused)
	a.fill(r, p.opts.KeepText)
	r.VLLMReading = a.compat.readings(err)
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

func seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
