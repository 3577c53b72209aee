package curves

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/results"
)

// SpanPhase says what a span of the timeline is.
type SpanPhase string

// The phases. The middle three are those of a server's life.
const (
	PhaseStep     SpanPhase = "step"
	PhaseStarting SpanPhase = "starting" // until the server is ready, or failed to become so
	PhaseServing  SpanPhase = "serving"
	PhaseStopping SpanPhase = "stopping" // until it is proven gone
	PhaseHook     SpanPhase = "hook"
)

// TimelineSpan is something that lasted. Times are seconds since the first
// event of the journal, by the wall clock: labels, good for a drawing only.
type TimelineSpan struct {
	Phase      SpanPhase
	FromS, ToS float64
	Open       bool // the journal has no end of it: ToS is the last thing known
	Name       string
	Step       string
	Variant    string // "": none, or not known
	Attempt    int
	Life       string
	Replica    int
	Verdict    results.Verdict  // of a step; "" where it has none
	Failure    *results.Failure // why a step, a start or a hook did not succeed
}

// TimelineMark is something that happened at one moment.
type TimelineMark struct {
	AtS     float64
	Kind    results.EventKind
	Step    string
	Life    string
	Message string
	Failure *results.Failure
}

// Timeline is what happened when in a run.
type Timeline struct {
	EndS  float64 // of the last event
	Steps []TimelineSpan
	Lives []TimelineSpan
	Hooks []TimelineSpan
	Marks []TimelineMark // failures, resumes and ends, in order
}

// TimelineOf turns a run's journal into spans and marks. Second 0 is the time
// of the first event. A wall clock that was set back makes spans of length 0,
// never negative ones.
func TimelineOf(run *results.Run) Timeline {
	b := &timelineBuilder{variants: map[string]string{}, open: map[spanKey]*TimelineSpan{}}
	for _, ref := range run.Manifest.Planned {
		b.variants[ref.ID] = ref.Variant
	}
	for i := range run.Events {
		b.see(run.Events[0], run.Events[i])
	}
	b.closeAll()
	return b.t
}

// StartOf places a wall-clock time as results.ClientReport.StartTime has it
// on the timeline of a run; false where it is not a time or the run has no event.
func StartOf(run *results.Run, wall string) (atS float64, ok bool) {
	if len(run.Events) == 0 {
		return 0, false
	}
	at := run.Events[0].Time
	if err := at.UnmarshalText([]byte(wall)); err != nil {
		return 0, false
	}
	return at.Sub(run.Events[0].Time).Seconds(), true
}

// spanKey names a span that has begun.
type spanKey struct {
	phase   string // "step", "life", "hook"
	id      string
	replica int
}

type timelineBuilder struct {
	t        Timeline
	nowS     float64
	variants map[string]string // by step
	open     map[spanKey]*TimelineSpan
}

func (b *timelineBuilder) see(first, e results.Event) {
	if e.Kind == results.RunResumed {
		b.closeAll() // what the killed run left open ends with its last word
	}

	b.nowS = max(e.Time.Sub(first.Time).Seconds(), b.nowS)
	b.t.EndS = b.nowS
	life := spanKey{"life", e.Life, e.Replica}
	switch e.Kind {
	case results.StepStarted:
		key := spanKey{"step", e.Step, 0}
		b.end(key, nil)
		b.begin(key, PhaseStep, e, e.Step)
		b.nameLives(e)
	case results.StepFinished:
		b.endStep(e)
	case results.LifeStarting:
		b.end(life, nil)
		b.begin(life, PhaseStarting, e, e.Life)
	case results.LifeReady:
		b.next(life, PhaseServing, e)
	case results.LifeStopping:
		b.next(life, PhaseStopping, e)
	case results.LifeStopped:
		b.end(life, e.Failure)
	case results.LifeFailed:
		b.end(life, e.Failure)
		b.mark(e, e.Failure)
	case results.HookStarted, results.HookFinished:
		b.seeHook(e)
	case results.RunStarted, results.RunFinished, results.RunResumed:
		b.mark(e, e.Failure)
	default: // neither begins nor ends anything that lasts
	}
}

func (b *timelineBuilder) seeHook(e results.Event) {
	if e.Hook == nil {
		return
	}

	key := spanKey{
		"hook", e.Hook.Level + "/" + e.Hook.When + "/" + e.Hook.Name + "/" + e.Step + "/" + e.Life,
		e.Replica,
	}
	if e.Kind == results.HookStarted {
		b.begin(key, PhaseHook, e, e.Hook.Name)
		return
	}
	if b.open[key] == nil {
		b.begin(key, PhaseHook, e, e.Hook.Name)
		b.open[key].FromS = max(b.nowS-max(e.Hook.TookS, 0), 0)
	}

	var failure *results.Failure
	if !e.Hook.OK {
		failure = results.Failf(results.FailHook, "%s", e.Hook.Message)
		b.mark(e, failure)
	}

	b.end(key, failure)
}

func (b *timelineBuilder) begin(key spanKey, phase SpanPhase, e results.Event, name string) {
	b.open[key] = &TimelineSpan{
		Phase: phase, FromS: b.nowS, ToS: b.nowS, Open: true, Name: name,
		Step: e.Step, Variant: b.variants[e.Step], Attempt: e.Attempt, Life: e.Life, Replica: e.Replica,
	}
}

// next ends a phase of a life and begins the one after it.
func (b *timelineBuilder) next(key spanKey, phase SpanPhase, e results.Event) {
	before := b.open[key]
	variant := ""
	if before != nil {
		variant = before.Variant
		b.end(key, e.Failure)
	}
	b.begin(key, phase, e, e.Life)
	b.open[key].Variant = variant
}

func (b *timelineBuilder) endStep(e results.Event) {
	key := spanKey{"step", e.Step, 0}
	if b.open[key] == nil { // never started: a moment
		b.begin(key, PhaseStep, e, e.Step)
	}
	b.open[key].Verdict = e.Verdict
	b.end(key, e.Failure)
	if e.Verdict == results.Failed {
		b.mark(e, e.Failure)
	}
}

// nameLives tells the life of a step whose variant it serves.
func (b *timelineBuilder) nameLives(e results.Event) {
	variant := b.variants[e.Step]
	for i := range b.t.Lives {
		if b.t.Lives[i].Life == e.Life && b.t.Lives[i].Variant == "" {
			b.t.Lives[i].Variant = variant
		}
	}
	for _, span := range b.open {
		if span.Life == e.Life && span.Variant == "" {
			span.Variant = variant
		}
	}
}

func (b *timelineBuilder) mark(e results.Event, failure *results.Failure) {
	b.t.Marks = append(b.t.Marks, TimelineMark{
		AtS: b.nowS, Kind: e.Kind, Step: e.Step, Life: e.Life, Message: e.Message, Failure: failure,
	})
}

// end moves a span to its list; nothing where it never began.
func (b *timelineBuilder) end(key spanKey, failure *results.Failure) {
	span := b.open[key]
	if span == nil {
		return
	}
	span.ToS, span.Open, span.Failure = b.nowS, false, failure
	b.keep(key, *span)
}

func (b *timelineBuilder) keep(key spanKey, span TimelineSpan) {
	delete(b.open, key)
	switch span.Phase {
	case PhaseStep:
		b.t.Steps = append(b.t.Steps, span)
	case PhaseHook:
		b.t.Hooks = append(b.t.Hooks, span)
	default:
		b.t.Lives = append(b.t.Lives, span)
	}
}

// closeAll keeps what has no end, up to the last event before.
func (b *timelineBuilder) closeAll() {
	for key, span := range b.open {
		span.ToS = b.t.EndS
		b.keep(key, *span)
	}
	for _, spans := range [][]TimelineSpan{b.t.Steps, b.t.Lives, b.t.Hooks} {
		slices.SortStableFunc(spans, func(a, b TimelineSpan) int {
			return cmp.Or(cmp.Compare(a.FromS, b.FromS), cmp.Compare(a.Life, b.Life), cmp.Compare(a.Replica, b.Replica),
				cmp.Compare(a.ToS, b.ToS), cmp.Compare(a.Name, b.Name))
		})
	}
}
