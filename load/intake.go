package load

import (
	"bytes"
	"errors"
	"time"

	"github.com/benchrig/bench/load/toolcall"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

// refusedKept is how many bytes of an answer that is not a stream are read: ample
// for an error message.
const refusedKept = 16 << 10

// intake reads one answer into its record.
type intake struct {
	pass   *pass
	record *results.Record
	answer *answer
	watch  *watch
	tools  *toolcall.Set // that the request offers; nil: none

	class    int // of the request, from 1; 0: none
	reply    *wire.Reply
	body     []byte // of an answer that was not accepted
	rejected bool   // it was not
	misnamed bool   // its type is that of another form: its first bytes decide
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
		x.misnamed = x.pass.form() == formEvents && succeeded(rep) && compressed(rep) == nil
		if !x.misnamed {
			x.watch.draining()
		}
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
	return x.err != sse.ErrWouldBlock //nolint:errorlint // never wrapped, and asked for each event
}

func (x *intake) readRejected() bool {
	for len(x.body) < refusedKept {
		if len(x.body) == cap(x.body) {
			x.body = append(x.body, make([]byte, 1024)...)[:len(x.body)]
		}
		n, at, err := x.reply.Body.ReadStamped(x.body[len(x.body):min(cap(x.body), refusedKept)])
		x.body = x.body[:len(x.body)+n]
		if x.misnamed && n > 0 && x.isStream() {
			x.answer.begin(&resumed{first: x.body, at: at, err: err, src: x.reply.Body}, x.pass.api, x.watch,
				x.reply.Scratch)
			return x.Step()
		}
		if err != nil {
			return !errors.Is(err, sse.ErrWouldBlock)
		}
	}
	return true
}

// isStream reports whether an answer under another type is an event stream
// after all, as vLLM's client takes it. No event can be whole before its first
// bytes decide.
func (x *intake) isStream() bool {
	events, decided := beginsLikeEvents(x.body)
	switch {
	case !decided:
		return false
	case events:
		x.rejected, x.misnamed = false, false
		return true
	}

	x.misnamed = false
	x.watch.draining()
	return false
}

// beginsLikeEvents reports whether b begins as server-sent events do, and
// whether b is long enough to tell.
func beginsLikeEvents(b []byte) (events, decided bool) {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		n := min(len(b), len(field))
		switch {
		case string(b[:n]) != field[:n]:
		case n == len(field):
			return true, true
		default:
			return false, false
		}
	}
	return false, true
}

// dropTexts leaves texts out that are not to be kept.
func dropTexts(readings map[results.Generation]results.ClientReading) {
	for g, reading := range readings {
		reading.Text = ""
		readings[g] = reading
	}
}

// resumed hands out what was read of a body before the rest of it.
type resumed struct {
	first []byte
	at    time.Duration // when the last of it came
	err   error         // that came with it
	src   sse.StampedReader
}

// ReadStamped is the first bytes, then the source.
func (r *resumed) ReadStamped(p []byte) (int, time.Duration, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, r.at, nil
	}
	if err := r.err; err != nil {
		r.err = nil
		return 0, r.at, err
	}
	return r.src.ReadStamped(p)
}

// Arrival implements wire.Arrivals.
func (r *resumed) Arrival() wire.Arrival {
	if k, ok := r.src.(wire.Arrivals); ok {
		return k.Arrival()
	}
	return wire.Arrival{}
}

// finish completes the record; cause is why the request was ended, if bench ended
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
	if x.tools != nil && r.Failure == nil {
		r.ToolCalls = x.answer.toolCalls(x.tools, x.pass.opts.KeepText)
	}
	if t := x.pass.opts.OfClass(x.class).Sampling.Temperature; t != nil && *t == 0 {
		r.TextTrail = results.TrailOf(x.answer.text)
	}

	if x.pass.opts.NoStream {
		return // vLLM's clients stream: what they would make of a whole answer says nothing
	}

	r.VLLMReading = x.answer.compat.readings(x.err, x.reply.Status,
		r.Failure != nil && r.Failure.Class == results.FailProtocol)
	if !x.pass.opts.KeepText {
		dropTexts(r.VLLMReading)
	}
}
