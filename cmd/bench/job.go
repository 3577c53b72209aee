package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

const jobLong = `Carry out one group of a run's steps, as a job of a Slurm cluster. 'bench run
--on slurm' submits such jobs; by hand it is of no use.

The group is the one at SLURM_ARRAY_TASK_ID among those given. Steps of it that
have a verdict stay. SIGUSR1 says that the job's time is nearly up: servers are
stopped, and the job is queued again for the steps that are left.`

func newJobCommand(e env) *cobra.Command {
	retryFailed := false
	cmd := &cobra.Command{
		Use: "job DIR GROUP...", Short: "Carry out a part of a run, as a job of a cluster", Long: jobLong, Hidden: true,
		Example: "  bench job /shared/results/night/20260131-220000-ab12 g001 g002",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return runJob(cmd.Context(), e, given[0], given[1:], retryFailed)
		},
	}
	cmd.Flags().BoolVar(&retryFailed, "retry-failed", false, "also run failed steps again")
	return cmd
}

// groupOf picks the job's group among those of its array.
func groupOf(e env, run *results.Run, ids []string) (results.Group, error) {
	text, _ := e.Lookup("SLURM_ARRAY_TASK_ID")
	task, err := strconv.Atoi(text)
	if err != nil || task < 0 || task >= len(ids) {
		return results.Group{}, usageError(fmt.Errorf("SLURM_ARRAY_TASK_ID is %q, expected 0 to %d: one of the groups given", text, len(ids)-1))
	}
	at := slices.IndexFunc(run.Manifest.Groups, func(g results.Group) bool { return g.ID == ids[task] })
	if at < 0 {
		return results.Group{}, usageError(fmt.Errorf("%s has no group %q", run.Dir, ids[task]))
	}
	return run.Manifest.Groups[at], nil
}

func runJob(ctx context.Context, e env, dir string, groups []string, retryFailed bool) error {
	g, err := grantOf(ctx, e)
	if err != nil {
		return err
	}
	folder, err := results.Open(dir)
	if err != nil {
		return usageError(err)
	}
	stored, err := readStored(folder)
	if err != nil {
		return err
	}
	group, err := groupOf(e, stored.run, groups)
	if err != nil {
		return err
	}
	sc, err := stored.scenario(e, resumeOptions{})
	if err != nil {
		return err
	}
	s, err := jobSession(ctx, e, sc, g, group)
	if err != nil {
		return err
	}
	defer s.Close()
	resume := harness.NewResume(stored.run, retryFailed).Within(s.plan)
	resume.AllowChanged = true // another node: what differs is noted on each step
	if err := s.takeJobBox(ctx, g, "bench job "+dir+" "+group.ID); err != nil {
		return err
	}
	part, err := folder.NewPart(group.ID)
	if err != nil {
		return err
	}
	return s.carryOutPart(ctx, part, resume, g)
}

// jobSession plans the group on this node.
func jobSession(ctx context.Context, e env, sc *scenarios.Scenario, g grant, group results.Group) (*session, error) {
	s, err := planSession(ctx, e, sc, g.box(e))
	if err != nil {
		return nil, err
	}
	if s.plan, err = s.plan.Of(group); err != nil {
		return nil, usageError(err)
	}
	s.inventory = granted(s.inventory, s.box)
	if node, ok := e.Lookup("SLURMD_NODENAME"); ok {
		s.node = node
	}
	if s.readers, err = e.OpenTelemetry(ctx, sc.Telemetry, s.inventory); err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// carryOutPart runs the group, and has the job queued again where its time did
// not suffice.
func (s *session) carryOutPart(ctx context.Context, part *results.Folder, resume *harness.Resume, g grant) error {
	host := gpu.Host(ctx)
	err := errors.Join(
		part.WriteOwn(results.PlanName, s.plan),
		part.WriteOwn(results.EnvironmentName, s.environment(host)),
		part.WriteOwn(results.IdentityName, s.identity(host)),
	)
	if err != nil {
		return err
	}
	ctx, timeIsUp, stop := watchJob(ctx, s.e, part)
	defer stop()
	outcome, err := s.measure(ctx, part, resume)
	if err != nil {
		return err
	}
	if timeIsUp() && outcome.Failed+outcome.NotRun > 0 {
		fmt.Fprintln(s.e.Stderr, "bench: the job's time is up; it is queued again for the steps that are left")
		return slurm.Client{}.Requeue(context.WithoutCancel(ctx), g.job)
	}
	if runs, err := s.state.Runs(); err == nil && len(runs) == 0 {
		if err := s.state.Remove(); err != nil {
			return err
		}
	}
	return outcome.exit()
}

// watchJob ends the context it returns when the job's time is nearly up, or when
// a later job carries out the same group: after a network failure Slurm may
// have given this one up.
func watchJob(ctx context.Context, e env, part *results.Folder) (_ context.Context, timeIsUp func() bool, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	near := results.Failf(results.FailInterrupted, "the job's time limit is near")
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGUSR1)
	go func() {
		const period = 10 * time.Second
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				fmt.Fprintln(e.Stderr, "bench: SIGUSR1: the job's time limit is near: stopping cleanly")
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
