package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// follower tells how a run goes that others carry out.
type follower struct {
	cluster

	told  map[string]int    // attempts of steps whose end was told
	where map[string]string // by group: state and node of its job, as told

	waiting string // what was said of jobs that wait
}

// The time between two looks grows while nothing happens: clusters and shared
// file systems do not like to be asked often.
const (
	firstLook = time.Second
	lastLook  = 15 * time.Second
	// patience is for a controller that does not answer, or a step's end that a
	// file system shows late.
	patience = 3
)

// follow tells of steps and jobs until no job is left, and prints the report.
// When ctx ends, or on Ctrl-C, it lets the jobs go on.
func (c cluster) follow(ctx context.Context) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	f := follower{cluster: c, told: map[string]int{}, where: map[string]string{}}
	fmt.Fprintf(c.e.Stderr, "following; Ctrl-C lets the jobs go on, 'bench watch %s' follows again, 'bench cancel' ends them\n", c.folder.Dir())
	period, failed := firstLook, 0
	for {
		began := time.Now()
		run, jobs, news, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(c.e.Stderr, "\nthe jobs go on: bench watch %s\n", c.folder.Dir())
			return nil
		case err != nil:
			if failed++; failed >= patience {
				return fmt.Errorf("%w (the jobs go on)", err)
			}
			fmt.Fprintf(c.e.Stderr, "note: %v\n", err)
		case len(jobs) == 0:
			return f.ended(run)
		default:
			failed = 0
		}
		if news {
			period = firstLook
		}
		const share = 20 // of the time is spent looking, at most
		pause(ctx, max(period, share*time.Since(began)))
		period = min(lastLook, period+period/2)
	}
}

// look reads the folder after the queue, so that what an ended job has left is
// seen.
func (f *follower) look(ctx context.Context) (run *results.Run, jobs map[string]slurm.Job, news bool, err error) {
	if jobs, err = f.jobs(ctx); err != nil {
		return nil, nil, false, err
	}
	if run, err = results.Read(f.folder.Dir()); err != nil {
		return nil, nil, false, err
	}
	news = f.tellJobs(run, jobs)
	return run, jobs, f.tellSteps(run) || news, nil
}

func (f *follower) tellJobs(run *results.Run, jobs map[string]slurm.Job) (news bool) {
	waiting := map[string]int{}
	for _, group := range run.Manifest.Groups {
		job, queued := jobs[group.ID]
		state := ""
		if queued {
			state = job.State + " " + job.Node
		}
		if queued && !job.Running() {
			waiting[job.Reason]++
		}
		if f.where[group.ID] == state {
			continue
		}
		f.where[group.ID], news = state, true
		if queued && job.State == "RUNNING" {
			fmt.Fprintf(f.e.Stderr, "%s runs on %s as job %s: %s\n", group.ID, job.Node, job.ID, text.Count(len(group.Steps), "step"))
		}
	}
	f.tellWaiting(waiting)
	return news
}

// tellWaiting says why jobs wait, when that has changed.
func (f *follower) tellWaiting(jobs map[string]int) {
	var lines strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(jobs)) {
		fmt.Fprintf(&lines, "%s waiting: %s\n", text.Count(jobs[reason], "job"), reason)
	}
	if text := lines.String(); text != f.waiting {
		f.waiting = text
		fmt.Fprint(f.e.Stderr, text)
	}
}

func (f *follower) tellSteps(run *results.Run) (news bool) {
	done := 0
	for i := range run.Steps {
		if run.Steps[i].State == results.StepDone {
			done++
		}
	}
	for i := range run.Steps {
		step := &run.Steps[i]
		if step.State != results.StepDone || f.told[step.Result.Step.ID] >= max(1, step.Attempt) {
			continue
		}
		f.told[step.Result.Step.ID], news = max(1, step.Attempt), true
		fmt.Fprintf(f.e.Stderr, "[%d/%d] %s: %s%s\n", done, len(run.Steps), step.Result.Step.ID, (&progress{}).summary(step.Result), onNode(step.Result))
	}
	return news
}

func onNode(r *results.Result) string {
	if r.Node == "" {
		return ""
	}
	return " (" + r.Node + ")"
}

// ended prints the report of a run without jobs.
func (f *follower) ended(run *results.Run) error {
	if err := printReport(f.e, f.folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}
	resume := harness.NewResume(run, false)
	if !resume.Done(run) {
		open := 0
		for i := range run.Steps {
			if !resume.Keeps(run.Steps[i].Result.Step.ID) {
				open++
			}
		}
		fmt.Fprintf(f.e.Stderr, "bench: no job is left, and %s not done; to go on: bench resume %s\n", isAre(open, "step"), f.folder.Dir())
		return codeError{code: exitStepsFailed}
	}
	return ended{Outcome: resume.Kept()}.exit()
}

func isAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

var errNoJobs = errors.New("this run has no jobs: it ran on one machine; Ctrl-C ends it")
