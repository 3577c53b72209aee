package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// runOnCluster submits a run and, unless asked to return at once, follows it
// until it has ended or the user has seen enough.
func runOnCluster(ctx context.Context, e env, o runOptions, sc *scenarios.Scenario) error {
	s, err := cluster.Plan(ctx, e.Process, sc)
	if err != nil {
		return err
	}

	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}

	groups := cluster.Groups(sc, s.Plan)
	if err := cluster.Test(ctx, e.Process, sc, groups); err != nil {
		return err
	}
	folder, err := s.Prepare(ctx, out, groups)
	if err != nil {
		return err
	}

	c := cluster.Cluster{Process: e.Process, Folder: folder, Run: filepath.Base(folder.Dir()), Scenario: sc}
	if err := c.SubmitAll(ctx, groups); err != nil || o.detach {
		return err
	}

	return followCluster(ctx, e, c)
}

// resumeOnCluster submits what is left of a run.
func resumeOnCluster(ctx context.Context, e env, o resumeOptions, stored *session.Stored, folder *store.Folder,
	sc *scenarios.Scenario,
) error {
	dir, err := filepath.Abs(folder.Dir()) // jobs start elsewhere
	if err != nil {
		return err
	}
	if folder, err = store.Open(dir); err != nil {
		return err
	}

	c := cluster.Cluster{Process: e.Process, Folder: folder, Run: stored.Run.Manifest.Run, Scenario: sc}
	run, jobs, err := c.SubmitLeft(ctx, o.retryFailed)
	switch {
	case err != nil:
		return err
	case jobs == 0:
		return nothingToDo(e, folder, run)
	case o.detach:
		fmt.Fprintf(e.Stderr, "%s queued or running; to follow: bench watch %s\n", text.Count(jobs, "job"),
			folder.Dir())
		return nil
	}

	return followCluster(ctx, e, c)
}

// followCluster writes lines about jobs until none is left, and prints the
// report. Ctrl-C lets the jobs go on.
func followCluster(ctx context.Context, e env, c cluster.Cluster) error {
	ctx, stop := interruptible(ctx)
	defer stop()

	run, err := c.Follow(ctx)
	if err != nil || run == nil {
		return err
	}
	if err := printReport(e, c.Folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}

	resume := harness.NewResume(run, false)
	if resume.Done(run) {
		return exitOf(session.Outcome{Outcome: resume.Kept()})
	}

	open := 0
	for i := range run.Steps {
		if !resume.Keeps(run.Steps[i].Result.Step.ID) {
			open++
		}
	}

	verb := "are"
	if open == 1 {
		verb = "is"
	}

	fmt.Fprintf(e.Stderr, "bench: no job is left, and %s %s not done; to continue: bench resume %s\n",
		text.Count(open, "step"), verb, c.Folder.Dir())
	return codeError{code: exitStepsFailed}
}
