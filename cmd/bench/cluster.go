package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// cluster is a run that jobs of a Slurm cluster carry out, as seen from where
// they are submitted.
type cluster struct {
	e      env
	folder *results.Folder
	run    string // its id, which is in the names of its jobs
	client slurm.Client
	sc     *scenarios.Scenario // nil: nothing is submitted

	retryFailed bool
}

// planOnCluster plans for nodes of which nothing is known yet: each job plans
// again on its own.
func planOnCluster(ctx context.Context, e env, sc *scenarios.Scenario) (*session, error) {
	s, err := planSession(ctx, e, sc, func(inventory gpu.Inventory, self string) plan.Box {
		return plan.Box{Self: self, Vendor: inventory.Vendor()}
	})
	if err != nil {
		return nil, err
	}
	s.plan.Problems = []string{} // of this box, on which nothing will run
	return s, nil
}

// runOnCluster submits a run and, unless asked to return at once, tells how it
// goes on until it has ended or the user has seen enough.
func runOnCluster(ctx context.Context, e env, o runOptions, sc *scenarios.Scenario) error {
	s, err := planOnCluster(ctx, e, sc)
	if err != nil {
		return err
	}
	if secretsInClear(sc) {
		return usageError(errors.New("the scenario has secrets in the clear, which its jobs would have to read from the results folder: take them from the environment with ${env:NAME}"))
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	groups := clusterGroups(sc, s.plan)
	folder, err := prepare(ctx, out, s, groups)
	if err != nil {
		return err
	}
	c := cluster{e: e, folder: folder, run: filepath.Base(folder.Dir()), sc: sc}
	if err := c.submit(ctx, groups); err != nil {
		return err
	}
	if o.detach {
		return nil
	}
	return c.follow(ctx)
}

// submit hands groups in, as few arrays as the cluster allows.
func (c cluster) submit(ctx context.Context, groups []results.Group) error {
	most, err := c.client.MaxTasks(ctx)
	if err != nil {
		return err
	}
	journal, err := c.folder.OpenJournal()
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	if err := os.MkdirAll(filepath.Join(c.folder.Dir(), results.JobsName), 0o755); err != nil {
		return err
	}
	after := ""
	for _, some := range arrays(groups, most) {
		ids := some.ids()
		array, err := c.array(some, after)
		if err != nil {
			return err
		}
		id, err := c.client.Submit(ctx, array)
		if err != nil {
			return fmt.Errorf("%w (jobs that were submitted before go on: 'bench watch %s' or 'bench cancel %s')", err, c.folder.Dir(), c.folder.Dir())
		}
		if c.sc.Slurm.AtOnce > 0 {
			after = id
		}
		fmt.Fprintf(c.e.Stderr, "submitted: job array %s, %s of %s\n", id, text.Count(len(ids), "job"), c.folder.Dir())
		err = errors.Join(
			journal.Append(results.Event{Kind: results.JobsSubmitted, Jobs: &results.Submission{Array: id, Groups: ids}}),
			c.folder.WriteFile(fmt.Sprintf("%s/%s.sh", results.JobsName, id), []byte(array)),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// groupArray are the groups of one job array, whose jobs all have as many nodes.
type groupArray []results.Group

func (a groupArray) ids() []string {
	var ids []string
	for _, group := range a {
		ids = append(ids, group.ID)
	}
	return ids
}

// arrays are as few as the cluster allows, in the order of their first groups.
func arrays(groups []results.Group, most int) []groupArray {
	var sizes []int
	bySize := map[int][]results.Group{}
	for _, group := range groups {
		n := max(1, group.Nodes)
		if bySize[n] == nil {
			sizes = append(sizes, n)
		}
		bySize[n] = append(bySize[n], group)
	}
	var all []groupArray
	for _, n := range sizes {
		for some := range slices.Chunk(bySize[n], most) {
			all = append(all, some)
		}
	}
	return all
}

// array is the script of an array whose jobs carry out groups.
func (c cluster) array(groups groupArray, after string) (string, error) {
	argv := []string{c.e.Self, "job"}
	if c.retryFailed {
		argv = append(argv, "--retry-failed")
	}
	return jobScript(c.sc.Slurm, argv, c.run, c.folder.Dir(), groups, after)
}

func jobScript(s scenarios.Slurm, argv []string, run, dir string, groups groupArray, after string) (string, error) {
	return slurm.Array{
		Name: slurm.JobName(run), Tasks: len(groups), Nodes: groups[0].Nodes, AtOnce: s.AtOnce, After: after,
		Dir: dir, Output: filepath.Join(strings.ReplaceAll(dir, "%", "%%"), results.JobsName, "%A_%a.out"),
		Argv: slices.Concat(argv, []string{dir}, groups.ids()), Setup: s.Setup,
		Partition: s.Partition, Account: s.Account, QOS: s.QOS, Gres: s.Gres, Constraint: s.Constraint,
		Options: s.Options, Time: s.Time, Grace: s.Grace,
	}.Script()
}

// submissions are the groups of the run's arrays, by the cluster's ids. They
// stand in the run's own journal, so that those of its jobs need not be read.
func (c cluster) submissions() (map[string][]string, error) {
	whole, err := results.Open(c.folder.Dir()) // not that of one job
	if err != nil {
		return nil, err
	}
	events, err := whole.Events()
	groups := map[string][]string{}
	for _, e := range events {
		if e.Kind == results.JobsSubmitted && e.Jobs != nil {
			groups[e.Jobs.Array] = e.Jobs.Groups
		}
	}
	return groups, err
}

// jobs asks the cluster which jobs of the run are queued or running, by group.
func (c cluster) jobs(ctx context.Context) (map[string]slurm.Job, error) {
	groups, err := c.submissions()
	if err != nil {
		return nil, err
	}
	list, err := c.client.Jobs(ctx, slurm.JobName(c.run), slices.Sorted(maps.Keys(groups)))
	if err != nil {
		return nil, err
	}
	jobs := map[string]slurm.Job{}
	for _, job := range list {
		if of := groups[job.Array]; job.Task < len(of) {
			jobs[of[job.Task]] = job
		}
	}
	return jobs, nil
}

// left are the groups with steps that a resumed run would run, apart from those
// whose jobs are at it.
func (c cluster) left(run *results.Run, resume *harness.Resume, jobs map[string]slurm.Job) []results.Group {
	var left []results.Group
	for _, group := range run.Manifest.Groups {
		_, queued := jobs[group.ID]
		if !queued && slices.ContainsFunc(group.Steps, func(step string) bool { return !resume.Keeps(step) }) {
			left = append(left, group)
		}
	}
	return left
}

// resumeOnCluster submits what is left of a run.
func resumeOnCluster(ctx context.Context, e env, o resumeOptions, stored *stored, folder *results.Folder) error {
	sc, err := stored.scenario(e, o)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(folder.Dir()) // jobs start elsewhere
	if err != nil {
		return err
	}
	if folder, err = results.Open(dir); err != nil {
		return err
	}
	c := cluster{e: e, folder: folder, run: stored.run.Manifest.Run, sc: sc, retryFailed: o.retryFailed}
	jobs, err := c.jobs(ctx)
	if err != nil {
		return err
	}
	left := c.left(stored.run, harness.NewResume(stored.run, o.retryFailed), jobs)
	if len(left) == 0 && len(jobs) == 0 {
		return nothingToDo(e, folder, stored.run)
	}
	if len(left) > 0 {
		if err := c.submit(ctx, left); err != nil {
			return err
		}
	}
	return c.follow(ctx)
}
