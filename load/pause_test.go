package load

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// A limit whose timer fires far too late met a pause of this program: it begins
// again, once, because nothing could be read meanwhile.
func TestLimitsBeginAnewAfterAPause(t *testing.T) {
	for _, tt := range []struct {
		limits spec.Timeouts
		class  results.FailureClass
	}{
		{spec.Timeouts{FirstToken: 5 * time.Second}, results.FailFirstToken},
		{spec.Timeouts{Total: 5 * time.Second}, results.FailTotal},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex // a timer's goroutine writes it
			var cause error
			w := &watch{limits: tt.limits, cancel: func(why error) {
				mu.Lock()
				defer mu.Unlock()
				cause = why
			}}
			ended := func() error {
				mu.Lock()
				defer mu.Unlock()
				return cause
			}

			w.start(wire.Clock{Start: time.Now()}, 0)
			w.timer.Stop() // a stopped program's timers do not fire
			time.Sleep(20 * time.Second)
			w.fire()
			if err := ended(); err != nil {
				t.Fatalf("the request ended after a pause: %v", err)
			}

			time.Sleep(5*time.Second - time.Millisecond)
			synctest.Wait()
			if err := ended(); err != nil {
				t.Fatalf("the request ended before its limit had passed anew: %v", err)
			}

			time.Sleep(time.Millisecond)
			synctest.Wait()
			err := ended()
			if limit, ok := errors.AsType[*limitError](err); !ok || limit.class != tt.class {
				t.Errorf("the request ended with %v, want %s", err, tt.class)
			}
		})
	}
}
