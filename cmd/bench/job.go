package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"benchrig/gpu"
	"benchrig/harness"
	"benchrig/launchers"
	"benchrig/results"
	"benchrig/scenarios"
	"benchrig/slurm"
	"benchrig/state"
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

// grant is what a scheduler has given this job.
type grant struct {
	job   string           // id
	nodes []launchers.Node // this one first; nil: it is the only one
}

// grantOf reads it from the environment of a job.
func grantOf(ctx context.Context, e env) (grant, error) {
	job, _ := e.lookup("SLURM_JOB_ID")
	if n, err := strconv.Atoi(job); err != nil || n < 1 {
		return grant{}, usageError(errors.New("SLURM_JOB_ID is not set: this is no job of Slurm; use bench run or bench resume"))
	}
	nodes, err := nodesOfJob(ctx, e)
	return grant{job: job, nodes: nodes}, err
}

// The ports that bench chooses start higher by a multiple of portsOfJob, so
// that jobs on one node look for them in different places.
const (
	portsOfJob = 20
	portRanges = 1000
)

// box is the part of this machine that the job was given: never more.
func (g grant) box(e env) func(gpu.Inventory, string) harness.Box {
	return func(inventory gpu.Inventory, self string) harness.Box {
		box := boxOf(inventory, self)
		visible, notes := gpu.VisibleTo(grantVars(e, inventory.Vendor()), inventory)
		for _, note := range notes {
			fmt.Fprintf(e.stderr, "note: %s\n", note)
		}
		box.Granted, box.Nodes = []int{}, g.nodes
		for _, d := range visible {
			box.Granted = append(box.Granted, d.Index)
		}
		box.Devices, box.GPUs = visible, len(visible)
		n, _ := strconv.Atoi(g.job) // digits, see grantOf
		box.PortOffset = n % portRanges * portsOfJob
		return box
	}
}

// grantVars is the variable by which Slurm says which GPUs a job has. It may
// set those of several vendors, which would count within each other. Without
// any, a job has all that it can open: clusters that give out whole nodes name
// no GPUs.
func grantVars(e env, vendor string) map[string]string {
	names := []string{"CUDA_VISIBLE_DEVICES"}
	if vendor == gpu.AMD {
		names = []string{"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}
	}
	for _, name := range names {
		if list, ok := e.lookup(name); ok {
			return map[string]string{name: list, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
		}
	}
	return nil
}

// groupOf picks the job's group among those of its array.
func groupOf(e env, run *results.Run, ids []string) (results.Group, error) {
	text, _ := e.lookup("SLURM_ARRAY_TASK_ID")
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
	if node, ok := e.lookup("SLURMD_NODENAME"); ok {
		s.node = node
	}
	if s.readers, err = openTelemetry(ctx, e, sc.Telemetry, s.inventory); err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// granted leaves out GPUs that the job was not given: they are not sampled, and
// their memory is not ours to prove free.
func granted(inventory gpu.Inventory, box harness.Box) gpu.Inventory {
	inventory.GPUs = slices.DeleteFunc(slices.Clone(inventory.GPUs), func(d gpu.Device) bool {
		return !slices.ContainsFunc(box.Devices, func(b gpu.Device) bool { return b.ID() == d.ID() })
	})
	return inventory
}

// takeJobBox takes the job's own part of the box, and ends what jobs of ours
// have left on the machine that do not run any more.
func (s *session) takeJobBox(ctx context.Context, g grant, what string) error {
	root, err := jobStateRoot(s.e)
	if err != nil {
		return err
	}
	if s.state, err = state.OpenJob(root, g.job); err != nil {
		return err
	}
	if s.lock, err = s.state.Lock(what); err != nil {
		return err
	}
	with := launchers.Cleaner{Environ: s.e.environ, GPUs: s.readers.watcher, GPUBytes: gpuBytes(s.inventory), Vendor: s.inventory.Vendor()}
	return errors.Join(endLeftovers(ctx, s.e, s.state, with), endJobs(ctx, s.e, root, with))
}

// jobStateRoot is the folder for state of jobs: on the node itself, since locks
// need not work on a shared home, and as lasting as what it tells of.
func jobStateRoot(e env) (string, error) {
	if dir, _ := e.lookup("BENCH_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	root := fmt.Sprintf("/var/tmp/bench-%d", os.Getuid())
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("%w; set BENCH_STATE_DIR to a folder on the node that can be written", err)
	}
	var info unix.Stat_t
	if err := unix.Lstat(root, &info); err != nil {
		return "", err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR || info.Mode&0o077 != 0 || int(info.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of this user alone; remove it, or set BENCH_STATE_DIR", root)
	}
	return root, nil
}

// endJobs ends what jobs have left on this machine that run no more.
func endJobs(ctx context.Context, e env, root string, with launchers.Cleaner) error {
	boxes, err := state.Jobs(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, box := range boxes {
		lock, err := box.Lock("bench clean")
		if err != nil {
			continue // it runs, this job's own included
		}
		err = endLeftovers(ctx, e, box, with)
		if err == nil {
			err = box.Remove()
		}
		errs = append(errs, err, lock.Release())
	}
	return errors.Join(errs...)
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
		fmt.Fprintln(s.e.stderr, "bench: the job's time is up; it is queued again for the steps that are left")
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
				fmt.Fprintln(e.stderr, "bench: SIGUSR1: the job's time limit is near: stopping cleanly")
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
