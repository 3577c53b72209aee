package wire

import "time"

// Arrival is what is known of when the bytes of a read arrived.
type Arrival struct {
	NotBefore time.Duration // none of them arrived before that, on the clock of the pass
	Exact     bool          // the stamp of the read is the kernel's, of its newest bytes; else the moment of the read
	Known     bool          // false: nothing of this is known

	// Left says that the read left bytes in the socket. The kernel may have merged them
	// with those of the read, whose stamp is then theirs.
	Left bool
	Grew int // how many reads of the connection found that more had come since the read before
}

// waiting follows what waits in a socket, by what each read left there.
type waiting struct{ left, grew int }

// read notes a read of n bytes that left that many.
func (w *waiting) read(n, left int) {
	if left != w.left-n {
		w.grew++
	}
	w.left = left
}

// Arrivals is an sse.StampedReader that knows more of its latest read than the stamp.
type Arrivals interface{ Arrival() Arrival }

const (
	// sampledWait is how long a wait must be for the time without a core to be sampled
	// after it; samplePeriod is how often it is sampled in any case.
	sampledWait  = time.Millisecond
	samplePeriod = 10 * time.Millisecond
	// wakeSlack is what a wake-up takes beyond the time that the thread waits for
	// its core: the interrupt, and an idle core that has to be started.
	wakeSlack = 200 * time.Microsecond
)

// watchkeeping follows when a loop looked at its sockets (epoll). What a look finds
// arrived after the latest look that had found all there was. Where the loop then
// waited for its core, the arrival may be anywhere in that wait, so that the time
// without a core is taken off (starvation).
type watchkeeping struct {
	floor  time.Time // nothing that the latest look found arrived before
	looked time.Time // at the latest look that found all there was
	starve starvation
}

// found notes a look that was begun at began and did not wait. whole says that it
// found all there was.
func (k *watchkeeping) found(began time.Time, whole bool) {
	k.floor = k.looked
	if whole {
		k.looked = began
	}
	if began.Sub(k.starve.at) >= samplePeriod {
		k.starve.sample(began)
	}
}

// waited notes a look that found nothing at began and then waited until woke.
func (k *watchkeeping) waited(began, woke time.Time) {
	k.floor = began
	if woke.Sub(began) >= sampledWait || woke.Sub(k.starve.at) >= samplePeriod {
		waited, ok := k.starve.sample(woke)
		if at := woke.Add(-waited - wakeSlack); ok && at.After(began) {
			k.floor = at
		}
	}
	k.looked = k.floor
}

// beginArrivals notes that nothing of the answer had arrived at that moment: the
// request was not sent yet. The loop may watch the socket already.
func (c *socketConn) beginArrivals(at time.Time) {
	if c.loop != nil {
		c.loop.mu.Lock()
		defer c.loop.mu.Unlock()
	}
	c.emptied, c.since, c.drained, c.waiting, c.same = at, at, true, waiting{}, sameStamp{}
	c.gap, c.due, c.lastAt, c.cuts = 0, at, 0, cuts{sizes: c.cuts.sizes[:0]}
}

// announced notes that something came on a socket that was empty, and not before
// floor. The loop's lock is held.
func (c *socketConn) announced(floor time.Time) {
	if c.drained {
		c.drained = false
		if c.since = c.emptied; floor.After(c.since) {
			c.since = floor
		}
	}
}

// Arrival implements Arrivals.
func (c *socketConn) Arrival() Arrival {
	if c.loop == nil {
		return Arrival{}
	}
	return Arrival{
		NotBefore: c.since.Sub(c.stamps.clock.Start), Exact: c.exact, Known: true,
		Left: c.waiting.left > 0, Grew: c.waiting.grew,
	}
}
