package wire

import (
	"bytes"
	"time"
)

// lateUnknown is how long after the latest look bytes may be read of a stream
// whose gaps are not known yet without that being late.
const lateUnknown = 2 * time.Millisecond

// cuts are where the events end that wait in a socket. A read takes no more than
// one of them: the kernel then gives each the stamp of its own segment, where one
// read of all would give all that of the last.
type cuts struct {
	sizes []int // bytes of each event that is still to be read
	flood int   // bytes in which too many were found; 0: as many as can be cut, or fewer
}

// cutsMost is how many events are read one by one: a stream of which more wait is not
// paced, or so late that times of its tokens mean nothing, and has to be caught up with.
const cutsMost = 32

// late reports whether more than one event may wait in the socket of c: the time
// at which the next was due has passed by half a gap. While a stream brings more than
// can be cut, nothing is worth a look.
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

// find sets the sizes by what waits in p; none where that is one event or less.
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

// eventEnd is the length of the event at the start of p: up to a blank line, and the
// line end of the chunk that it fills, if there is one. 0: it is not whole.
func eventEnd(p []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(p[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		switch rest := p[from:]; {
		case bytes.HasPrefix(rest, []byte("\n\r\n")):
			return from + 3
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n\r\n")):
			return from + 4
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// uncut notes that a read of n bytes was not cut.
func (k *cuts) uncut(n int) {
	if n < k.flood {
		k.flood = 0
	}
}

// next takes n bytes that were read out of the sizes.
func (k *cuts) next(n int) {
	if k.sizes[0] -= n; k.sizes[0] <= 0 {
		k.sizes = k.sizes[1:]
	}
}
