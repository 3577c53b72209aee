package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// groupOf picks the job's group among those of its array.
func groupOf(p machine.Process, dir string, m *results.Manifest, ids []string) (results.Group, error) {
	number, _ := p.Lookup("SLURM_ARRAY_TASK_ID")
	task, err := strconv.Atoi(number)
	if err != nil || task < 0 || task >= len(ids) {
		return results.Group{}, usage.Errorf("SLURM_ARRAY_TASK_ID is %q, expected 0 to %d: one of the groups given",
			number, len(ids)-1)
	}
	at := slices.IndexFunc(m.Groups, func(g results.Group) bool { return g.ID == ids[task] })
	if at < 0 {
		return results.Group{}, usage.Errorf("%s has no group %q", dir, ids[task])
	}
	return m.Groups[at], nil
}

// Job carries out one group of a run, that at SLURM_ARRAY_TASK_ID among groups,
// as a job of the cluster. Steps that have a verdict stay, but for the failed
// ones that the file retries of the folder lists; "": there are none.
func Job(ctx context.Context, p machine.Process, show session.Show, dir string, groups []string,
	retries string,
) (session.Outcome, error) {
	g, err := grantOf(ctx, p)
	if err != nil {
		return session.Outcome{}, err
	}

	folder, err := store.Open(dir)
	if err != nil {
		return session.Outcome{}, usage.Mark(err)
	}

	run, err := store.ReadGroup(folder.Dir(), func(m *results.Manifest) (results.Group, error) {
		return groupOf(p, dir, m, groups)
	})
	if err != nil {
		return session.Outcome{}, err
	}
	group := run.Manifest.Groups[0]

	stored, err := session.StoredOf(folder, run)
	if err != nil {
		return session.Outcome{}, err
	}

	sc, err := stored.Scenario(p.Lookup)
	if err != nil {
		return session.Outcome{}, err
	}

	s, err := jobSession(ctx, p, sc, g, group)
	if err != nil {
		return session.Outcome{}, err
	}
	defer s.Close()

	s.Show, s.Doubts = show, sharedNode(ctx, s.Node, g.job)
	retry, err := readRetries(folder, retries)
	if err != nil {
		return session.Outcome{}, err
	}

	resume := retry.Resume(stored.Run).Within(s.Plan)
	resume.AllowChanged = true // another node: what differs is noted on each step
	if err := s.TakeJob(ctx, g.job, "bench job "+dir+" "+group.ID); err != nil {
		return session.Outcome{}, err
	}

	part, err := folder.NewPart(group.ID)
	if err != nil {
		return session.Outcome{}, err
	}

	began := time.Now()
	outcome, err := carryOut(ctx, s, part, resume, g, run.Parts)
	c := Cluster{Process: p, Folder: folder, Run: run.Manifest.Run}
	return outcome, errors.Join(err, c.noteNode(ctx, s.Node, outcome, err, time.Since(began)))
}

// sharedNode warns where other jobs run on the node. What Slurm does not tell is no
// doubt.
func sharedNode(ctx context.Context, node, job string) []results.Warning {
	others, err := slurm.Client{}.Others(ctx, node, job)
	if err != nil || others == 0 {
		return nil
	}
	return []results.Warning{results.Warnf(results.WarnSharedNode, "%s on %s when this one began",
		text.Count(others, "other job"), node)}
}

// noteNode notes how the job fared on its node, and keeps jobs that wait away from
// one on which they fail quickly.
func (c Cluster) noteNode(ctx context.Context, node string, o session.Outcome, err error, took time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	switch {
	case o.OK+o.Suspect > 0:
		return noteSuccess(c.Folder.Dir(), node)
	case o.Failed == 0 && err == nil, o.Interrupted, took > quickFailure:
		return nil
	}

	why := fmt.Sprintf("%s failed", text.Count(o.Failed, "step"))
	switch {
	case err != nil:
		why = err.Error()
	case o.Ended != nil:
		why = o.Ended.Error()
	}
	array, _ := c.Process.Lookup("SLURM_ARRAY_JOB_ID")
	task, _ := c.Process.Lookup("SLURM_ARRAY_TASK_ID")
	if err := noteFailure(c.Folder.Dir(), node, array+"-"+task, why); err != nil {
		return err
	}
	return c.excludeBad(ctx)
}

// jobSession plans the group on this node.
func jobSession(ctx context.Context, p machine.Process, sc *scenarios.Scenario, g grant,
	group results.Group,
) (*session.Session, error) {
	if err := g.askNodes(ctx, p.Self, sc); err != nil {
		return nil, err
	}
	s, err := session.New(ctx, p, sc, g.machine(p))
	if err != nil {
		return nil, err
	}
	if s.Plan, err = s.Plan.Of(group); err != nil {
		return nil, usage.Mark(err)
	}
	s.Inventory, s.Nodes = granted(s.Inventory, s.Machine), nodeSweeper{p.Self}
	if node, ok := p.Lookup("SLURMD_NODENAME"); ok {
		s.Node = node
	}
	return s, s.OpenTelemetry(ctx)
}

// carryOut runs the group, and has the job queued again where its time did not
// suffice. before is what earlier jobs of the group left.
func carryOut(ctx context.Context, s *session.Session, part *store.Folder, resume *harness.Resume,
	g grant, before []results.Part,
) (session.Outcome, error) {
	host := gpu.Host(ctx)
	err := errors.Join(
		part.WriteOwn(results.PlanName, s.Plan),
		part.WriteOwn(results.EnvironmentName, s.Environment(host)),
		part.WriteOwn(results.IdentityName, s.Identity(host)),
	)
	if err != nil {
		return session.Outcome{}, err
	}

	ctx, timeIsUp, stop := watchJob(ctx, s.Process.Stderr, part)
	defer stop()

	outcome, err := s.Measure(ctx, part, resume)
	if err != nil {
		return outcome, err
	}
	if timeIsUp() && outcome.Open > 0 {
		isStuck, err := stuck(part, before)
		if err != nil {
			return outcome, err
		}
		if isStuck {
			return outcome, errStuck
		}
		fmt.Fprintln(s.Process.Stderr, "bench: the job's time limit is reached; it is queued again for the remaining "+
			"steps")
		return session.Outcome{}, slurm.Client{}.Requeue(context.WithoutCancel(ctx), g.job)
	}

	return outcome, s.ForgetJob()
}

// errStuck says that queueing a job again would bring nothing.
var errStuck = errors.New("two jobs of this group in a row reached their time limit and finished no step: " +
	"it is not queued again; give its jobs more time (slurm.time), then bench resume")

// stuck reports whether neither this job nor the one before it finished a step.
func stuck(part *store.Folder, before []results.Part) (bool, error) {
	if len(before) == 0 {
		return false, nil
	}
	events, err := part.Events()
	if err != nil {
		return false, err
	}
	last := slices.MaxFunc(before, func(a, b results.Part) int { return a.Number - b.Number })
	return !finishedStep(events) && !finishedStep(last.Events), nil
}

// finishedStep reports whether a step came to an end of its own.
func finishedStep(events []results.Event) bool {
	return slices.ContainsFunc(events, func(e results.Event) bool {
		ended := e.Kind == results.StepFinished && e.Verdict != results.NotRun
		return ended && (e.Failure == nil || e.Failure.Class != results.FailInterrupted)
	})
}

// watchJob ends the context it returns when the job's time is nearly up, or when
// a later job carries out the same group: after a network failure Slurm may
// have given this one up.
func watchJob(ctx context.Context, w io.Writer, part *store.Folder) (_ context.Context, timeIsUp func() bool,
	stop func(),
) {
	ctx, cancel := context.WithCancelCause(ctx)
	near := results.Failf(results.FailInterrupted, "the job's time limit is near")
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGUSR1)

	go func() {
		const period = 2 * time.Second
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				fmt.Fprintln(w, "bench: SIGUSR1: the job's time limit is near: stopping cleanly")
				cancel(near)
			case <-ticker.C:
				if part.Superseded() {
					cancel(results.Failf(results.FailInterrupted, "a later job carries out this group"))
				}
			}
		}
	}()

	// The signal stays caught: it may come when all is done.
	return ctx, func() bool { return errors.Is(context.Cause(ctx), near) }, func() { cancel(nil) }
}
