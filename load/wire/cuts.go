package wire

import (
	"bytes"
	"time"
)

// lateUnknown is how long after the earliest possible arrival of its bytes a stream
// is read late, while the gaps between its events are not known.
const lateUnknown = 2 * time.Millisecond

// cuts are the ends of the events that wait in a socket. A single read of several
// events would give all of them the kernel's stamp of the last segment. So a stream
// that is read late is first peeked at, and then read event by event, each of which
// gets the stamp of its own segment.
type cuts struct {
	sizes []int // bytes of each event that is still to be read
	flood int   // bytes in which more than cutsMost events were found; 0: none
}

// cutsMost is how many events are read one by one. Where more wait, the stream is not
// paced, or so late that the times of its tokens mean nothing, and must be caught up
// with.
const cutsMost = 32

// late reports whether more than one event may wait in the socket of c: the next was
// due half a gap ago. While a stream brings more than can be cut, it is not peeked at.
func (c *socketConn) late(now time.Time) bool {
	switch {
	case c.cuts.flood > 0:
		return false
	case c.gap > 0:
		return now.After(c.due)
	}
	return now.Sub(c.since) > lateUnknown
}

// paced follows the time between arrivals, of which the latest was at that moment.
func (c *socketConn) paced(at time.Duration) {
	if gap := at - c.lastAt; gap > 0 {
		if c.gap == 0 || gap < c.gap {
			c.gap = gap
		} else {
			c.gap += (gap - c.gap) / 8
		}
	}
	c.lastAt = at
	c.due = c.stamps.clock.Start.Add(at + c.gap*3/2)
}

// find sets the sizes of the events that wait, whose bytes p begins with; none if that
// is one event or less.
func (k *cuts) find(p []byte) {
	k.sizes = k.sizes[:0]
	whole := 0
	for whole < len(p) {
		n := eventEnd(p[whole:])
		if n == 0 {
			break
		}
		whole += n
		if k.sizes = append(k.sizes, n); len(k.sizes) > cutsMost {
			k.flood = whole
			break
		}
	}

	if len(k.sizes) < 2 || k.flood > 0 {
		k.sizes = k.sizes[:0]
		return
	}
	if whole < len(p) {
		k.sizes = append(k.sizes, len(p)-whole)
	}
}

// eventEnd returns the length of the event at the start of p: up to a blank line,
// and the line end of the chunk that it fills, if there is one. 0: it is not whole.
func eventEnd(p []byte) int {
	end := blankLineEnd(p, 0)
	if end > 0 && bytes.HasPrefix(p[end:], []byte("\r\n")) {
		end += 2
	}
	return end
}

// uncut notes that a read of n bytes was not cut.
func (k *cuts) uncut(n int) {
	if n < k.flood {
		k.flood = 0
	}
}

// next takes n bytes that were read off the sizes.
func (k *cuts) next(n int) {
	if k.sizes[0] -= n; k.sizes[0] <= 0 {
		k.sizes = k.sizes[1:]
	}
}
