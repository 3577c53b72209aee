package harness

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Runner carries out a plan, step by step, into a results folder.
type Runner struct {
	Scenario  *scenarios.Scenario
	Plan      *plan.Plan
	Box       plan.Box
	Folder    *store.Folder
	Journal   *store.Journal
	Launcher  life.Launcher
	Programs  Programs // nil: the method must not be llama-bench
	Driver    step.Driver
	Hooks     HookRunner       // nil: the scenario must have no hooks and checks
	Notifier  Notifier         // nil: nobody is told
	Telemetry telemetry.Source // nil: GPUs and host are not sampled
	Resume    *Resume          // nil: the run starts
	// Free is the number of bytes free at a path; nil asks the file system.
	Free    func(path string) (int64, error)
	Observe func(status.Update) // nil: nobody watches
	Live    *status.Live        // nil: nobody is told what goes on between updates; started by whoever made it
	Control *Control            // nil: nobody ends parts of the run
	Version string              // of this program, for result.json
	RunID   string
	Node    string // name of this machine
	Cookie  string // marks the processes of this run

	skipped map[int]*results.Failure // variants given up, with the reason
	halted  halt                     // why nothing more is run
	done    int
	outcome Outcome

	hooks         hookState
	monitor       *telemetry.Monitor // samples GPUs and host
	disk          *disk
	starter       *life.Starter                // starts and stops servers
	preparer      *step.Preparer               // makes the jobs of steps
	engines, seen map[string]results.Engine    // by variant: who answered first, and last
	engineChanges map[string][]string          // by variant
	identities    map[string]endpoint.Identity // who answered first, by life and replica
	settled       map[string]bool              // steps with a verdict, or left out
	known         map[string]*results.Result   // of steps with one, by id: what later steps are decided by
	pace          *pace
	deadline      time.Time // of the run; zero: none
	dropFrom      int       // repeats from this one on are left out; 0: none
	dropWhy       *results.Failure
}

// Outcome counts the verdicts of a run.
type Outcome struct {
	OK, Suspect, Failed, NotRun int
	Spared                      int // steps that were not needed

	Ended *results.Failure // what ended the run before its plan did; nil: nothing
}

// Run carries out the plan. It ends early only when ctx does or when the box
// cannot be brought back; whatever is not run then is recorded as not run.
// The error is about the record keeping itself.
func (r *Runner) Run(ctx context.Context) (Outcome, error) {
	r.skipped, r.settled, r.pace = map[int]*results.Failure{}, map[string]bool{}, newPace()
	r.known = map[string]*results.Result{}
	r.preparer = r.newPreparer()
	r.monitor = r.newMonitor()
	r.starter = r.newStarter()
	r.disk = r.newDisk()
	if d := r.Scenario.RunDeadline; d > 0 {
		var cancel context.CancelFunc
		r.deadline = time.Now().Add(d)
		ctx, cancel = context.WithTimeoutCause(ctx, d, results.Failf(results.FailDeadline, "the run's deadline of %s passed", d))
		defer cancel()
	}
	if err := r.begin(); err != nil {
		return r.outcome, err
	}
	ctx, free := r.disk.guard(ctx)
	defer free()
	if refused := r.beforeRun(ctx); refused != nil {
		r.halt(refused)
	}
	defer r.afterRun(ctx)
	r.outlook(plan.Life{}, nil, false)
	for _, life := range r.Plan.Lives {
		if err := r.runLife(ctx, life); err != nil {
			return r.outcome, err
		}
	}
	r.outcome.Ended = r.blocked(ctx, -1)
	return r.outcome, r.tell(results.Event{Kind: results.RunFinished, Failure: r.outcome.Ended})
}

// attempt is a step on its way: which try it is and how earlier ones ended.
type attempt struct {
	plan.Step
	earlier []results.Failure
	before  int     // so many of them are of a run that was resumed since
	load    float64 // that a search has decided; 0: the planned one

	pass  int           // 2: the second of a step with two
	ports []int         // that its servers take, one a replica: those of the pass before; nil: any
	used  time.Duration // of the step's deadline, by the pass before
}

// runLife runs the steps of one planned life. A server that died is started
// again for the steps that are left; each round finishes a step or uses up an
// attempt, so it ends.
func (r *Runner) runLife(ctx context.Context, life plan.Life) error {
	pending := r.carryOn(life.Steps)
	for len(pending) > 0 {
		if low := r.disk.low(); low != nil {
			r.halt(low)
		}
		r.heedUser()
		if why := r.blocked(ctx, life.VariantIndex); why != nil {
			return r.notRun(pending, why)
		}
		var err error
		if pending, err = r.next(pending); err != nil {
			return err
		}
		left, dropped, why := r.fit(pending, life, false)
		if err := r.notRun(dropped, why); err != nil {
			return err
		}
		if pending = left; len(pending) == 0 {
			return nil
		}
		if pending, err = r.runRound(ctx, life, pending); err != nil {
			return err
		}
	}
	return nil
}

// runRound is one server life: it returns the steps that need another.
func (r *Runner) runRound(ctx context.Context, life plan.Life, pending []attempt) ([]attempt, error) {
	switch r.Scenario.Method {
	case scenarios.SQZB:
		return r.twoPasses(ctx, life, pending[0])
	case scenarios.LlamaBench:
		return r.runProgram(ctx, life, pending[0])
	case scenarios.Serving:
	}
	id := r.freshLife(life.ID)
	began, busy := time.Now(), r.pace.busy
	defer r.afterLife(ctx, life, id)
	failure := r.beforeLife(ctx, life, id)
	var servers []step.Server
	if failure == nil {
		r.outlook(life, nil, false)
		servers, failure = r.launch(ctx, life, id, pending)
	}
	if failure != nil {
		return r.launchFailed(ctx, life, pending, failure)
	}
	changed, err := r.knowEngine(life.Variant, servers)
	switch {
	case err != nil:
	case changed != nil:
		r.skipped[life.VariantIndex] = changed
		pending, err = nil, r.notRun(pending, changed)
	default:
		pending, err = r.serve(ctx, life, servers, pending)
	}
	r.starter.Stop(ctx, id, servers)
	r.pace.started(life.Variant, time.Since(began)-time.Duration((r.pace.busy-busy)*float64(time.Second)))
	return pending, err
}

// freshLife names a server life: as planned, or with a number where there was
// one of that name before.
func (r *Runner) freshLife(planned string) string {
	id := planned
	for n := 2; ; n++ {
		if _, err := os.Lstat(r.Folder.LifeDir(id)); err != nil {
			return id
		}
		id = fmt.Sprintf("%s.%d", planned, n)
	}
}

// blocked says why a variant's steps cannot be run any more; nil if they can.
func (r *Runner) blocked(ctx context.Context, variant int) *results.Failure {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}
	if r.halted.why != nil {
		return r.halted.why
	}
	return r.skipped[variant]
}

// serve runs the pending steps on servers that are up and returns those still
// to be run, on servers of their own: after a retryable failure or a death.
func (r *Runner) serve(ctx context.Context, life plan.Life, servers []step.Server, pending []attempt) ([]attempt, error) {
	for first := true; len(pending) > 0; first = false {
		if !first { // who asked during the launch meant the step that it is for
			r.heedUser()
		}
		if why := r.blocked(ctx, life.VariantIndex); why != nil {
			return nil, r.notRun(pending, why)
		}
		var err error
		if pending, err = r.next(pending); err != nil {
			return nil, err
		}
		left, dropped, why := r.fit(pending, life, true)
		if err := r.notRun(dropped, why); err != nil {
			return nil, err
		}
		if pending = left; len(pending) == 0 {
			return nil, nil
		}
		a := pending[0]
		r.outlook(life, &a.Step, true)
		began := time.Now()
		result, err := r.runStep(ctx, life, servers, a)
		if err != nil {
			return nil, err
		}
		r.pace.step(a.Step, time.Since(began), result.Verdict != results.Failed)
		if result.Verdict == results.Failed && ctx.Err() == nil && r.halted.why == nil && r.retriesLeft(a, result.Failure.Class) {
			pending[0] = a.again(*result.Failure)
			return pending, r.closeAttempt(result)
		}
		if why := r.monitor.MustRepeat(result); why != nil && r.blocked(ctx, life.VariantIndex) == nil && !anyDead(servers) && r.retriesLeft(a, why.Class) {
			pending[0] = a.again(*why)
			if err := r.closeAttempt(result); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.finish(life, result); err != nil {
			return nil, err
		}
		pending = pending[1:]
		if anyDead(servers) || needsRestart(result.Failure) {
			return pending, nil
		}
	}
	return nil, nil
}

func (a attempt) again(why results.Failure) attempt {
	why.LogTail = nil
	a.earlier = append(a.earlier, why)
	a.Attempt++
	return a
}

// launchFailed ends the pending steps with the launch's failure, or gives
// them another attempt.
func (r *Runner) launchFailed(ctx context.Context, life plan.Life, pending []attempt, failure *results.Failure) ([]attempt, error) {
	if ctx.Err() != nil {
		return nil, r.notRun(pending, results.CauseOf(ctx))
	}
	if r.halted.why == nil && failure.Class.Retryable() && r.retriesLeft(pending[0], failure.Class) {
		for i := range pending {
			pending[i] = pending[i].again(*failure)
		}
		return pending, nil
	}
	for _, a := range pending {
		result := r.newResult(a)
		result.Verdict, result.Failure = results.Failed, failure
		result.EndedAt = result.StartedAt
		r.hooksOfLife(result)
		if err := r.finish(life, result); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// finish writes a step's result for good and applies the failure policy.
func (r *Runner) finish(life plan.Life, result *results.Result) error {
	if err := r.closeAttempt(result); err != nil {
		return err
	}
	r.done++
	r.settled[result.Step.ID] = true
	r.known[result.Step.ID] = result
	r.outcome.count(result.Verdict)
	r.observe(status.Update{Kind: status.StepEnded, Index: r.done, Step: result.Step, Result: result})
	r.notifyFailure(result)
	if result.Verdict != results.Failed || result.Failure.Class == results.FailSkipped {
		return nil
	}
	why := results.Failf(results.FailEarlier, "step %s failed: %s", result.Step.ID, result.Failure.Message)
	switch r.Scenario.OnFailure {
	case scenarios.Continue:
	case scenarios.SkipVariant:
		r.skipped[life.VariantIndex] = why
	case scenarios.StopRun:
		r.halt(why)
	}
	return nil
}

// closeAttempt writes result.json and tells the journal.
func (r *Runner) closeAttempt(result *results.Result) error {
	r.priced(result)
	if err := r.onFullDisk(func() error { return r.Folder.WriteResult(result) }); err != nil {
		return err
	}
	return r.tellEnd(result)
}

// tell writes an event into the journal.
func (r *Runner) tell(e results.Event) error {
	return r.onFullDisk(func() error { return r.Journal.Append(e) })
}

// tellEnd tells the journal how an attempt ended.
func (r *Runner) tellEnd(result *results.Result) error {
	return r.tell(results.Event{
		Kind: results.StepFinished, Step: result.Step.ID, Attempt: result.Step.Attempt,
		Verdict: result.Verdict, Failure: withoutLog(result.Failure),
	})
}

// notRun records steps that are left out, with the reason.
func (r *Runner) notRun(pending []attempt, why *results.Failure) error {
	for _, a := range pending {
		r.done++
		r.settled[a.ID] = true
		if why.Class.Spared() {
			r.outcome.count(spared)
		} else {
			r.outcome.count(results.NotRun)
		}
		err := r.tell(results.Event{Kind: results.StepFinished, Step: a.ID, Attempt: a.Attempt, Verdict: results.NotRun, Failure: withoutLog(why)})
		if err != nil {
			return err
		}
	}
	return nil
}

// spared stands for the verdict of steps that were not needed.
const spared results.Verdict = "spared"

func (o *Outcome) count(v results.Verdict) {
	switch v {
	case results.OK:
		o.OK++
	case results.Suspect:
		o.Suspect++
	case results.Failed:
		o.Failed++
	case results.NotRun:
		o.NotRun++
	case spared:
		o.Spared++
	}
}

func (r *Runner) observe(u status.Update) {
	r.Live.Update(u)
	if r.Observe == nil {
		return
	}
	u.Total = len(r.Plan.Refs())
	r.Observe(u)
}

// anyDead reports whether a server has ended or cannot go on.
func anyDead(servers []step.Server) bool {
	for _, s := range servers {
		select {
		case <-s.Done():
			return true
		default:
		}
	}
	return false
}

func withoutLog(f *results.Failure) *results.Failure {
	if f == nil {
		return nil
	}
	short := *f
	short.LogTail = nil
	return &short
}
