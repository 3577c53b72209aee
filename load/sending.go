package load

import (
	"context"
	"time"

	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// sending is one request from before it is due to the end of its answer.
type sending struct {
	pass    *pass
	ctx     context.Context //nolint:containedctx // of this one request
	cancel  context.CancelCauseFunc
	replica int
	record  results.Record
	answer  *answer
	intake  intake
	watch   watch
	out     wire.Outgoing
	sentAt  time.Duration
	awaited bool  // the answer has ended
	err     error // why none began
}

// stage makes everything ready for request q, so that little is left to do at
// the moment of sending. ctx ends the request at any time.
func (p *pass) stage(ctx context.Context, q request) *sending {
	s := &sending{pass: p, replica: q.replica, record: p.newRecord(q), answer: p.answers.get(q.Asked)}
	s.answer.keepContent = q.continued
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.watch.cancel, s.watch.limits = s.cancel, p.limits()
	s.intake = intake{
		pass: p, record: &s.record, answer: s.answer, watch: &s.watch, tools: q.Tools, class: q.class,
	}
	s.out = p.wire.Stage(s.ctx, wire.Request{Replica: q.replica, ID: s.record.RequestID, Body: q.Body}, &s.intake)
	return s
}

// send sends the request, or begins to. It waits for nothing.
func (s *sending) send() {
	p := s.pass
	p.slots.begin()
	p.count.sent.Add(1)
	s.sentAt = p.clock.Now()
	s.watch.start(p.clock, s.sentAt)
	s.out.Write()
}

// await waits for the end of the answer. Where thousands of goroutines begin to wait at once, their stacks
// need not grow for what follows.
func (s *sending) await() {
	s.err, s.awaited = s.out.Wait(), true
}

// Wait waits for the end of the answer, if await has not, and makes its record.
func (s *sending) Wait() finished {
	if !s.awaited {
		s.await()
	}
	p, err := s.pass, s.err
	cause := context.Cause(s.ctx)
	s.watch.stop()
	s.cancel(nil)
	p.slots.end()
	r := &s.record
	r.SentS = new(s.sentAt.Seconds())
	f := finished{}
	if err != nil {
		r.EndS = p.clock.Now().Seconds()
		p.noAnswer(r, err, cause)
	} else {
		s.intake.finish(cause)
		if at := s.out.Written(); at > 0 && s.answer.arrivals != nil && !s.answer.unknown {
			r.WrittenS = new(at.Seconds())
		}
		p.count.shared.Add(s.answer.shared)
		f.content = string(s.answer.content)
		if p.countsLater(r) {
			f.text = string(s.answer.text)
		}
	}

	f.record = *r
	p.answers.put(s.answer)
	return f
}

// Drop gives up a request that was not sent.
func (s *sending) Drop() {
	s.out.Drop()
	s.cancel(nil)
	s.pass.answers.put(s.answer)
	s.pass.withheld.Store(true)
}
