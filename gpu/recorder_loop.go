package gpu

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// hangLimit is when a reading that does not come is reported as a gap.
const hangLimit = 5 * time.Second

// source is what a loop reads.
type source struct {
	name     string
	period   time.Duration
	read     func(context.Context) ([]Sample, error)
	programs func() time.Duration // CPU time of programs run for it so far; nil: it runs none
}

// answer is what one read gave.
type answer struct {
	samples []Sample
	err     error
	took    time.Duration
	cpu     time.Duration // of the thread
}

// loop reads one source at its period; readings never overlap.
type loop struct {
	source
	rec     *recording
	ask     chan struct{}
	answers chan answer // holds one, so that a reader whose loop has gone can end
	last    time.Time   // when the last reading was asked for
	stats   SourceCost
	before  time.Duration // CPU time of programs at the start
}

func newLoop(rec *recording, s source) *loop {
	l := &loop{
		source: s, rec: rec, ask: make(chan struct{}, 1), answers: make(chan answer, 1),
		stats: SourceCost{Name: s.name, PeriodS: s.period.Seconds()},
	}
	if s.programs != nil {
		l.before = s.programs()
	}
	return l
}

// run reads until the recording stops or ctx ends.
func (l *loop) run(ctx context.Context) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()

	go l.serve(reading)
	defer close(l.ask)
	defer l.countPrograms()

	timer := time.NewTimer(0)
	defer timer.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-l.rec.stop:
			l.finish(cancel)
			return
		case <-timer.C:
		}
		l.last = time.Now()
		l.ask <- struct{}{}
		if !l.await(ctx, cancel) {
			return
		}
		timer.Reset(l.untilNext())
	}
}

// untilNext is the time to the next point of the grid that began with the
// recording. A reading that took longer than a period leaves points out.
func (l *loop) untilNext() time.Duration {
	return l.period - time.Since(l.rec.began)%l.period
}

// serve reads whenever asked, on a thread of its own, whose CPU time is what
// reading costs. A read that hangs hangs here.
func (l *loop) serve(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range l.ask {
		began, before := time.Now(), threadCPU()
		samples, err := l.read(ctx)
		l.answers <- answer{samples, err, time.Since(began), threadCPU() - before}
	}
}

// await waits for the answer to a question and passes it on. It reports false
// when the loop should end.
func (l *loop) await(ctx context.Context, cancel context.CancelFunc) bool {
	hang := time.NewTicker(hangLimit)
	defer hang.Stop()

	for {
		select {
		case a := <-l.answers:
			l.pass(a)
			return true
		case <-hang.C:
			l.noAnswer()
		case <-ctx.Done():
			l.settle(killGrace)
			return false
		case <-l.rec.stop:
			if l.settle(stopGrace) {
				l.finish(cancel) // this one may be of before the end
				return false
			}
			cancel()
			l.settle(killGrace)
			return false
		}
	}
}

// finish takes the last reading, however short the time since the one before:
// what was watched may have ended in between.
func (l *loop) finish(cancel context.CancelFunc) {
	l.last = time.Now()
	l.ask <- struct{}{}
	if !l.settle(stopGrace) {
		cancel()
		l.settle(killGrace)
	}
}

// settle waits for an answer for at most limit; what does not come is a gap.
func (l *loop) settle(limit time.Duration) bool {
	select {
	case a := <-l.answers:
		l.pass(a)
		return true
	case <-time.After(limit):
		l.noAnswer()
		return false
	}
}

func (l *loop) noAnswer() { l.gap(fmt.Sprintf("no answer for %.0f s", time.Since(l.last).Seconds())) }

func (l *loop) pass(a answer) {
	l.stats.Reads++
	l.stats.CPUS += a.cpu.Seconds()
	l.stats.LongestS = max(l.stats.LongestS, a.took.Seconds())
	if a.err != nil {
		l.gap(a.err.Error())
		return
	}
	l.rec.send(a.samples...)
}

func (l *loop) gap(why string) {
	l.stats.Gaps++
	l.rec.send(Sample{At: time.Now(), Gap: &results.TelemetryGap{Source: l.name, Why: device.Clip(why)}})
}

func (l *loop) countPrograms() {
	if l.programs != nil {
		l.stats.CPUS += (l.programs() - l.before).Seconds()
	}
}
