package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// run schedules the lives and steps of a plan. What it schedules has owners of
// its own: servers, steps, records, hooks, telemetry.
type run struct {
	scenario *scenarios.Scenario
	plan     *plan.Plan
	machine  plan.Machine
	folder   *store.Folder
	programs Programs
	cookie   string
	resume   *Resume
	live     *status.Live
	control  *Control
	watch    func(status.Update) // nil: nobody watches

	halted   halt
	skipped  map[int]*results.Failure          // variants given up, with the reason
	launches map[string][]results.FailureClass // how launches failed that were tried again, by planned life
	ledger   *ledger
	decider  *decider
	budget   *budget
	record   *recorder
	disk     *disk
	hooks    *hooks.Around
	notify   *notifications
	engines  *engineBook
	monitor  *telemetry.Monitor
	starter  *life.Starter
	steps    *stepRunner
	method   method
}

// method carries out the first pending steps of a life and returns those that
// need another start of its servers. Each round finishes a step or uses up an
// attempt. The error is about the record keeping.
type method interface {
	round(ctx context.Context, planned plan.Life, pending []attempt) ([]attempt, error)
}

func newRun(r *Runner) *run {
	n := &run{
		scenario: r.Scenario, plan: r.Plan, machine: r.Machine, folder: r.Folder, programs: r.Programs,
		cookie: r.Cookie, resume: r.Resume, live: r.Live, control: r.Control, watch: r.Observe,
		ledger: newLedger(r.Plan, r.Resume, figuresDecide(r.Scenario)), skipped: skippedVariants(r),
		launches: map[string][]results.FailureClass{},
	}

	n.decider = &decider{scenario: r.Scenario, ledger: n.ledger}
	n.budget = &budget{plan: r.Plan, ledger: n.ledger, decider: n.decider, pace: newPace()}
	n.record = &recorder{folder: r.Folder, journal: r.Journal, halt: n.halt}
	n.hooks = &hooks.Around{
		Scenario: r.Scenario, Program: r.Hooks, RunID: r.RunID, Dir: r.Folder.Dir(), Live: r.Live,
		Journal: n.record.appendEvent, Observe: n.observeHook,
	}

	n.notify = &notifications{run: n, notifier: r.Notifier, runID: r.RunID, began: time.Now()}
	n.engines = newEngineBook(n.record.appendEvent, r.Resume)
	n.monitor = &telemetry.Monitor{
		Source: telemetry.AlsoTo(r.Live, r.Telemetry), Nodes: r.Nodes, Scenario: r.Scenario, Machine: r.Machine,
		Live: r.Live, Observe: n.observeStep,
	}

	if r.Resume != nil {
		n.monitor.FirstLimits = func() map[string]float64 { return maps.Clone(r.Resume.limits) }
	}

	n.starter = &life.Starter{
		Scenario: r.Scenario, Machine: r.Machine, Folder: r.Folder, Launcher: r.Launcher, Cookie: r.Cookie,
		Live:    r.Live,
		Observe: n.observeLife, Halt: n.halt,
	}

	n.disk = newDisk(r, n.starter.CapLogs)
	n.steps = n.newStepRunner(r)
	n.method = n.newMethod()
	return n
}

func (n *run) newStepRunner(r *Runner) *stepRunner {
	return &stepRunner{
		scenario: r.Scenario, machine: r.Machine, folder: r.Folder, live: r.Live, control: r.Control,
		blank: results.Result{
			Format: results.FormatVersion, Bench: r.Version, Scenario: r.Scenario.Name, Run: r.RunID, Node: r.Node,
			Warnings: slices.Clip(r.Doubts), // each result appends to a copy
		},
		journal: n.record.appendEvent, observe: n.observeStep, halt: n.halt,
		hooks: n.hooks, monitor: n.monitor, engines: n.engines,
		preparer: &step.Preparer{
			Driver: r.Driver, Client: r.Scenario.Client, Limits: r.Scenario.Watchdog, RunID: r.RunID, Folder: r.Folder,
			Frozen: r.Plan.FrozenPrompts, Live: r.Live, Observe: n.observeStep,
		},
	}
}

// newMethod is the scenario's way to measure a step.
func (n *run) newMethod() method {
	switch {
	case n.scenario.Method == scenarios.SQZB:
		return twoPasses{n}
	case n.scenario.RunsProgram():
		return benchProgram{n}
	case n.scenario.Method == scenarios.ColdStart:
		return coldStart{n, map[string]bool{}}
	default:
		return serving{n}
	}
}

// all carries out the plan.
func (n *run) all(ctx context.Context) (Outcome, error) {
	ctx, cancel := n.limited(ctx)
	defer cancel()

	if err := n.begin(); err != nil {
		return n.ledger.outcome, err
	}

	ctx, free := n.disk.guard(ctx)
	defer free()

	if refused := n.hooks.BeforeRun(ctx); refused != nil {
		n.halt(refused)
	}
	defer n.end(ctx)

	n.outlook(plan.Life{}, nil, false)
	for _, planned := range n.plan.Lives {
		if err := n.life(ctx, planned); err != nil {
			return n.ledger.outcome, err
		}
	}

	n.ledger.end(n.blocked(ctx, -1))
	return n.ledger.outcome, n.record.appendEvent(results.Event{
		Kind:    results.RunFinished,
		Failure: n.ledger.outcome.Ended,
	})
}

// limited ends the context when the run has had its time: that of its deadline, or
// until the moment that the scenario names, whichever comes first.
func (n *run) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	d, limit := n.scenario.RunDeadline, ""
	if d > 0 {
		limit = fmt.Sprintf("the run's deadline of %s", d)
	}
	if by := n.scenario.EndBy; !by.IsZero() {
		n.budget.strict = true
		if left := time.Until(by.From(time.Now())); d == 0 || left < d {
			d, limit, n.budget.until = max(left, 1), "the time until "+by.String(), by.String()
		}
	}
	if d == 0 {
		return ctx, func() {}
	}

	n.budget.deadline, n.budget.limit = time.Now().Add(d), limit
	return context.WithTimeoutCause(ctx, d, n.budget.late("%s passed", limit))
}

// begin journals that the run starts, or continues.
func (n *run) begin() error {
	if n.resume == nil {
		return n.record.appendEvent(results.Event{Kind: results.RunStarted, Message: n.plan.Scenario})
	}

	message := fmt.Sprintf("%d of %s kept", len(n.resume.kept), text.Count(len(n.plan.Refs()), "step"))
	err := n.record.appendEvent(results.Event{Kind: results.RunResumed, Message: message, Changes: n.resume.Changes})
	for _, result := range n.resume.untold {
		if err == nil {
			err = n.record.ended(result, false)
		}
	}
	return err
}

// end runs what comes after the run and notifies whom the scenario names. It
// works after ctx has ended.
func (n *run) end(ctx context.Context) {
	n.live.Enter(results.LiveEnding, 0, "")
	removeCaches(n.folder)
	n.hooks.AfterRun(ctx)
	n.notify.end(context.WithoutCancel(ctx))
}

// life runs the steps of one planned life. A server that died is started again
// for the steps that are left.
func (n *run) life(ctx context.Context, planned plan.Life) error {
	pending := n.resumePending(planned.Steps)
	for len(pending) > 0 {
		if low := n.disk.low(); low != nil {
			n.halt(low)
		}
		n.applyUserStop()

		var err error
		if pending, err = n.startable(ctx, planned, pending, false); err != nil || len(pending) == 0 {
			return err
		}
		if pending, err = n.method.round(ctx, planned, pending); err != nil {
			return err
		}
	}

	return nil
}

// startable is what is left of pending now that its first step is to be started:
// without steps that cannot be run any more, are not needed, or for which there
// is not time. up says that the servers of the life are up.
func (n *run) startable(ctx context.Context, planned plan.Life, pending []attempt, up bool) ([]attempt, error) {
	if why := n.blocked(ctx, planned.VariantIndex); why != nil {
		return nil, n.leaveOut(pending, why)
	}
	pending, err := n.needed(pending)
	if err != nil {
		return nil, err
	}
	left, dropped, why := n.budget.fit(pending, planned, up)
	return left, n.leaveOut(dropped, why)
}

// needed takes steps that are not needed off the front of pending, and gives the
// first that is needed its load.
func (n *run) needed(pending []attempt) ([]attempt, error) {
	for skipped := 0; len(pending) > 0; skipped++ {
		d := n.decider.decide(pending[0].Step)
		if d.notNeeded == nil {
			pending[0] = n.decider.withLoad(pending[0], d.load)
			break
		}
		if skipped == 0 {
			n.observeStep(status.Update{Kind: status.StepNotNeeded, Step: pending[0].StepRef, Failure: d.notNeeded})
		}
		if err := n.leaveOut(pending[:1], d.notNeeded); err != nil {
			return nil, err
		}
		pending = pending[1:]
	}

	return pending, nil
}

// blocked says why a variant's steps cannot be run any more; nil if they can.
func (n *run) blocked(ctx context.Context, variant int) *results.Failure {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}
	if n.halted.why != nil {
		return n.halted.why
	}
	return n.skipped[variant]
}

// halt ends the run after what is under way. Where the disk is full, what was
// kept aside makes room for the last results.
func (n *run) halt(why *results.Failure) {
	if why.Class == results.FailDisk {
		n.disk.useReserve()
	}
	n.halted.set(why)
}

// applyUserStop halts the run before its next step, where the user asked for
// that.
func (n *run) applyUserStop() {
	if why := n.control.Stopping(); why != nil {
		n.halt(why)
	}
}

// beforeLife comes before the first spawn of a life's servers; id names its
// folder.
func (n *run) beforeLife(ctx context.Context, planned plan.Life, id string) *results.Failure {
	if refused := n.hooks.BeforeLife(ctx, planned, id); refused != nil {
		return refused
	}
	n.live.Enter(results.LiveIdle, 0, "")
	n.monitor.ReadAtRest(ctx, planned)
	return nil
}

// launch starts the servers of a life for the pending steps. The user may skip
// the launch.
func (n *run) launch(ctx context.Context, planned plan.Life, id string, pending []attempt) ([]step.Server,
	*results.Failure,
) {
	return n.launchOrder(ctx, pending, life.Order{Life: planned, ID: id})
}

// launchOrder is launch with further wishes. What follows from the first of the
// pending steps is filled in.
func (n *run) launchOrder(ctx context.Context, pending []attempt, order life.Order) ([]step.Server, *results.Failure) {
	planned, first := order.Life, pending[0]
	order.Step, order.Pass, order.Ports = first.StepRef, first.pass, first.ports
	n.live.BeginLife(first.StepRef, first.pass, order.ID, len(pending))
	n.live.Enter(results.LiveLaunching, n.scenario.Variants[planned.VariantIndex].Server.Ready.Timeout, "")
	endReading := n.monitor.WatchLaunch(ctx)
	defer endReading()
	ctx, leave := n.control.skippable(ctx, "the launch of "+planned.Variant)
	defer leave()

	n.steps.preparer.NewServers()
	watched, end := context.WithCancel(ctx)
	defer end()
	watch := awake.Notice(watched)
	defer func() { n.steps.startPause = step.DescribePause(watch.Lost()) }()
	return n.starter.Launch(ctx, order)
}

// freshLife names a server life: as planned, or with a number where there was
// one of that name before. A folder that cannot be made is reported when something is
// written into it.
func (n *run) freshLife(planned string) string {
	id, err := n.folder.NewLife(planned)
	if err != nil {
		return planned
	}
	return id
}

// launchFailed ends the pending steps with the launch's failure, or gives them
// another attempt.
func (n *run) launchFailed(ctx context.Context, planned plan.Life, pending []attempt,
	failure *results.Failure,
) ([]attempt, error) {
	if ctx.Err() != nil {
		return nil, n.leaveOut(pending, results.CauseOf(ctx))
	}

	failed := n.launches[planned.ID]
	if n.mayRetry(ctx, planned.VariantIndex, failed, failure.Class) {
		n.launches[planned.ID] = append(failed, failure.Class)
		for i := range pending {
			pending[i] = pending[i].afterLaunch(*failure)
		}
		return pending, nil
	}

	for _, a := range pending {
		result := n.steps.newResult(a)
		result.Verdict, result.Failure = results.Failed, failure
		result.EndedAt = result.StartedAt
		n.hooks.OfLife(result)
		if err := n.finish(planned, result); err != nil {
			return nil, err
		}
	}

	return nil, nil
}

// finish writes a step's result for good and applies the failure policy.
func (n *run) finish(planned plan.Life, result *results.Result) error {
	if err := n.closeAttempt(result, false); err != nil {
		return err
	}

	n.ledger.finish(result)
	n.observe(status.Update{Kind: status.StepEnded, Index: n.ledger.done, Step: result.Step, Result: result})
	n.notify.failure(result)

	if !givesUpVariant(result) {
		return nil
	}

	why := earlierFailure(result)
	switch n.scenario.OnFailure {
	case scenarios.Continue:
	case scenarios.SkipVariant:
		n.skipped[planned.VariantIndex] = why
	case scenarios.StopRun:
		n.halt(why)
	}

	return nil
}

// closeAttempt writes the result of an attempt and journals it; retry says
// that another one is to follow.
func (n *run) closeAttempt(result *results.Result, retry bool) error {
	n.steps.price(result)
	return n.record.result(result, retry)
}

// conclude ends an attempt of a step that had its programs for itself: with
// another attempt, or for good.
func (n *run) conclude(ctx context.Context, planned plan.Life, a attempt, result *results.Result) ([]attempt, error) {
	why := result.Failure
	if result.Verdict != results.Failed {
		why = n.repeatReason(result)
	}
	if why != nil && n.mayRetry(ctx, planned.VariantIndex, a.failed, why.Class) {
		return []attempt{a.again(*why)}, n.closeAttempt(result, true)
	}
	return nil, n.finish(planned, result)
}

// repeatReason says why a measured step should be measured again at once; nil if it
// stands as it is.
func (n *run) repeatReason(result *results.Result) *results.Failure {
	if why := n.monitor.MustRepeat(result); why != nil || result.Verdict == results.Failed {
		return why
	}
	if w := metrics.Starved(result); w != nil {
		return results.Failf(results.FailStarved, "%s", w.Message)
	}
	return nil
}

// leaveOut records steps that are not run, with the reason.
func (n *run) leaveOut(pending []attempt, why *results.Failure) error {
	givenUp := why != nil && why.Class == results.FailEarlier && n.scenario.OnFailure == scenarios.SkipVariant
	for _, a := range pending {
		n.ledger.leaveOut(a.ID, why, !givenUp)
		if err := n.record.leftOut(a, why); err != nil {
			return err
		}
	}
	return nil
}

// outlook works out how long what runs now and the rest of the run will take,
// and reports it.
func (n *run) outlook(current plan.Life, now *plan.Step, up bool) {
	if n.live == nil {
		return
	}
	expected, rest := n.budget.outlook(current, now, up)
	atMost := n.plan.LeastSteps > 0 && n.plan.LeastSteps < len(n.plan.Refs())
	n.live.SetOutlook(expected, rest, n.budget.pace.took > 0, atMost)
}

func (n *run) observe(u status.Update) {
	n.live.Update(u)
	if n.watch == nil {
		return
	}
	u.Total = len(n.plan.Refs())
	n.watch(u)
}

// observeStep reports the step that runs, or is about to.
func (n *run) observeStep(u status.Update) {
	u.Index = n.ledger.done + 1
	n.observe(u)
}

// observeLife reports servers: those that stop as part of what is done,
// others as part of the step to come.
func (n *run) observeLife(u status.Update) {
	u.Index = n.ledger.done + 1
	if u.Kind == status.LifeStopping || u.Kind == status.LifeEnded {
		u.Index = n.ledger.done
	}
	n.observe(u)
}

func (n *run) observeHook(u status.Update) {
	u.Index = n.ledger.done
	n.observe(u)
}
