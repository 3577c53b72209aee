package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// testSubmission asks the cluster whether it would take the jobs of a run that has no folder
// yet: partition, account, GPUs, memory, nodes.
func testSubmission(ctx context.Context, p machine.Process, sc *scenarios.Scenario, groups []results.Group) error {
	sizes := map[int]bool{}
	for _, some := range arrays(groups, 1) {
		nodes := some[0].Nodes
		if sizes[nodes] {
			continue
		}
		sizes[nodes] = true
		script, err := scriptOf(sc, p.Self, some)
		if err != nil {
			return err
		}
		if err := (slurm.Client{}).Test(ctx, script); err != nil {
			return usage.Mark(err)
		}
	}
	return nil
}

// Submit plans a run, makes its folder below out and hands in all its jobs.
func Submit(ctx context.Context, p machine.Process, sc *scenarios.Scenario, out string) (Cluster, error) {
	s, err := planJobs(ctx, p, sc)
	if err != nil {
		return Cluster{}, err
	}
	if out, err = filepath.Abs(out); err != nil { // jobs start elsewhere
		return Cluster{}, err
	}

	groups := groupsOf(sc, s.Plan)
	if err := testSubmission(ctx, p, sc, groups); err != nil {
		return Cluster{}, err
	}
	folder, err := s.Prepare(ctx, out, groups)
	if err != nil {
		return Cluster{}, err
	}

	c := Cluster{Process: p, Folder: folder, Run: filepath.Base(folder.Dir()), Scenario: sc}
	return c, c.submitAll(ctx, groups)
}

// submitAll hands in the groups of a run that starts.
func (c Cluster) submitAll(ctx context.Context, groups []results.Group) (err error) {
	right, err := c.Folder.Submit()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Release()) }()

	return c.submit(ctx, right, groups)
}

// SubmitLeft hands in what is left of a run, as it is on disk and in the queue once
// nobody else submits, and returns the run and the number of its jobs in the queue
// by then. retryFailed adds failed steps to what is left.
func (c *Cluster) SubmitLeft(ctx context.Context, retryFailed bool) (run *results.Run, jobs int, err error) {
	right, err := c.Folder.Submit()
	if errors.Is(err, store.ErrSubmitting) {
		return nil, 0, usage.Errorf("%w; to follow its jobs: bench watch %s", err, c.Folder.Dir())
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, right.Release()) }()

	if run, err = store.Read(c.Folder.Dir()); err != nil {
		return nil, 0, err
	}
	if retryFailed {
		c.Retry = retriesOf(run)
	}

	queued, err := c.Jobs(ctx)
	if err != nil {
		return nil, 0, err
	}
	left := c.Left(run, c.Retry.Resume(run), queued)
	if len(left) == 0 {
		return run, len(queued), nil
	}
	return run, len(queued) + len(left), c.submit(ctx, right, left)
}

// submit hands groups in, as few arrays as the cluster allows.
func (c Cluster) submit(ctx context.Context, right *store.Submitter, groups []results.Group) error {
	most, err := c.client.MaxTasks(ctx)
	if err != nil {
		return err
	}

	journal, err := c.Folder.OpenJournal()
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already

	if err := c.Folder.MakeDir(results.JobsName); err != nil {
		return err
	}

	if c.retries, err = c.Retry.write(c.Folder); err != nil {
		return err
	}

	exclude := nodesOf(badNodes(c.Folder.Dir()))
	after := ""
	for _, some := range arrays(groups, most) {
		if err := right.Held(); err != nil {
			return err
		}
		id, err := c.submitArray(ctx, journal, some, after, exclude)
		if err != nil {
			return err
		}
		if c.Scenario.Slurm.AtOnce > 0 {
			after = id
		}
	}

	return nil
}

// submitArray hands one array in and returns its id.
func (c Cluster) submitArray(ctx context.Context, journal *store.Journal, groups groupArray, after string,
	exclude []string,
) (string, error) {
	argv := []string{c.Process.Self, "job"}
	if c.retries != "" {
		argv = append(argv, "--retry", c.retries)
	}
	script, err := jobScript(c.Scenario.Slurm, argv, c.Run, c.Folder.Dir(), groups, after, exclude)
	if err != nil {
		return "", err
	}

	id, err := c.client.Submit(ctx, script)
	if err != nil {
		return "", fmt.Errorf("%w (jobs that were submitted before continue: 'bench watch %s' or 'bench cancel %s')",
			err, c.Folder.Dir(), c.Folder.Dir())
	}

	ids := groups.ids()
	without := ""
	if len(exclude) > 0 {
		without = ", not on " + text.Few(exclude)
	}
	fmt.Fprintf(c.Process.Stderr, "submitted: job array %s, %s of %s%s\n", id, text.Count(len(ids), "job"),
		c.Folder.Dir(), without)
	return id, errors.Join(
		journal.Append(results.Event{
			Kind: results.JobsSubmitted,
			Jobs: &results.Submission{Array: id, Groups: ids},
		}),
		c.Folder.WriteFile(fmt.Sprintf("%s/%s.sh", results.JobsName, id), []byte(script)),
	)
}

// Left are the groups with steps that a resumed run would run, without those
// whose jobs are queued or running. Steps that were not needed are no reason to
// run a group: they are decided on again together with others of it.
func (c Cluster) Left(run *results.Run, resume *harness.Resume, jobs map[string]slurm.Job) []results.Group {
	notNeeded := map[string]bool{}
	for _, step := range run.NotNeeded {
		notNeeded[step.Result.Step.ID] = true
	}

	var left []results.Group
	for _, group := range run.Manifest.Groups {
		_, queued := jobs[group.ID]
		open := slices.ContainsFunc(group.Steps,
			func(step string) bool { return !resume.Keeps(step) && !notNeeded[step] })
		if open && !queued {
			left = append(left, group)
		}
	}

	return left
}
