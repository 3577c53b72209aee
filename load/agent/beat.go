package agent

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// While a job runs, the coordinator pings each agent and hears at least the
// answers: an end that hears nothing for too long has lost the other, whatever the
// program in between says.
const (
	pingPeriod = 5 * time.Second
	lookPeriod = time.Second // time in which this program was stopped has no looks

	silentAgent       = 15 // looks after which an agent is lost
	silentCoordinator = 60 // more: bench may be stopped for a while, and the agents' records are good
)

// errSilent is why a stream that is still open is given up.
var errSilent = errors.New("nothing was heard of it for 15 s: its host is off the network, or hangs")

// hearing reads a stream and notes whether something came.
type hearing struct {
	in      io.Reader
	waiting atomic.Bool // for something to come
	came    atomic.Bool // since the last look
}

func (h *hearing) Read(b []byte) (int, error) {
	h.waiting.Store(true)
	n, err := h.in.Read(b)
	h.waiting.Store(false)
	h.came.Store(true)
	return n, err
}

// silent looks until nothing has come for so many looks, or ctx ends: then it is
// false.
func (h *hearing) silent(ctx context.Context, most int) bool {
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	for quiet := 0; quiet < most; {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		if quiet++; h.came.Swap(false) || !h.waiting.Load() {
			quiet = 0
		}
	}
	return true
}

// beat pings the agent until stop is called, and hangs up if nothing is heard of it.
func (p *peer) beat() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())

	p.beating.Go(func() {
		if p.frames.hearing.silent(ctx, silentAgent) {
			p.silence.Store(true)
			_ = p.stream.Close() // the reading ends, and a ping that waits
		}
	})

	p.beating.Go(func() {
		ping := time.NewTicker(pingPeriod)
		defer ping.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.ended:
				return
			case <-ping.C:
			}
			// no comparison of clocks waits for number 0
			if p.frames.send(message{Kind: kindPing}) != nil {
				return
			}
		}
	})

	return cancel
}
