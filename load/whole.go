package load

import (
	"errors"
	"io"
)

// readWhole takes in an answer that is not streamed and returns the error that
// ended it, io.EOF for a proper end. It makes one chunk, stamped with the
// arrival of its last bytes.
func (a *answer) readWhole(body stampedReader, api API) error {
	e := &a.events
	e.lines = api.Lines
	e.reset(body)
	for {
		err := e.fill()
		if err == nil {
			continue
		}
		a.end = e.at
		if errors.Is(err, io.EOF) && e.w > 0 {
			a.end = e.dataAt
			a.take(e.buf[:e.w], e.dataAt, parserOfWhole(api.dialect))
			a.done = a.garbage == nil && a.fault == nil
		}
		return err
	}
}
