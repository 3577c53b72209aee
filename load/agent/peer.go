package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/load/dialect"
)

// peer is the coordinator's end of a stream to one agent.
type peer struct {
	name   string
	stream io.ReadWriteCloser
	frames *frames
	clock  clock
	hello  hello

	inbox   chan message // all but pongs
	pongs   chan pong
	ended   chan struct{} // closed when the stream has
	why     error         // of the end; valid once ended is closed
	silence atomic.Bool   // this end hung up because nothing was heard
	reading sync.WaitGroup
	beating sync.WaitGroup
	number  int // of the last job
	pings   int // of the last ping
}

// pong is the answer to a ping and when it came, on our clock.
type pong struct {
	message

	until int64
}

// helloTime bounds the greeting: a password prompt, for one, never answers.
const helloTime = 30 * time.Second

// greet makes a peer of a stream, if an agent of this version is at its end.
func greet(ctx context.Context, name string, stream io.ReadWriteCloser, c clock, version string) (*peer, error) {
	p := &peer{
		name: name, stream: stream, frames: newFrames(stream), clock: c,
		inbox: make(chan message, 64), pongs: make(chan pong, 1), ended: make(chan struct{}),
	}

	p.reading.Go(p.read)
	ctx, cancel := context.WithTimeoutCause(ctx, helloTime,
		fmt.Errorf("agent %s did not answer within %v", name, helloTime))
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = stream.Close() })() // sending may wait, too

	err := p.frames.send(message{Kind: kindHello, Hello: &hello{Protocol: protocol, Version: version}})
	var m message
	if err == nil {
		m, err = p.next(ctx)
	} else {
		err = p.lost(err)
	}

	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
	case m.Kind != kindHello || m.Hello == nil:
		err = fmt.Errorf("agent %s begins with %q: want a greeting", name, m.Kind)
	case m.Hello.Protocol != protocol || m.Hello.Version != version:
		err = fmt.Errorf("agent %s is bench %s, this is bench %s: install the same one there, or let this one be "+
			"copied (--copy-bench)", name, m.Hello.Version, version)
	default:
		p.hello = *m.Hello
		return p, nil
	}

	p.close()
	return nil, err
}

func (p *peer) read() {
	defer close(p.ended)

	for {
		m, err := p.frames.receive()
		if err != nil {
			p.why = err
			return
		}
		if m.Kind == kindPong {
			select {
			case <-p.pongs: // of a comparison that was given up
			default:
			}
			p.pongs <- pong{m, p.clock.now()}
			continue
		}
		select {
		case p.inbox <- m:
		case <-time.After(stuck):
			p.why = errors.New("nobody takes what it says")
			return
		}
	}
}

// stuck is how long a message may wait to be taken.
const stuck = time.Minute

// exitMessageWait is how long an agent that cannot be written to has to say why.
const exitMessageWait = 5 * time.Second

// lost says that the agent is gone, and why: the end of what it says explains more
// than that it does not listen.
func (p *peer) lost(err error) error {
	select {
	case <-p.ended:
		err = p.why
	case <-time.After(exitMessageWait):
	}
	switch {
	case p.silence.Load():
		err = errSilent
	case errors.Is(err, io.EOF) || err == nil:
		err = errors.New("its stream ended")
	}
	return fmt.Errorf("agent %s: %w", p.name, err)
}

// next waits for a message.
func (p *peer) next(ctx context.Context) (message, error) {
	select {
	case m := <-p.inbox:
		return m, nil
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	case <-p.ended:
	}
	select {
	case m := <-p.inbox: // it came before the end
		return m, nil
	default:
		return message{}, p.lost(nil)
	}
}

// close ends the connection, and with it the agent.
func (p *peer) close() {
	_ = p.stream.Close()
	for {
		select {
		case <-p.inbox: // so that the reading ends
		case <-p.ended:
			p.reading.Wait()
			p.beating.Wait()
			return
		}
	}
}

// promptsAtOnce bounds one message of prompts, in bytes of text.
const promptsAtOnce = 4 << 20

// sendJob sends a job and its prompts.
func (p *peer) sendJob(j *job, prompts []dialect.Prompt) error {
	err := p.frames.send(message{Kind: kindJob, Number: p.number, Job: j})
	for len(prompts) > 0 && err == nil {
		n, size := 0, 0
		for n < len(prompts) && (n == 0 || size < promptsAtOnce) {
			size += sizeOf(prompts[n])
			n++
		}
		err = p.frames.send(message{Kind: kindPrompts, Prompts: prompts[:n]})
		prompts = prompts[n:]
	}
	if err != nil {
		return p.lost(err)
	}
	return nil
}

func sizeOf(p dialect.Prompt) int {
	size := len(p.Text) + 8*len(p.TokenIDs) + 64
	size += len(p.Tools) + len(p.Audio)*4/3 // as base64
	for _, more := range p.Texts {
		size += len(more)
	}
	for _, image := range p.Images {
		size += len(image)
	}
	for _, turn := range p.Turns {
		size += len(turn.Text) + 8*len(turn.TokenIDs) + 64
	}
	return size
}

// awaitArmed waits until the agent is ready to start, and returns what its clock
// shows. An agent that cannot do the job says so here, and is done with it.
func (p *peer) awaitArmed(ctx context.Context) (at reading, done bool, err error) {
	m, err := p.next(ctx)
	switch {
	case err != nil:
		return at, false, err
	case m.Kind == kindDone:
		return at, true, fmt.Errorf("agent %s: %s", p.name, m.Error)
	case m.Kind != kindArmed:
		return at, false, fmt.Errorf("agent %s: message %q where it should be ready", p.name, m.Kind)
	}
	at, err = p.compareClocks(ctx)
	return at, false, err
}
