package load

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/wire/sse"
)

// readWhole takes in an answer that is not streamed and returns the error that
// ended it, io.EOF for a proper end; ErrWouldBlock as read does. It makes one
// chunk, stamped with the arrival of its last bytes.
func (a *answer) readWhole(api dialect.API, progress *atomic.Int64) error {
	a.whole = true
	e := &a.events
	for {
		err := e.Fill()
		if err == nil {
			continue
		}
		if errors.Is(err, sse.ErrWouldBlock) {
			return err
		}
		a.end = e.At
		if errors.Is(err, io.EOF) && len(e.Rest()) > 0 {
			a.end = e.DataAt
			a.take(e.Rest(), e.DataAt, api.WholeParser())
			a.done = a.garbage == nil && a.fault == nil
			progress.Add(1)
		}
		return err
	}
}
