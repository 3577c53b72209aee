package load

import (
	"errors"

	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// refusedKept is how many bytes of an answer that is no stream are read: ample
// for an error message.
const refusedKept = 16 << 10

// intake reads one answer into its record.
type intake struct {
	pass   *pass
	record *results.Record
	answer *answer
	watch  *watch

	reply    *wire.Reply
	body     []byte // of an answer that was not accepted
	rejected bool   // it was not
	err      error  // what ended the reading
}

// Begin looks at the header. The rest of an answer that is not of the form
// asked for may take only so long.
func (x *intake) Begin(rep *wire.Reply) {
	x.reply = rep
	x.record.HeaderS = new(rep.HeaderAt.Seconds())
	switch {
	case !accepts(rep, x.pass.form()):
		x.rejected = true
		x.watch.draining()
	case compressed(rep) != nil:
		x.record.Failure = compressed(rep)
	default:
		x.answer.begin(rep.Body, x.pass.api, x.watch, rep.Scratch)
	}
}

// Step reads what is there.
func (x *intake) Step() bool {
	p := x.pass
	switch {
	case x.record.Failure != nil:
		return true
	case x.rejected:
		return x.readRejected()
	case p.opts.NoStream:
		x.err = x.answer.readWhole(p.api, &p.count.chunks)
	default:
		x.err = x.answer.read(p.api, x.watch, &p.count.chunks)
	}
	return x.err != wire.ErrWouldBlock //nolint:errorlint // never wrapped, and asked for each event
}

func (x *intake) readRejected() bool {
	for len(x.body) < refusedKept {
		if len(x.body) == cap(x.body) {
			x.body = append(x.body, make([]byte, 1024)...)[:len(x.body)]
		}
		n, _, err := x.reply.Body.ReadStamped(x.body[len(x.body):min(cap(x.body), refusedKept)])
		x.body = x.body[:len(x.body)+n]
		if err != nil {
			return !errors.Is(err, wire.ErrWouldBlock)
		}
	}
	return true
}

// finish completes the record; cause is why the request was ended, if we ended
// it.
func (x *intake) finish(cause error) {
	r := x.record
	if x.rejected {
		r.Failure = refused(x.reply, x.body, x.pass.form())
	}
	if r.Failure != nil {
		r.EndS = x.pass.clock.Now().Seconds()
		return
	}
	r.EndS = x.answer.end.Seconds()
	r.Failure = x.answer.verdict(x.err, cause, x.reply.Reused)
	x.answer.fill(r, x.pass.opts.KeepText)
	r.VLLMReading = x.answer.compat.readings(x.err)
}
