// Package status holds what a run is doing at this moment.
//
// What goes in: updates of the runner, readings of GPUs and servers, records as
// they end. What comes out: live.json once a second, and the same to whoever
// watches. It costs the load client some hundred nanoseconds a request and
// nothing a token; it decides nothing.
package status

import (
	"cmp"
	"context"
	"os"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// livePeriod is the time between two looks at what a run is doing.
const livePeriod = time.Second

// Live is what is known of a run while it runs: the runner informs it, and it
// informs whoever watches, by live.json and OnChange. It costs the load client
// some hundred nanoseconds a request, and nothing a token. All methods work on
// nil, and do nothing.
type Live struct {
	Folder      *store.Folder
	Version     string
	Node        string
	Devices     []device.Device
	Hide        func(string) string // takes secrets out of lines of logs; nil: there are none
	UsualStartS map[string]float64  // seconds that launches of variants took before, by variant; nil: not known
	OnChange    func(results.Live)  // nil: nobody but the file; never two at a time

	mu      sync.Mutex // guards what follows
	began   time.Time
	now     results.Live
	since   time.Time          // of the phase
	usual   map[string]float64 // seconds of phases, by phase and variant
	step    time.Time          // began; zero: none runs
	expect  float64            // seconds of the step
	rest    float64            // seconds of all that follows
	pass    livePass
	gpus    map[string]gpuAt
	servers map[int]map[string]float64 // last metrics by replica
	readAt  time.Time                  // when they were read
	stage   string                     // of the readiness ladder
	note    string                     // what a wait is for
	kick    chan struct{}              // something changed that is worth telling at once
	phase   string                     // key of the phase that goes on
}

// gpuAt is a reading and its moment.
type gpuAt struct {
	results.GPUReading
	at time.Time
}

// livePass are figures of the measured pass that runs.
type livePass struct {
	on         bool
	began      time.Time
	sendFor    time.Duration // 0: the number of requests decides
	progress   load.Progress
	window     []chunksAt // of the last seconds, oldest first
	chunks     int64      // token chunks of ended requests
	tokens     int64      // output tokens of the same
	output     int64      // output tokens of all ended requests that are known
	unknown    bool       // one of them did not tell
	ttft, tpot curves.Sketch
}

type chunksAt struct {
	at     time.Time
	chunks int64
}

// Start updates once a second until the function that it gives is called; that
// removes live.json. It returns when all goroutines have ended.
func (l *Live) Start(ctx context.Context) (end func()) {
	if l == nil {
		return func() {}
	}

	l.mu.Lock()
	l.began = time.Now()
	l.since = l.began
	l.usual, l.gpus, l.servers = map[string]float64{}, map[string]gpuAt{}, map[int]map[string]float64{}
	l.kick = make(chan struct{}, 1)
	for variant, took := range l.UsualStartS {
		l.usual[key(results.LiveLaunching, variant)] = took
	}

	l.now = results.Live{
		Bench: l.Version, Node: l.Node, PID: os.Getpid(), BeganAt: l.began,
		Phase: results.LiveStarting, LeftBy: results.LeftByPlan,
	}
	l.mu.Unlock()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it also reports the stop
	var done sync.WaitGroup
	done.Go(func() { l.run(ctx) })
	return func() {
		cancel()
		done.Wait()
		_ = l.Folder.RemoveLive() // a file that stays says that the run is dead, which is so
	}
}

func (l *Live) run(ctx context.Context) {
	tick := time.NewTicker(livePeriod)
	defer tick.Stop()
	l.publish()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.kick:
		}
		l.publish()
	}
}

// publish writes the file and calls OnChange. What cannot be written is not missed:
// the journal holds what happened.
func (l *Live) publish() {
	now := l.Snapshot()
	_ = l.Folder.WriteLive(&now)
	if l.OnChange != nil {
		l.OnChange(now)
	}
}

// Snapshot is the run at this moment.
func (l *Live) Snapshot() results.Live {
	l.mu.Lock()
	at := time.Now()
	if l.began.IsZero() {
		l.mu.Unlock()
		return results.Live{BeganAt: at, UpdatedAt: at, Phase: results.LiveStarting}
	}

	now := l.now
	now.UpdatedAt, now.RunForS, now.PhaseS = at, at.Sub(l.began).Seconds(), at.Sub(l.since).Seconds()
	now.Message = cmp.Or(l.note, now.Message)
	if took, known := l.usual[l.key()]; known && takesSimilarTime(now.Phase) {
		now.UsualS = &took
	}

	l.fillPass(&now, at)
	l.fillServer(&now, at)
	l.fillGPUs(&now, at)
	l.fillLeft(&now, at)
	stage := l.stage
	l.mu.Unlock()
	l.fillLog(&now, stage)
	if l.Hide != nil {
		now.Message = l.Hide(now.Message)
	}

	return now
}

// Enter begins a phase, unless it is the current one. limit is when it is
// given up; 0: never.
func (l *Live) Enter(phase results.LivePhase, limit time.Duration, message string) {
	if l == nil {
		return
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	at := time.Now()
	if l.now.Phase != phase {
		if !l.since.IsZero() {
			l.usual[l.phase] = at.Sub(l.since).Seconds()
		}
		l.since = at
	}

	l.now.Phase, l.now.Message, l.now.LimitS, l.note = phase, message, nil, ""
	l.phase = l.key()
	if limit > 0 {
		l.now.LimitS = new(limit.Seconds())
	}
	if phase != results.LiveMeasuring {
		l.pass.on = false
	}
}

// change makes a change under the lock; on nil, none.
func (l *Live) change(f func()) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// wait says what a phase waits for, in words.
func (l *Live) wait(message string) { l.change(func() { l.note = message }) }

// SetStage takes the rung of the readiness ladder that a server is on.
func (l *Live) SetStage(stage string) { l.change(func() { l.stage = stage }) }

// key is that of the current phase; the caller holds the mutex.
func (l *Live) key() string {
	variant := ""
	if l.now.Step != nil {
		variant = l.now.Step.Variant
	}
	return key(l.now.Phase, variant)
}

// takesSimilarTime reports whether a phase takes about the same time for all steps of a
// variant.
func takesSimilarTime(phase results.LivePhase) bool {
	return phase == results.LiveLaunching || phase == results.LiveStopping || phase == results.LiveIdle
}

func key(phase results.LivePhase, variant string) string { return string(phase) + "\x00" + variant }

// Update takes in what the runner reports to every watcher.
func (l *Live) Update(u Update) {
	if l == nil {
		return
	}

	switch u.Kind {
	case StepProgress:
		l.progress(u.Progress)
		return
	case StepSettling:
		l.wait(u.Message)
		return
	case LifeStopping:
		l.Enter(results.LiveStopping, 0, "")
	case LifeEnded, LifeFailed:
		l.endLife()
	case StepEnded, StepNotNeeded:
		l.endStep()
	default: // says nothing that is not known from elsewhere
	}

	select {
	case l.kick <- struct{}{}:
	default: // it is about to be reported
	}
}

// BeginLife says which servers are launched, for how many steps.
func (l *Live) BeginLife(first results.StepRef, pass int, life string, steps int) {
	l.change(func() {
		l.now.Step, l.now.Pass, l.now.Life, l.now.Steps, l.stage = &first, pass, life, steps, ""
		l.step = time.Time{}
		l.servers = map[int]map[string]float64{}
	})
}

func (l *Live) endLife() {
	l.change(func() {
		l.now.Life, l.now.Steps, l.stage = "", 0, ""
		l.servers = map[int]map[string]float64{}
	})
}

// BeginStep says which step runs.
func (l *Live) BeginStep(step results.StepRef, pass int) {
	l.change(func() { l.now.Step, l.now.Pass, l.step, l.pass = &step, pass, time.Now(), livePass{} })
}

func (l *Live) endStep() {
	l.change(func() { l.step, l.pass, l.now.Step = time.Time{}, livePass{}, nil })
}

// EndSoon sets whether the run ends after the step.
func (l *Live) EndSoon(yes bool) { l.change(func() { l.now.EndSoon = yes }) }
