package agent

import (
	"context"
	"fmt"
	"time"
)

// clockRounds are how often the clocks are compared before and after a job.
const clockRounds = 16

// clock counts nanoseconds from its own beginning, on the monotonic clock.
type clock struct{ zero time.Time }

func newClock() clock                     { return clock{time.Now()} }
func (c clock) now() int64                { return time.Since(c.zero).Nanoseconds() }
func (c clock) at(moment time.Time) int64 { return moment.Sub(c.zero).Nanoseconds() }
func (c clock) time(at int64) time.Time   { return c.zero.Add(time.Duration(at)) }

// reading is one comparison of clocks: what an agent's clock shows is ours plus
// offset, and cannot be farther off than bound, half of the time that the
// messages were under way.
type reading struct {
	offset, bound time.Duration
	known         bool
}

// compare is what a question sent at and answered until says, which came when
// the agent's clock showed there and was answered so much later.
func compare(sent, until, there, since int64) reading {
	travel := max(0, until-sent-since)
	return reading{offset: time.Duration(there - sent - travel/2), bound: time.Duration((travel + 1) / 2), known: true}
}

// compareClocks asks several times and takes the answer that travelled least.
func (p *peer) compareClocks(ctx context.Context) (reading, error) {
	var best reading
	for round := range clockRounds {
		p.pings++
		sent := p.clock.now()
		if err := p.frames.send(message{Kind: kindPing, Number: p.pings}); err != nil {
			return best, p.lost(err)
		}
		got, err := p.awaitPong(ctx, p.pings)
		if err != nil {
			return best, err
		}
		if r := compare(sent, got.until, got.At, got.Since); round == 0 || r.bound < best.bound {
			best = r
		}
	}

	return best, nil
}

// awaitPong waits for the answer to a ping. Answers to earlier ones, whose
// comparison was given up while they were under way, are passed over.
func (p *peer) awaitPong(ctx context.Context, number int) (pong, error) {
	for {
		select {
		case got := <-p.pongs:
			switch {
			case got.Number == number:
				return got, nil
			case got.Number > number:
				return got, fmt.Errorf("agent %s answers ping %d with %d", p.name, number, got.Number)
			}
		case <-p.ended:
			return pong{}, p.lost(nil)
		case <-ctx.Done():
			return pong{}, context.Cause(ctx)
		}
	}
}
