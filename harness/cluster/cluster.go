// Package cluster runs plans as jobs of a Slurm cluster.
//
// Where a run is submitted, it splits the plan into groups, hands them in as job
// arrays, follows them and cancels them. On a node, it reads what the job was
// given and carries out one group. Jobs that are not the run's own, by name and
// by the ids in its journal, are never touched.
package cluster

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Cluster is a run that jobs of a cluster carry out, seen from where they are
// submitted.
type Cluster struct {
	Process  machine.Process
	Folder   *store.Folder
	Run      string              // its id, which is in the names of its jobs
	Scenario *scenarios.Scenario // nil: nothing is submitted
	Retry    Retries             // failed steps that the jobs run again

	client  slurm.Client
	retries string // file of Retry, in the folder; "": nothing is run again
}

// Open is the run of a folder, of which nothing is submitted without a scenario.
func Open(p machine.Process, dir string, run results.Manifest, sc *scenarios.Scenario) (Cluster, error) {
	dir, err := filepath.Abs(dir) // jobs start elsewhere
	if err != nil {
		return Cluster{}, err
	}
	folder, err := store.Open(dir)
	return Cluster{Process: p, Folder: folder, Run: run.Run, Scenario: sc}, err
}

// planJobs plans for nodes of which nothing is known yet: each job plans again on
// its own.
func planJobs(ctx context.Context, p machine.Process, sc *scenarios.Scenario) (*session.Session, error) {
	if sc.Slurm.Time > 0 && sc.Slurm.Grace >= sc.Slurm.Time {
		return nil, usage.Errorf("slurm.grace is %s and slurm.time %s: a job would stop as soon as it starts; "+
			"give it more time, or less grace", sc.Slurm.Grace, sc.Slurm.Time)
	}

	if !sc.StartAt.IsZero() || !sc.EndBy.IsZero() {
		return nil, usage.Errorf("start-at and until do not go with on: slurm, whose jobs start when there is room: " +
			"use slurm.options: [--begin=...] and slurm.time")
	}

	s, err := session.New(ctx, p, sc, func(inventory gpu.Inventory, self string) plan.Machine {
		return plan.Machine{Self: self, Vendor: inventory.Vendor()}
	})
	if err != nil {
		return nil, err
	}
	if session.SecretsInClear(sc) {
		return nil, usage.Errorf("the scenario has secrets in clear text, which its jobs would have to read from the " +
			"results folder: take them from the environment with ${env:NAME}")
	}
	if session.WebhooksInClear(sc) {
		return nil, usage.Errorf("notify: a webhook is in clear text, which the results folder does not keep for " +
			"the jobs: take it from the environment with ${env:NAME}")
	}
	s.Plan.Problems = []string{} // of this machine, on which nothing will run
	if long := tooLong(sc, s.Plan); len(long) > 0 {
		return nil, usage.Errorf("%s\nsuch a job would be requeued without finishing a step: give jobs more time "+
			"(slurm.time), or the step less load", strings.Join(long, "\n"))
	}
	if sc.On == scenarios.OnSlurm && !wholeNodes(sc.Slurm) {
		fmt.Fprintln(p.Stderr, "note: other jobs may run on the node of a job and disturb its figures: "+
			"slurm.exclusive: true keeps them away")
	}
	return s, nil
}

// tooLong names the variants of which one server start with one step is estimated
// to take longer than a job has time: it would be queued again in vain.
func tooLong(sc *scenarios.Scenario, p *plan.Plan) []string {
	limit := (sc.Slurm.Time - sc.Slurm.Grace).Seconds()
	if sc.Slurm.Time == 0 {
		return nil
	}

	longest := map[string]float64{}
	var variants []string
	for _, life := range p.Lives {
		for _, step := range life.Steps {
			if need := life.EstimateS + step.EstimateS; need > limit {
				variants = text.AppendNew(variants, life.Variant)
				longest[life.Variant] = max(longest[life.Variant], need)
			}
		}
	}

	var out []string
	for _, variant := range variants {
		out = append(out, fmt.Sprintf("variant %s: a server start and one step are estimated to take %s, "+
			"and a job has %s (slurm.time without slurm.grace)", variant, time.Duration(longest[variant])*time.Second,
			time.Duration(limit)*time.Second))
	}
	return out
}

// wholeNodes reports whether a job has its node for itself.
func wholeNodes(s scenarios.Slurm) bool {
	return s.Alone || slices.Contains(s.Options, "--exclusive")
}

// groupsOf splits a plan for jobs. Where a step depends on what came of
// others of its variant, all of the variant is one job's.
func groupsOf(sc *scenarios.Scenario, p *plan.Plan) []results.Group {
	return p.Groups(sc.Slurm.Nodes == scenarios.SameNode || plan.SearchPolicy(sc) != nil || plan.PrunePolicy(sc) != nil)
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

// arrays splits groups into as few arrays as a cluster allows that takes most jobs in
// one, in the order of their first groups.
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

// scriptOf is the script of an array as Submit would hand it in, for a run that
// has no folder yet.
func scriptOf(sc *scenarios.Scenario, self string, groups []results.Group) (string, error) {
	return jobScript(sc.Slurm, []string{self, "job"}, "RUN-ID", "/RESULTS/"+sc.Name+"/RUN-ID", groups, "", nil)
}

func jobScript(s scenarios.Slurm, argv []string, run, dir string, groups groupArray, after string,
	exclude []string,
) (string, error) {
	return slurm.Array{
		Name: slurm.JobName(run), Tasks: len(groups), Nodes: groups[0].Nodes, AtOnce: s.AtOnce, After: after,
		Dir: dir, Output: filepath.Join(strings.ReplaceAll(dir, "%", "%%"), results.JobsName, "%A_%a.out"),
		Argv: slices.Concat(argv, []string{dir}, groups.ids()), Setup: s.Setup,
		Exclude: exclude, Options: s.SbatchWords(), Further: s.Options, Time: s.Time, Grace: s.Grace,
	}.Script()
}

// submissions are the groups of the run's arrays, by the cluster's ids. They
// are in the run's own journal, so that those of its jobs need not be read.
func (c Cluster) submissions() (map[string][]string, error) {
	whole, err := store.Open(c.Folder.Dir()) // not that of one job
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

// Jobs asks the cluster which jobs of the run are queued or running, by group.
func (c Cluster) Jobs(ctx context.Context) (map[string]slurm.Job, error) {
	groups, err := c.submissions()
	if err != nil {
		return nil, err
	}

	list, err := c.client.Jobs(ctx, slurm.JobName(c.Run), slices.Sorted(maps.Keys(groups)))
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
