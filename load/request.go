package load

import (
	"context"
	"errors"
	"strconv"
	"time"

	"benchrig/results"
)

// finished is a request that has ended.
type finished struct {
	record results.Record
	held   bool   // the cap kept it back: its lateness is not the client's
	text   string // the whole answer, where tokens are still to be counted
}

// perform sends request i to a replica and reads its answer. It reports false
// if the pass ended before the request was sent.
func (p *pass) perform(ctx context.Context, i, replica int) (finished, bool) {
	if ctx.Err() != nil {
		return finished{}, false
	}
	r := p.newRecord(i, replica)
	a := p.answers.get(p.bodies[i].asked)
	defer p.answers.put(a)

	reqCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sent := p.clock.now()
	w := startWatch(cancel, p.opts.Timeouts, p.clock, sent)
	defer w.stop()
	p.count.sent.Add(1)
	rep, err := p.wire.send(reqCtx, wireRequest{replica: replica, id: r.RequestID, body: p.bodies[i].body})
	r.SentS = seconds(sent)
	if err != nil {
		r.EndS = p.clock.now().Seconds()
		p.noAnswer(&r, err, context.Cause(reqCtx))
		return finished{record: r}, true
	}
	defer rep.close()
	r.HeaderS = seconds(rep.headerAt)
	p.readAnswer(&r, a, rep, w, func() error { return context.Cause(reqCtx) })
	f := finished{record: r}
	if p.countsLater(&r) {
		f.text = string(a.text)
	}
	return f, true
}

func (p *pass) newRecord(i, replica int) results.Record {
	r := results.Record{
		Index: i, Replica: replica, RequestID: "bench-" + strconv.Itoa(i),
		IntendedS:          p.intended(i).Seconds(),
		AskedOutputTokens:  p.bodies[i].asked,
		OutputTokensSource: results.CountNone,
	}
	if p.opts.RequestID != nil {
		r.RequestID = p.opts.RequestID(i)
	}
	r.LocalInputTokens = atLeast(1, p.prompts[i].InputTokens)
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
	if r.Failure = refused(rep, w); r.Failure != nil {
		r.EndS = p.clock.now().Seconds()
		return
	}
	err := a.read(body, p.dialect, w, &p.count.chunks)
	r.EndS = a.end.Seconds()
	r.Failure = a.verdict(err, cause(), rep.reused)
	a.fill(r, p.opts.KeepText)
}

// countsLater reports whether the answer's tokens are to be counted by
// Options.CountTokens after the pass.
func (p *pass) countsLater(r *results.Record) bool {
	return p.opts.CountTokens != nil && r.Failure == nil && r.OutputTokensSource == results.CountChunks
}

func seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
