package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

// Run sends every prompt at its time and emits one record for each request
// that was sent or tried. When ctx ends, what is in flight is recorded as
// canceled, the rest is not sent, and the report says why. The error is about
// the options or prompts, before anything was sent, or comes from emit; failed
// requests are records, not errors.
func Run(ctx context.Context, opts Options, prompts []dialect.Prompt, emit Emit) (results.ClientReport, error) {
	return run(ctx, opts, prompts, emit, nil)
}

// run is Run with connections opened by dial, nil for the network.
func run(ctx context.Context, opts Options, prompts []dialect.Prompt, emit Emit,
	dial wire.DialFunc,
) (results.ClientReport, error) {
	ctx, release := withoutDeadline(ctx)
	defer release()

	p, err := newPass(&opts, prompts)
	if err != nil {
		return results.ClientReport{}, err
	}

	urls, err := targetURLs(opts.Target)
	if err != nil {
		return results.ClientReport{}, err
	}

	width, _ := p.conversations()
	if opts.MaxConcurrency > 0 {
		width = min(width, opts.MaxConcurrency)
	}
	if p.wire, err = wire.New(opts.wire(urls, width, dial)); err != nil {
		return results.ClientReport{}, err
	}

	report := results.ClientReport{}
	c, before := p.collect(ctx, emit, firstWave(&opts, min(width, cmp.Or(firstCap(&opts), width))))
	after := readSelf()

	report.StartTime = p.clock.Start.Format(time.RFC3339Nano)
	p.wire.Close(&report)
	report.DurationS = c.lastEnd
	_, report.PeakInFlight = p.slots.load()
	report.SharedReads = p.count.shared.Load()
	describe(&report, before, after, c.late)
	report.Interrupted = p.interruption(ctx, c)
	c.countTokens(ctx)
	return report, c.err
}

// withoutDeadline is a context that ends when ctx does and for the same cause,
// but does not say when that will be. Dialers stop at a deadline that they can
// see, with an error that looks like a server which does not answer.
func withoutDeadline(ctx context.Context) (inner context.Context, release func()) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return inner, func() {
		stop()
		cancel(nil)
	}
}

// collect makes the first wave ready, starts the clock and drives the pass to
// its end, with progress reported beside it. before is what this process had used up
// when the clock started.
func (p *pass) collect(ctx context.Context, emit Emit, wave int) (c *collector, before selfUse) {
	passCtx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	p.wire.Prepare(ctx, wave)
	staged := p.stageWave(passCtx, wave)
	runtime.GC() // none shall fall into the wave
	before = readSelf()
	if p.clock = wire.StartClock(); p.opts.Start != nil {
		var err error
		if p.clock.Start, err = p.opts.Start(ctx); err != nil {
			p.clock = wire.StartClock()
			p.withheld.Store(true)
			abort(err)
		}
	}

	p.wire.Start(p.clock)
	if p.opts.Started != nil {
		p.opts.Started(p.clock.Start)
	}
	defer p.limitDrain(abort)()

	sendCtx, stopSending := p.sendSpan(passCtx)
	defer stopSending()

	c = &collector{
		emit: emit, count: p.opts.CountTokens, model: p.opts.Target.Model, limit: p.opts.MaxFailures, abort: abort,
		enough: p.opts.Enough, stopSending: stopSending,
	}
	out := make(chan finished, 256)
	var collecting, reporting sync.WaitGroup
	collecting.Go(func() { c.run(out) })
	reportCtx, stopReport := context.WithCancel(ctx)
	defer stopReport()

	if p.opts.Progress != nil {
		reporting.Go(func() { p.report(reportCtx) })
	}

	p.clock.SleepUntil(passCtx, 0)
	p.drive(passCtx, sendCtx, staged, out)
	close(out)
	collecting.Wait()
	stopReport()
	reporting.Wait()
	if p.opts.Progress != nil {
		p.opts.Progress(p.progress())
	}

	return c, before
}

// interruption says why the pass ended early, "" if it did not.
func (p *pass) interruption(ctx context.Context, c *collector) string {
	switch {
	case c.err != nil:
		return c.err.Error()
	case c.refused != "" && (c.canceled > 0 || p.withheld.Load()):
		return errRefused.Error()
	case c.tooMany() && (c.canceled > 0 || p.withheld.Load()):
		return fmt.Sprintf("%s failed, and at most %d may", text.Count(c.failed, "request"), c.limit)
	case ctx.Err() != nil && (c.canceled > 0 || p.withheld.Load()):
		return context.Cause(ctx).Error()
	}
	return ""
}

// newPass checks the options and encodes every request's body, so that none of
// it costs time once the clock runs.
func newPass(opts *Options, prompts []dialect.Prompt) (*pass, error) {
	api, err := dialect.APINamed(opts.Target.API)
	if err != nil {
		return nil, err
	}
	if err := CheckSchedule(opts, len(prompts)); err != nil {
		return nil, err
	}
	opts.NoStream = opts.NoStream || api.Numbers

	p := &pass{
		opts: opts, prompts: prompts, offsets: offsetsOf(prompts), api: api, common: opts.common(),
		bodies: make([]dialect.Encoded, len(prompts)),
	}
	for i, prompt := range prompts {
		if prompt.Class < 0 || prompt.Class > len(opts.Classes) {
			return nil, fmt.Errorf("prompt %d: class %d of a load with %d", i, prompt.Class, len(opts.Classes))
		}
		if p.bodies[i], err = api.Encode(p.common.Of(prompt), dialect.Ask{Prompt: prompt}); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i, err)
		}
	}

	p.answers.budget = sse.DefaultBudget()
	p.slots = newSlots(opts.MaxConcurrency, opts.MaxConcurrency-firstCap(opts), max(len(opts.Target.BaseURLs), 1))
	return p, nil
}

// CheckSchedule wants times that fit the prompts, and an end to repeats.
func CheckSchedule(o *Options, prompts int) error {
	wanted := prompts
	switch {
	case !o.Repeat:
	case prompts == 0:
		return errors.New("check schedule: no prompts to repeat")
	case spec.PeakConcurrency(o.Stages) > o.MaxConcurrency:
		return fmt.Errorf("check schedule: stages of up to %d requests in flight, beyond the cap of %d",
			spec.PeakConcurrency(o.Stages), o.MaxConcurrency)
	case o.Arrivals == nil && (o.Duration <= 0 || o.MaxConcurrency <= 0):
		return errors.New("check schedule: prompts are repeated without end; give arrivals, or a duration and a " +
			"concurrency cap")
	default:
		wanted = len(o.Arrivals)
	}
	return checkArrivals(o.Arrivals, wanted)
}

// checkArrivals wants one time a prompt, ascending from 0; nil is all at once.
func checkArrivals(at []float64, prompts int) error {
	if at == nil {
		return nil
	}
	if len(at) != prompts {
		return fmt.Errorf("check arrivals: %d times for %d prompts", len(at), prompts)
	}
	last := 0.0
	for i, t := range at {
		if !(t >= last) || t > math.MaxInt64/1e9/2 {
			return fmt.Errorf("check arrivals: time %d is %v s, want an ascending list of seconds from 0", i, t)
		}
		last = t
	}
	return nil
}

// firstCap is how many requests may be in flight when the clock starts; 0: any number.
func firstCap(o *Options) int {
	if spec.PeakConcurrency(o.Stages) > 0 {
		return o.Stages[0].MaxConcurrency
	}
	return o.MaxConcurrency
}

// waveMax is how many connections are opened in advance at most.
const waveMax = 16 << 10

// firstWave is how many requests will be sent at once when the clock starts.
func firstWave(o *Options, width int) int {
	at0 := width
	if o.Arrivals != nil {
		at0 = 0
		for at0 < len(o.Arrivals) && o.Arrivals[at0] == 0 {
			at0++
		}
	}
	return min(at0, width, waveMax)
}
