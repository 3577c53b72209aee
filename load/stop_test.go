package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load/wire"
)

// TestStop: once Stop is closed nothing more is sent, without or with a duration; what
// runs under the pass's own context continues.
func TestStop(t *testing.T) {
	for _, duration := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			p := &pass{opts: &Options{Stop: stop}, clock: wire.StartClock()}
			p.opts.Duration = duration
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sendCtx, release := p.sendSpan(ctx)
			defer release()

			time.Sleep(time.Minute)
			synctest.Wait()
			if sendCtx.Err() != nil {
				t.Fatal("the sending ended before Stop was closed")
			}
			close(stop)
			synctest.Wait()
			if sendCtx.Err() == nil || ctx.Err() != nil {
				t.Errorf("after Stop: sending %v, pass %v, want only the sending to end", sendCtx.Err(), ctx.Err())
			}
		})
	}
}
