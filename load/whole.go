package load

import (
	"errors"
	"io"
	"sync/atomic"
)

// readWhole takes in an answer that is not streamed and returns the error that
// ended it, io.EOF for a proper end; errWouldBlock as read does. It makes one
// chunk, stamped with the arrival of its last bytes.
func (a *answer) readWhole(api API, progress *atomic.Int64) error {
	a.whole = true
	e := &a.events
	for {
		err := e.fill()
		if err == nil {
			continue
		}
		if errors.Is(err, errWouldBlock) {
			return err
		}
		a.end = e.at
		if errors.Is(err, io.EOF) && len(e.rest()) > 0 {
			a.end = e.dataAt
			a.take(e.rest(), e.dataAt, api.wholeParser())
			a.done = a.garbage == nil && a.fault == nil
			progress.Add(1)
		}
		return err
	}
}
