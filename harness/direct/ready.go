package direct

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

// WaitReady asks for the first prompt's answer until it comes.
func WaitReady(ctx context.Context, p machine.Process, f *vllmcli.Flags, job step.Job) error {
	return untilReady(ctx, p, f, func(ctx context.Context) error {
		if failure := oneAnswer(ctx, job); failure != nil {
			return NameKey(failure, RequestKey(f))
		}
		return nil
	})
}

// untilReady tries something until it works or the time for that is over.
// Without such a time it does not try at all.
func untilReady(ctx context.Context, p machine.Process, f *vllmcli.Flags, try func(context.Context) error) error {
	if f.ReadyTimeoutS <= 0 {
		return nil
	}

	ctx, cancel := awake.WithTimeout(ctx, time.Duration(f.ReadyTimeoutS*float64(time.Second)))
	defer cancel()

	const pause = time.Second
	for tries := 1; ; tries++ {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if lost, ok := errors.AsType[*results.Failure](err); ok && lost.Class == results.FailAgent {
			return err // it says nothing of the server
		}
		if tries == 1 {
			fmt.Fprintf(p.Stderr, "waiting for the server: %v\n", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server was not ready within %g s: %w", f.ReadyTimeoutS, err)
		case <-time.After(pause):
		}
	}
}

// oneAnswer sends the first prompt, unmeasured, and says what went wrong.
func oneAnswer(ctx context.Context, job step.Job) *results.Failure {
	opts := job.Options
	opts.Arrivals, opts.Duration, opts.Repeat = nil, 0, false
	var failure *results.Failure
	_, err := job.Driver.Run(ctx, opts, job.Prompts[:1], func(r results.Record) error {
		failure = r.Failure
		return nil
	})
	if known, ok := errors.AsType[*results.Failure](err); ok {
		return known
	}
	if err != nil {
		return results.Failf(results.FailInternal, "%v", err)
	}
	return failure
}
