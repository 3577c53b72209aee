package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchrig/bench/results"
)

// collector passes records on, one at a time, and sums up what the client
// reports of itself.
type collector struct {
	emit  Emit
	count func(ctx context.Context, text string) (int, error) // nil: never asked
	abort context.CancelCauseFunc                             // ends the pass

	enough      func(*results.Record) bool // see Options; nil: never
	stopSending context.CancelFunc

	model    string     // that the requests ask for
	limit    int        // of failures; 0: none
	answered bool       // a request succeeded
	refused  string     // why the server refuses every request; "": it does not
	failed   int        // requests that failed by themselves
	tooLong  int        // of them, refused for the length of their prompts
	late     []float64  // seconds, of the requests that no cap held back
	lastEnd  float64    // seconds
	emitted  int        // requests that have ended
	canceled int        // of them, ended by us
	deferred []finished // whose tokens are counted after the pass
	err      error      // of emit
}

// errRefused ends a pass of which no request can succeed.
var errRefused = errors.New("the server refuses every request")

// errTooManyFailures ends a pass whose verdict is certain.
var errTooManyFailures = errors.New("more requests failed than may")

// run takes in requests until none come any more.
func (c *collector) run(in <-chan finished) {
	for f := range in {
		c.note(&f)
		if f.text != "" {
			c.deferred = append(c.deferred, f)
			continue
		}
		c.pass(f.record)
	}
}

func (c *collector) note(f *finished) {
	r := &f.record
	c.emitted++
	c.lastEnd = max(c.lastEnd, r.EndS)
	if r.Failure != nil && r.Failure.Class == results.FailCanceled {
		c.canceled++
	}
	if r.Failure != nil && r.Failure.Class != results.FailCanceled {
		c.failed++
		if TooLong(r.Failure) {
			c.tooLong++
		}
	}

	c.answered = c.answered || r.Failure == nil
	if !c.answered && c.refused == "" && Refuses(r.Failure, c.model) {
		c.refused = r.Failure.Error()
		c.abort(errRefused)
	}
	if c.tooMany() {
		c.abort(errTooManyFailures)
	}
	if c.enough != nil && c.enough(r) {
		c.stopSending()
	}

	if r.SentS != nil && !f.held {
		c.late = append(c.late, *r.SentS-r.IntendedS)
	}
}

// tooMany reports whether more requests failed than may. Prompts that are too long
// do not count: they are refused at once, and how many fit is worth knowing.
func (c *collector) tooMany() bool { return c.limit > 0 && c.failed-c.tooLong > c.limit }

// pass emits a record. After an error nothing more is emitted.
func (c *collector) pass(r results.Record) {
	if c.err != nil {
		return
	}
	if err := c.emit(r); err != nil {
		c.err = fmt.Errorf("emit record of request %d: %w", r.Index, err)
		c.abort(c.err)
	}
}

// countTokens counts the tokens of the answers that wait for it and emits
// them. Where counting fails, and after ctx has ended, the number of chunks
// stays.
func (c *collector) countTokens(ctx context.Context) {
	for _, f := range c.deferred {
		if ctx.Err() == nil {
			if n, err := c.count(ctx, f.text); err == nil && n > 0 {
				f.record.OutputTokens, f.record.OutputTokensSource = &n, results.CountTokenize
			}
		}
		c.pass(f.record)
	}
	c.deferred = nil
}
