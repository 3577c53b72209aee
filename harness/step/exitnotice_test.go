package step

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// brokenDriver answers every prompt with the same failure, but for the last one
// where bench is to stop it itself.
type brokenDriver struct {
	class    results.FailureClass
	canceled bool
}

func (d brokenDriver) Run(_ context.Context, _ load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	for i := range prompts {
		failure := results.Failf(d.class, "connection broken")
		if d.canceled && i == len(prompts)-1 {
			failure = results.Failf(results.FailCanceled, "too many failed")
		}
		if err := emit(results.Record{Index: i, SentS: new(0.0), Failure: failure}); err != nil {
			return results.ClientReport{}, err
		}
	}
	return results.ClientReport{DurationS: 1}, nil
}

// boxed is a server in a container.
type boxed struct{ Server }

func (boxed) Info() results.Server { return results.Server{Container: &results.ContainerInfo{}} }

func (boxed) Counters(context.Context) (map[string]float64, error) { return map[string]float64{}, nil }

func (boxed) Abilities() Abilities { return Abilities{} }

// componentOn is a component behind a router, on another node unless that is "".
type componentOn struct {
	boxed

	node string
}

func (c componentOn) Info() results.Server { return results.Server{Inner: true, Node: c.node} }

// The news of a server's end comes a moment after its connections broke.
func TestFailureOfServerThatEnded(t *testing.T) {
	t.Parallel()
	transport, connect := brokenDriver{class: results.FailTransport}, brokenDriver{class: results.FailConnect}
	refused := brokenDriver{class: results.FailHTTP} // by the router
	givenUp, inBand := brokenDriver{results.FailTransport, true}, brokenDriver{class: results.FailInBand}
	for _, c := range []struct {
		name    string
		broken  brokenDriver
		servers []Server
		warmups int
		news    time.Duration // 0: the server lives
		want    results.FailureClass
	}{
		{"in the warm-up", transport, nil, 1, 300 * time.Millisecond, results.FailExited},
		{"in the pass", transport, nil, 0, 300 * time.Millisecond, results.FailExited},
		{"the pass was given up", givenUp, nil, 0, 300 * time.Millisecond, results.FailExited},
		{"a container", connect, nil, 0, 4 * time.Second, results.FailExited},
		{"a container breaks connections", transport, []Server{boxed{}}, 0, 4 * time.Second, results.FailExited},
		{"a component", refused, []Server{componentOn{}}, 1, 300 * time.Millisecond, results.FailExited},
		{"one on another node", refused, []Server{componentOn{node: "n2"}}, 1, 4 * time.Second, results.FailExited},
		{"the server lives", transport, nil, 0, 0, results.FailRequests},
		{"a component lives", refused, []Server{componentOn{}}, 1, 0, results.FailRequests},
		{"another failure", inBand, nil, 1, 300 * time.Millisecond, results.FailRequests},
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
					Driver: c.broken, Servers: c.servers, Prompts: prompts, Warmups: prompts[:c.warmups],
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
