package step

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// brokenDriver answers every prompt with the same failure.
type brokenDriver results.FailureClass

func (d brokenDriver) Run(_ context.Context, _ load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	for i := range prompts {
		failure := results.Failf(results.FailureClass(d), "connection broken")
		if err := emit(results.Record{Index: i, SentS: new(0.0), Failure: failure}); err != nil {
			return results.ClientReport{}, err
		}
	}
	return results.ClientReport{DurationS: 1}, nil
}

// The news of a server's end comes a moment after its connections broke.
func TestFailureOfServerThatEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		broken  results.FailureClass
		warmups int
		news    time.Duration // 0: the server lives
		want    results.FailureClass
	}{
		{"in the warm-up", results.FailTransport, 1, 300 * time.Millisecond, results.FailExited},
		{"in the pass", results.FailTransport, 0, 300 * time.Millisecond, results.FailExited},
		{"a container", results.FailConnect, 0, 4 * time.Second, results.FailExited},
		{"the server lives", results.FailTransport, 0, 0, results.FailRequests},
		{"another failure", results.FailInBand, 1, 300 * time.Millisecond, results.FailRequests},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.news > 0 {
					time.AfterFunc(c.news, func() { cancel(results.Failf(results.FailExited, "ended by signal 9")) })
				}
				prompts := make([]load.Prompt, 2)
				job := Job{
					Driver: brokenDriver(c.broken), Prompts: prompts, Warmups: prompts[:c.warmups],
					MinSuccess: 0.95, Percentiles: []float64{50},
				}
				result := &results.Result{}
				Drive(ctx, job, result)
				if result.Failure == nil || result.Failure.Class != c.want {
					t.Errorf("Drive() fails with %v, want class %s", result.Failure, c.want)
				}
			})
		})
	}
}
