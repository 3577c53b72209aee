package agent

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestStalePong: comparisons of clocks that were given up leave answers under
// way. They hold up nothing and do not spoil the next comparison.
func TestStalePong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		p := &peer{
			name: "host", stream: here, frames: newFrames(here), clock: newClock(),
			inbox: make(chan message, 1), pongs: make(chan pong, 1), ended: make(chan struct{}),
		}
		p.reading.Go(p.read)
		defer p.close()
		defer there.Close()

		far := newFrames(there)
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			given := make(chan error)
			go func() {
				_, err := p.compareClocks(ctx)
				given <- err
			}()
			if _, err := far.receive(); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := <-given; !errors.Is(err, context.Canceled) {
				t.Fatalf("compareClocks = %v, want it canceled", err)
			}
		}

		go func() {
			for stale := 1; stale <= 2; stale++ { // nobody waits for them
				_ = far.send(message{Kind: kindPong, Number: stale})
			}
			_ = far.send(message{Kind: kindProgress})
			for {
				m, err := far.receive()
				if err != nil {
					return
				}
				_ = far.send(message{Kind: kindPong, Number: m.Number - 1})
				time.Sleep(time.Second) // whoever waits has seen it
				_ = far.send(message{Kind: kindPong, Number: m.Number})
			}
		}()
		if m, err := p.next(t.Context()); err != nil || m.Kind != kindProgress {
			t.Fatalf("behind stale pongs: message %q, %v", m.Kind, err)
		}
		if got, err := p.compareClocks(t.Context()); err != nil || !got.known {
			t.Errorf("the next comparison = %+v, %v", got, err)
		}
	})
}

// TestEndAfterTheLastRequest: an agent, or the run, that ends when all requests
// are recorded has not cut the pass short.
func TestEndAfterTheLastRequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(kill func(int), cancel context.CancelFunc)
		// recorded is the share of each agent's requests that it records.
		recorded float64
		lost     bool
	}{
		{"agent lost at the end", func(kill func(int), _ context.CancelFunc) { kill(1) }, 1, false},
		{"agent lost before", func(kill func(int), _ context.CancelFunc) { kill(1) }, 0.5, true},
		{"run ended at the end", func(_ func(int), cancel context.CancelFunc) { cancel() }, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var kill func(int)
			all, kill := placesOf(t, 2, "v1", func(i int) Runner {
				return func(_ context.Context, opts load.Options, prompts []dialect.Prompt,
					emit load.Emit,
				) (results.ClientReport, error) {
					if _, err := opts.Start(context.Background()); err != nil {
						return results.ClientReport{}, err
					}
					for n := range int(float64(len(prompts)) * tt.recorded) {
						if err := emit(results.Record{Index: n}); err != nil {
							return results.ClientReport{}, err
						}
					}
					if i == 1 {
						tt.end(kill, cancel)
					}
					return results.ClientReport{}, nil
				}
			})
			d := &Driver{Places: all, Version: "v1"}
			defer d.Close()

			opts := load.Options{Target: load.Target{API: "completions"}, Settings: spec.Settings{MaxConcurrency: 4}}
			_, report, err := drive(ctx, t, d.Run, opts, somePrompts(8, 0))
			if (err != nil) != tt.lost || (report.Interrupted != "") != tt.lost {
				t.Errorf("Run = %v, interrupted %q, want lost: %v", err, report.Interrupted, tt.lost)
			}
		})
	}
}
