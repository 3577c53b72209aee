package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/results"
)

// Runner drives a pass, as load.Run does.
type Runner func(ctx context.Context, opts load.Options, prompts []dialect.Prompt,
	emit load.Emit) (results.ClientReport, error)

// Watch samples this host beside a pass. The function that it returns is called once
// the pass has ended: it began at zero and lasted so many seconds. nil: the host
// cannot be sampled.
type Watch func(ctx context.Context) (end func(zero time.Time, lastedS float64) results.NodeTelemetry)

// Identity is what an agent says about itself.
type Identity struct {
	Version string // of bench
	Host    string
	PID     int
}

// Serve is the agent's end of a stream: it does the jobs that come, and returns
// when the stream ends, which is not an error, or ctx does. It closes the stream.
// Without watch (nil) its host is not sampled.
func Serve(ctx context.Context, stream io.ReadWriteCloser, who Identity, run Runner, watch Watch) error {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &server{
		frames: newFrames(stream), hangUp: stream.Close, clock: newClock(), run: run, watch: watch,
		inbox: make(chan message),
		who:   hello{Protocol: protocol, Version: who.Version, Host: who.Host, PID: who.PID},
	}

	s.frames.hide = func(json []byte) []byte { return secrets.Known().JSON(json) }

	var reading sync.WaitGroup
	reading.Go(func() { cancel(s.read(ctx)) })
	err := s.serve(ctx)
	cancel(nil)
	_ = stream.Close() // ends the reading too
	reading.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}

	return err
}

// server is the agent's end.
type server struct {
	frames *frames
	hangUp func() error
	clock  clock
	run    Runner
	watch  Watch
	who    hello
	inbox  chan message // all but pings and cancels

	mu       sync.Mutex // guards what follows
	canceled int        // number of the last job that was canceled
	current  int        // number of the job under way; 0: none
	end      context.CancelCauseFunc
}

// read takes messages in until the stream ends. Pings are answered here, so
// that a job does not delay them.
func (s *server) read(ctx context.Context) error {
	for {
		m, err := s.frames.receive()
		if err != nil {
			return err
		}

		switch m.Kind {
		case kindPing:
			at := s.clock.now()
			s.frames.mu.Lock()
			err = s.frames.write(message{Kind: kindPong, Number: m.Number, At: at, Since: s.clock.now() - at})
			s.frames.mu.Unlock()
			if err != nil {
				return err
			}
		case kindCancel:
			s.cancel(m.Number)
		default:
			select {
			case s.inbox <- m:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

var errCanceled = results.Failf(results.FailCanceled, "canceled by the coordinator")

func (s *server) cancel(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canceled = max(s.canceled, number)
	if s.current != 0 && s.current <= number {
		s.end(errCanceled)
	}
}

// next waits for a message of a kind. Answers to what was canceled meanwhile
// are passed over.
func (s *server) next(ctx context.Context, want kind) (message, error) {
	for {
		select {
		case m := <-s.inbox:
			answer := m.Kind == kindStart || m.Kind == kindCounted
			switch {
			case m.Kind == want && (!answer || m.Number == s.current):
				return m, nil
			case !answer:
				return m, fmt.Errorf("message %s where %s is due", m.Kind, want)
			}
		case <-ctx.Done():
			return message{}, context.Cause(ctx)
		}
	}
}

func (s *server) serve(ctx context.Context) error {
	if _, err := s.next(ctx, kindHello); err != nil {
		return err
	}
	if err := s.frames.send(message{Kind: kindHello, Hello: &s.who}); err != nil {
		return err
	}

	for {
		m, err := s.next(ctx, kindJob)
		if err != nil {
			return err
		}
		if m.Job == nil || m.Job.Prompts < 0 {
			return errors.New("a job without content")
		}
		if err := s.do(ctx, m.Number, m.Job); err != nil {
			return err
		}
	}
}

// do carries a job out. An error is about the stream; what is wrong with the
// job is reported to the coordinator.
func (s *server) do(ctx context.Context, number int, j *job) error {
	var prompts []dialect.Prompt
	for len(prompts) < j.Prompts {
		m, err := s.next(ctx, kindPrompts)
		if err != nil {
			return err
		}
		prompts = append(prompts, m.Prompts...)
	}

	jobCtx, end := context.WithCancelCause(ctx)
	defer end(nil)

	s.begin(number, end)
	defer s.begin(0, nil)

	share := j.Share
	share.of(prompts)
	opts := s.options(j, share)
	start, watching := opts.Start, sync.WaitGroup{}
	defer watching.Wait()
	defer end(nil)
	var zero time.Time
	opts.Start = func(ctx context.Context) (at time.Time, err error) {
		at, err = start(ctx)
		zero = at
		watching.Go(func() { // from here on the coordinator pings
			if s.frames.hearing.silent(jobCtx, silentCoordinator) {
				end(errCanceled)
				_ = s.hangUp() // the stream is dead
			}
		})
		return at, err
	}

	endWatch := s.watchHost(jobCtx)
	report, err := s.run(jobCtx, opts, prompts, func(r results.Record) error {
		index, conversation := share.number(r.Index)
		if r.Index = index; r.Conversation > 0 {
			r.Conversation = conversation + 1
		}
		return s.frames.send(message{Kind: kindRecord, Record: &r})
	})

	host := endWatch(zero, report.DurationS)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	done := message{Kind: kindDone, Number: number, Report: &report, Host: host}
	if err != nil {
		done.Error = err.Error()
	}

	return s.frames.send(done)
}

// watchHost samples this host until its end is asked for; a pass that never began
// has no figures of it.
func (s *server) watchHost(ctx context.Context) (end func(zero time.Time, lastedS float64) *results.NodeTelemetry) {
	var endWatch func(time.Time, float64) results.NodeTelemetry
	if s.watch != nil {
		endWatch = s.watch(ctx)
	}

	return func(zero time.Time, lastedS float64) *results.NodeTelemetry {
		if endWatch == nil {
			return nil
		}
		host := endWatch(zero, lastedS)
		if zero.IsZero() {
			return nil
		}
		return &host
	}
}

// begin notes which job is under way; one that was canceled before ends at
// once.
func (s *server) begin(number int, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.end = number, end
	if number != 0 && number <= s.canceled {
		end(errCanceled)
	}
}

// options are the job's with callbacks that speak to the coordinator.
func (s *server) options(j *job, share share) load.Options {
	o := j.options()
	prefix := j.IDPrefix
	if prefix == "" {
		prefix = "bench-"
	}

	o.RequestID = func(i int) string {
		index, _ := share.number(i)
		return prefix + fmt.Sprint(index)
	}

	o.Start = func(ctx context.Context) (time.Time, error) {
		if err := s.frames.send(message{Kind: kindArmed}); err != nil {
			return time.Time{}, err
		}
		m, err := s.next(ctx, kindStart)
		return s.clock.time(m.At), err
	}

	if j.Progress > 0 {
		o.Progress = func(p load.Progress) {
			_ = s.frames.send(message{Kind: kindProgress, Progress: &p}) // a broken stream ends the job
		}
	}

	if j.Counts {
		o.CountTokens = func(ctx context.Context, text string) (int, error) {
			if err := s.frames.send(message{Kind: kindCount, Text: text}); err != nil {
				return 0, err
			}
			m, err := s.next(ctx, kindCounted)
			if err == nil && m.Error != "" {
				err = errors.New(m.Error)
			}
			return m.Count, err
		}
	}

	return o
}
