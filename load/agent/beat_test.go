package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// link is a connection that can be cut as a network is: both ends stay open, and
// nothing comes through any more.
type link struct {
	io.ReadWriteCloser

	cut chan struct{}
}

func (l link) Write(b []byte) (int, error) {
	select {
	case <-l.cut:
		return len(b), nil // into a buffer, and nowhere
	default:
		return l.ReadWriteCloser.Write(b)
	}
}

// An agent off the network ends the pass with its class in 15 s, however long its
// requests take; the agent ends in a minute. A slow pass on a network that works is
// not disturbed.
func TestHostOffTheNetwork(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cut, served := make(chan struct{}), make(chan struct{})
			run := func(ctx context.Context, opts load.Options, _ []dialect.Prompt, emit load.Emit) (
				results.ClientReport, error,
			) {
				if _, err := opts.Start(ctx); err != nil {
					return results.ClientReport{}, err
				}
				select {
				case <-time.After(10 * time.Minute): // a long answer
					return results.ClientReport{}, emit(results.Record{})
				case <-ctx.Done():
					return results.ClientReport{}, context.Cause(ctx)
				}
			}
			place := Place{Name: "far", Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
				here, there := net.Pipe()
				go func() {
					defer close(served)
					_ = Serve(context.WithoutCancel(ctx), link{there, cut}, Identity{Version: "v1"}, run, nil)
				}()
				return link{here, cut}, nil
			}}

			d := &Driver{Places: []Place{place}, Version: "v1"}
			defer d.Close()
			began := time.Now()
			if lost {
				time.AfterFunc(3*time.Second, func() { close(cut) })
			}
			opts := load.Options{Target: load.Target{API: "completions"}, Settings: spec.Settings{MaxConcurrency: 1}}
			_, _, err := drive(t.Context(), t, d.Run, opts, somePrompts(1, 0))
			took := time.Since(began)

			if !lost {
				if err != nil || took < 10*time.Minute {
					t.Errorf("a slow pass: %v after %s", err, took)
				}
				return
			}
			failure, ok := errors.AsType[*results.Failure](err)
			if !ok || failure.Class != results.FailAgent || !strings.Contains(failure.Message, "agent far: nothing") {
				t.Errorf("Run = %v, want the agent lost", err)
			}
			if took > 30*time.Second {
				t.Errorf("the pass ended after %s, want 15 s and little more", took)
			}
			<-served
		})
	}
}

// An agent whose coordinator is silent gives up, though its stream stays open.
func TestSilentCoordinator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		began := time.Now()
		served := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			defer close(served)
			run := func(ctx context.Context, opts load.Options, _ []dialect.Prompt, _ load.Emit) (
				results.ClientReport, error,
			) {
				_, err := opts.Start(ctx)
				if err == nil {
					<-ctx.Done()
				}
				ended <- context.Cause(ctx)
				return results.ClientReport{}, err
			}
			_ = Serve(t.Context(), there, Identity{Version: "v1"}, run, nil) // its stream breaks
		}()

		far := newFrames(here)
		heard := make(chan kind, 16)
		go func() {
			for {
				m, err := far.receive()
				if err != nil {
					return
				}
				heard <- m.Kind
			}
		}()
		send := func(m message) {
			if err := far.send(m); err != nil {
				t.Fatal(err)
			}
		}
		send(message{Kind: kindHello, Hello: &hello{Protocol: protocol, Version: "v1"}})
		<-heard
		send(message{Kind: kindJob, Number: 1, Job: &job{}})
		<-heard // armed
		send(message{Kind: kindStart, Number: 1})
		if err := <-ended; err == nil {
			t.Error("the job was not ended")
		}
		if took := time.Since(began); took < 50*time.Second || took > 2*time.Minute {
			t.Errorf("the agent gave up after %s, want a minute", took)
		}
		<-served
	})
}
