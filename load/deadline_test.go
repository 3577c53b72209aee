package load

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestDeadlineIsNoConnectFailure: a deadline of the step ends requests as
// canceled, although dialers give up at a deadline by themselves, a moment
// before the context ends.
func TestDeadlineIsNoConnectFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var dials atomic.Int32
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { // as net.Dialer does
			dials.Add(1)
			if at, ok := ctx.Deadline(); ok {
				time.Sleep(time.Until(at) - time.Millisecond)
				return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		o := Options{
			Target:   Target{BaseURLs: []string{"http://one"}, Path: "/v1/completions", API: "completions", Model: "m"},
			Settings: spec.Settings{MaxConcurrency: 2, Transport: loadtest.Transport()},
		}

		var records []results.Record
		report, err := run(ctx, o, manyPrompts(100), func(r results.Record) error {
			records = append(records, r)
			return nil
		}, dial)

		if err != nil || report.Interrupted == "" {
			t.Errorf("run = %v, interrupted %q", err, report.Interrupted)
		}
		for _, r := range records {
			if r.Failure == nil || r.Failure.Class != results.FailCanceled {
				t.Errorf("request %d: %v, want it canceled", r.Index, r.Failure)
			}
		}
		if len(records) > 2 || dials.Load() > 4 {
			t.Errorf("%d requests tried, %d dials, want 2 and at most 4", len(records), dials.Load())
		}
	})
}

// TestDrainLimitOfALaterStart: the drain limit counts from second 0, also where
// that is still to come when everything is ready.
func TestDrainLimitOfALaterStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{
			Settings: spec.Settings{
				Duration: 1500 * time.Millisecond,
				Timeouts: spec.Timeouts{Drain: 500 * time.Millisecond}, MaxConcurrency: 1,
			},
			Repeat: true,
			Start:  func(context.Context) (time.Time, error) { return time.Now().Add(time.Minute), nil },
		}
		s := &pipeServer{answer: steady(300*time.Millisecond, 100*time.Millisecond)}
		records, report, err := runPipe(t.Context(), s, o, 1)
		s.wg.Wait()
		if err != nil || report.Interrupted != "" || len(records) != 4 {
			t.Errorf("run = %d records, %v, interrupted %q, want 4", len(records), err, report.Interrupted)
		}
		for _, r := range records {
			if r.Failure != nil {
				t.Errorf("request %d: %v", r.Index, r.Failure)
			}
		}
	})
}
