package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/benchrig/bench/load/wire/sse"
)

// exchange is one request on its way and the answer that comes back. The two
// overlap: a server may answer, and even close, before it has read a large
// request; then its answer counts.
type exchange struct {
	t       *socketTransport
	ctx     context.Context //nolint:containedctx // of this one request
	r       Request
	to      AnswerReader
	c       *socketConn // nil: none is open yet
	stop    func() bool // ends the watch over ctx
	buffers *requestBuffers
	parts   [2][]byte
	out     net.Buffers // still to be written

	written time.Duration // when the last of it was; 0: it was not

	invalid   error // why it cannot be sent
	unwritten error // why not all of it was
	head      head
	begun     bool // the head is in
	got       int  // bytes of the head
	searched  int
	interims  int
	err       error // why no answer began
}

// Stage takes a connection if one is open, and makes the request's bytes.
func (t *socketTransport) Stage(ctx context.Context, r Request, to AnswerReader) Outgoing {
	x := &exchange{t: t, ctx: ctx, r: r, to: to, buffers: t.buffers.Get().(*requestBuffers)}
	if strings.ContainsAny(r.ID, "\r\n\x00") {
		x.invalid = fmt.Errorf("write request: id %q holds control characters", r.ID)
		return x
	}
	b := x.buffers
	b.out = appendRequest(b.out[:0], t.servers[r.Replica].constant, r.ID, len(r.Body))
	x.parts = [2][]byte{b.out, r.Body}
	x.out = x.parts[:]
	x.use(t.take(r.Replica))
	return x
}

func (x *exchange) use(c *socketConn) {
	if c != nil {
		x.c, x.stop = c, c.watchContext(x.ctx)
	}
}

func (x *exchange) Drop() {
	if x.c != nil {
		x.stop()
		x.c.Close()
	}
}

// Write sends what the socket takes at once and leaves the rest to the loop.
// A connection that ended since it was taken is not used.
func (x *exchange) Write() {
	if x.c == nil {
		return
	}
	if !x.c.silent() {
		x.Drop()
		x.c = nil
		return
	}
	x.begin()
}

func (x *exchange) begin() {
	x.c.stamps = x.t.stamps
	x.c.beginArrivals(time.Now())
	x.flush()
	x.c.drive(x)
}

// Wait opens a connection if there was none, and waits for the answer.
func (x *exchange) Wait() error {
	defer x.t.buffers.Put(x.buffers)

	failure := &SendError{Err: x.invalid}
	if x.invalid != nil {
		return failure
	}
	if x.c == nil {
		c, err := x.t.open(x.ctx, x.r.Replica)
		if err != nil {
			failure.Err = err
			return failure
		}
		x.use(c)
		x.begin()
	}

	failure.Connected, failure.Reused = true, x.c.reused
	x.c.finished()
	x.t.finish(x.c, x.r.Replica, x.stop() && x.err == nil && !x.head.closing && len(x.out) == 0)
	if failure.Err = x.err; x.err != nil {
		return failure
	}

	return nil
}

func (x *exchange) flush() {
	if len(x.out) == 0 || x.unwritten != nil {
		return
	}
	if err := x.c.write(&x.out); err != nil && !errors.Is(err, sse.ErrWouldBlock) {
		x.unwritten = err
	}
	if len(x.out) == 0 {
		x.written = x.t.clock.Now()
	}
}

// Written implements Outgoing.
func (x *exchange) Written() time.Duration { return x.written }

// step does what can be done now. It reports true when the answer was read, or
// none can come.
func (x *exchange) step() bool {
	x.flush()
	if !x.begun {
		at, err := x.readHead()
		if errors.Is(err, sse.ErrWouldBlock) {
			return false
		}
		if err != nil {
			if x.err = err; x.unwritten != nil {
				x.err = x.unwritten
			}
			return true
		}
		x.begun = true
		x.c.body = x.head.body
		x.to.Begin(&Reply{
			Status: x.head.status, Header: x.head.header, HeaderAt: at, Body: x.c, Reused: x.c.reused,
			Scratch: x.c.scratch(),
		})
	}

	return x.to.Step()
}

// readHead reads up to the end of the head of the final answer. Bytes beyond
// it are kept for the body.
func (x *exchange) readHead() (at time.Duration, err error) {
	b := x.buffers
	for {
		if x.got == len(b.in) {
			if x.got >= maxHead {
				return 0, ErrHeadTooLong
			}
			b.in = append(b.in, make([]byte, x.got)...)
		}

		n, at, err := x.c.read(b.in[x.got:])
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) && x.got > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}

		x.got += n
		for x.got > 0 {
			if err := notHTTP(b.in[:x.got]); err != nil {
				return 0, err
			}
			end := blankLineEnd(b.in[:x.got], x.searched)
			if end == 0 {
				x.searched = max(x.got-2, 0)
				break
			}
			if x.head, err = parseHead(b.in[:end], b.head); err != nil {
				return 0, err
			}
			if !x.head.interim() {
				x.c.ahead, x.c.aheadAt = b.in[end:x.got], at
				return at, nil
			}
			if x.interims += end; x.interims > maxHead {
				return 0, ErrHeadTooLong
			}
			x.got, x.searched = copy(b.in, b.in[end:x.got]), 0
		}
	}
}
