package load

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// A limit whose timer fires far too late met a pause of this program: it begins
// anew, once, because nothing could be read meanwhile.
func TestLimitsBeginAnewAfterAPause(t *testing.T) {
	for _, tt := range []struct {
		limits spec.Timeouts
		class  results.FailureClass
	}{
		{spec.Timeouts{FirstToken: 5 * time.Second}, results.FailFirstToken},
		{spec.Timeouts{Total: 5 * time.Second}, results.FailTotal},
	} {
		synctest.Test(t, func(t *testing.T) {
			var ended error
			w := &watch{limits: tt.limits, cancel: func(why error) { ended = why }}
			w.start(wire.Clock{Start: time.Now()}, 0)
			w.timer.Stop() // a stopped program's timers do not fire
			time.Sleep(20 * time.Second)
			w.fire()
			if ended != nil {
				t.Fatalf("the request ended after a pause: %v", ended)
			}

			time.Sleep(5*time.Second - time.Millisecond)
			synctest.Wait()
			if ended != nil {
				t.Fatalf("the request ended before its limit had passed anew: %v", ended)
			}

			time.Sleep(time.Millisecond)
			synctest.Wait()
			if limit, ok := errors.AsType[*limitError](ended); !ok || limit.class != tt.class {
				t.Errorf("the request ended with %v, want %s", ended, tt.class)
			}
		})
	}
}
