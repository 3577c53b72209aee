package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/results"
)

// Place is where an agent is to run.
type Place struct {
	Name string
	// Dial starts the agent and returns its stream, whose Close ends it.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
}

// Driver is a load client of several agents. Its zero value but for Places and
// Version is ready. Runs must not overlap. Connections stay open from run to
// run until Close; one that broke is opened again by the next run.
type Driver struct {
	Places  []Place
	Version string // of bench; agents must have the same

	clock clock
	peers []*peer // by place; nil: not connected
}

// Close ends all agents.
func (d *Driver) Close() {
	for i, p := range d.peers {
		if p != nil {
			p.close()
			d.peers[i] = nil
		}
	}
}

// Connect starts the agents that are not there yet, side by side.
func (d *Driver) Connect(ctx context.Context) error {
	if d.peers == nil {
		d.peers, d.clock = make([]*peer, len(d.Places)), newClock()
	}

	errs := make([]error, len(d.Places))
	var starting sync.WaitGroup
	for i, place := range d.Places {
		if d.peers[i] != nil {
			continue
		}
		starting.Go(func() {
			stream, err := place.Dial(ctx)
			if err != nil {
				errs[i] = fmt.Errorf("start agent %s: %w", place.Name, err)
				return
			}
			d.peers[i], errs[i] = greet(ctx, place.Name, stream, d.clock, d.Version)
		})
	}

	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		return results.Failf(results.FailAgent, "%v", err)
	}

	return nil
}

// Hosts are what the agents call their hosts, by place.
func (d *Driver) Hosts() []string {
	var out []string
	for _, p := range d.peers {
		if p != nil {
			out = append(out, p.hello.Host)
		}
	}
	return out
}

// Run spreads one pass over the agents, as load.Run does it alone. Records have
// the index that one client would give them, and times from the common second
// 0. When an agent is lost, the others end what they do: their records are
// emitted, and the error says which one it was.
func (d *Driver) Run(ctx context.Context, opts load.Options, prompts []dialect.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	if len(prompts) == 0 {
		return results.ClientReport{}, errors.New("spread the load: no prompts")
	}
	if err := load.CheckSchedule(&opts, len(prompts)); err != nil {
		return results.ClientReport{}, err
	}
	if err := d.Connect(ctx); err != nil {
		return results.ClientReport{}, err
	}

	n := activeAgents(len(d.peers), &opts, len(prompts))
	r := &distributedRun{opts: &opts, emit: emit, clock: d.clock, parts: make([]*part, n)}
	cycle := cycleOf(prompts)
	for i := range r.parts {
		s := share{Agents: n, Agent: i, Cycle: cycle}
		j, mine, err := newJob(&opts, s, prompts)
		if err != nil {
			return results.ClientReport{}, err
		}
		d.peers[i].number++
		r.parts[i] = &part{peer: d.peers[i], job: j, prompts: mine}
	}

	report, err := r.run(ctx)
	for i, p := range d.peers {
		select {
		case <-p.ended:
			p.close()
			d.peers[i] = nil
		default:
		}
	}

	return report, err
}

// distributedRun is one pass over agents.
type distributedRun struct {
	opts  *load.Options
	emit  load.Emit
	clock clock
	parts []*part

	mu         sync.Mutex // guards what follows, and calls of the callbacks
	records    spans
	err        error // the first that ended the pass
	emitFailed bool  // emit gave an error and is no longer called
	abort      context.CancelCauseFunc

	counting sync.Mutex // one text at a time
}

// part is one agent's.
type part struct {
	peer     *peer
	job      *job
	prompts  []dialect.Prompt
	before   reading
	after    reading
	progress load.Progress
	report   *results.ClientReport
	host     *results.NodeTelemetry
	requests int
	done     bool // it reported before it was ready
}

// lead is the time from the last agent's being ready to the common moment,
// beside what messages take.
const lead = 20 * time.Millisecond

// cancelTime is how long agents get to report after they were canceled.
const cancelTime = 10 * time.Second

func (r *distributedRun) run(ctx context.Context) (results.ClientReport, error) {
	inner, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	r.abort = abort
	stop := r.cancelWhenDone(inner)
	defer stop()

	zero, err := r.start(inner)
	if err != nil {
		r.fail(err)
	}

	var following sync.WaitGroup
	for i := range r.parts {
		if !r.parts[i].done {
			following.Go(func() { r.follow(inner, r.parts[i], err == nil) })
		}
	}

	following.Wait()
	if r.opts.Progress != nil {
		r.opts.Progress(r.progress())
	}

	report := r.report(ctx, zero)
	return report, r.err
}

// fail notes the first error, and ends the pass.
func (r *distributedRun) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.abort(err)
}

// cancelWhenDone has the agents end their jobs when ctx ends, and hangs up on
// those that do not report in time.
func (r *distributedRun) cancelWhenDone(ctx context.Context) (stop func()) {
	var hangUp *time.Timer
	over := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		hangUp = time.AfterFunc(cancelTime, func() {
			for _, p := range r.parts {
				_ = p.peer.stream.Close()
			}
		})
		for _, p := range r.parts {
			// a lost one needs none
			waiting.Go(func() { _ = p.peer.frames.send(message{Kind: kindCancel, Number: p.peer.number}) })
		}
		<-over
	})

	return func() {
		close(over)
		waiting.Wait()
		if hangUp != nil {
			hangUp.Stop()
		}
	}
}

// start gives the jobs, waits until all are ready and announces the moment.
func (r *distributedRun) start(ctx context.Context) (time.Time, error) {
	errs := make([]error, len(r.parts))
	var giving sync.WaitGroup
	for i := range r.parts {
		p := r.parts[i]
		giving.Go(func() {
			if errs[i] = p.peer.sendJob(p.job, p.prompts); errs[i] == nil {
				p.before, p.done, errs[i] = p.peer.awaitArmed(ctx)
			}
			if errs[i] != nil && ctx.Err() == nil {
				r.abort(errs[i])
			}
		})
	}

	giving.Wait()
	if ctx.Err() != nil {
		return time.Now(), agentFailure(context.Cause(ctx))
	}

	travel := slices.MaxFunc(r.parts, func(a, b *part) int { return int(a.before.bound - b.before.bound) }).before.bound
	zero := time.Now().Add(lead + 8*travel)
	if r.opts.Started != nil {
		r.opts.Started(zero)
	}

	for i := range r.parts {
		p := r.parts[i]
		if err := p.peer.frames.send(message{Kind: kindStart, Number: p.peer.number, At: r.clock.at(zero) +
			p.before.offset.Nanoseconds()}); err != nil {
			return zero, agentFailure(p.peer.lost(err))
		}
	}

	return zero, nil
}

// complete reports whether the agent has sent a record of each of its requests.
// Where prompts are repeated their number is not known here.
func (p *part) complete() bool {
	if p.job.Repeat || p.job.Duration > 0 {
		return false
	}
	return p.requests == requestsOf(p.prompts)
}

// agentFailure gives an error its class, unless it has one.
func agentFailure(err error) error {
	if _, ok := errors.AsType[*results.Failure](err); ok {
		return err
	}
	return results.Failf(results.FailAgent, "%v", err)
}

// follow takes in what an agent says until it has done its job or is lost.
func (r *distributedRun) follow(ctx context.Context, p *part, started bool) {
	late := context.WithoutCancel(ctx) // a canceled agent still reports
	stopBeat := p.peer.beat()
	defer stopBeat()

	for {
		m, err := p.peer.next(late)
		if err != nil {
			if !p.complete() {
				r.fail(agentFailure(err))
			}
			return
		}

		switch m.Kind {
		case kindArmed: // too late
		case kindRecord:
			r.take(p, m.Record)
		case kindProgress:
			r.show(p, m.Progress)
		case kindCount:
			if err := r.count(ctx, p, m.Text); err != nil {
				r.fail(agentFailure(p.peer.lost(err)))
				return
			}
		case kindDone:
			p.report, p.host = m.Report, m.Host
			if m.Error != "" && started {
				r.fail(fmt.Errorf("agent %s: %s", p.peer.name, m.Error))
			}
			stopBeat()
			if after, err := p.peer.compareClocks(late); err == nil {
				p.after = after
			}
			return
		default:
			r.fail(agentFailure(fmt.Errorf("agent %s: message %q is not known", p.peer.name, m.Kind)))
			_ = p.peer.stream.Close()
			return
		}
	}
}

// take passes a record on.
func (r *distributedRun) take(p *part, record *results.Record) {
	if record == nil {
		return
	}

	r.mu.Lock()
	record.Agent = p.peer.name
	p.requests++
	r.records.add(record)
	var err error
	if !r.emitFailed {
		err = r.emit(*record)
		r.emitFailed = err != nil
	}

	r.mu.Unlock()
	if err != nil {
		r.fail(err)
	}
}

// show passes the sum of all agents' progress on.
func (r *distributedRun) show(p *part, progress *load.Progress) {
	if progress == nil || r.opts.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.progress = *progress
	r.opts.Progress(r.progress())
}

// progress is that of all agents together; the caller holds the mutex, or all
// have ended.
func (r *distributedRun) progress() load.Progress {
	var sum load.Progress
	for i := range r.parts {
		p := r.parts[i].progress
		sum.Sent += p.Sent
		sum.Completed += p.Completed
		sum.Failed += p.Failed
		sum.InFlight += p.InFlight
		sum.Total += p.Total
		sum.OutputChunks += p.OutputChunks
		sum.Elapsed = max(sum.Elapsed, p.Elapsed)
	}
	return sum
}

// count answers an agent that asks for the tokens of a text.
func (r *distributedRun) count(ctx context.Context, p *part, text string) error {
	answer := message{Kind: kindCounted, Number: p.peer.number}
	r.counting.Lock()
	n, err := r.opts.CountTokens(ctx, text)
	r.counting.Unlock()
	if answer.Count = n; err != nil {
		answer.Error = err.Error()
	}
	return p.peer.frames.send(answer)
}
