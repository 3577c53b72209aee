package cluster

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
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// follower reports the progress of a run that others carry out.
type follower struct {
	Cluster

	reported map[string]int    // attempts of steps whose end was reported
	where    map[string]string // by group: state and node of its job, as reported

	waiting string // what was said of jobs that wait
	noted   string // the last error that was reported
}

// note reports an error, once while it stays the same.
func (f *follower) note(err error) {
	if text := err.Error(); text != f.noted {
		f.noted = text
		fmt.Fprintf(f.Process.Stderr, "note: %s\n", text)
	}
}

// pauseAfter is the pause to the next look: as long as asked, or longer where a
// look took long, within bounds.
func pauseAfter(period, busy time.Duration) time.Duration {
	return max(period, min(busy, longestPause))
}

// The time between two looks grows while nothing happens: clusters and shared
// file systems do not like to be asked often.
const (
	firstLook = time.Second
	lastLook  = 15 * time.Second
	// longestPause bounds the pause after a look that took long: a controller that
	// answers late is no reason to see nothing for minutes.
	longestPause = time.Minute
	// patience is how often a controller may give no answer before its first one.
	patience = 3
	// outage is for how long it may give none later: it is restarted, while the jobs
	// continue and the folder shows their steps.
	outage = 30 * time.Minute
)

// Follow writes lines about steps and jobs until no job is left, and returns the
// run. When ctx ends, the jobs continue and no run is returned.
func (c Cluster) Follow(ctx context.Context) (*results.Run, error) {
	f := follower{Cluster: c, reported: map[string]int{}, where: map[string]string{}}
	fmt.Fprintf(c.Process.Stderr, "following; Ctrl-C ends this view, not the jobs; 'bench watch %s' follows again, "+
		"'bench cancel' stops them\n", c.Folder.Dir())
	period, failed := firstLook, 0
	var answered time.Time // the last time that the controller did; zero: never

	for {
		began := time.Now()
		run, jobs, news, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(c.Process.Stderr, "\nthe jobs continue: bench watch %s\n", c.Folder.Dir())
			return nil, nil //nolint:nilerr // the user stopped watching
		case err != nil:
			failed++
			gone := failed >= patience && (answered.IsZero() || time.Since(answered) >= outage)
			if gone {
				return nil, fmt.Errorf("%w (the jobs continue)", err)
			}
			f.note(err)
		case len(jobs) == 0:
			return run, nil
		default:
			failed, answered = 0, time.Now()
		}
		if news {
			period = firstLook
		}
		const share = 20 // of the time is spent looking, at most
		sleep.For(ctx, pauseAfter(period, share*time.Since(began)))
		period = min(lastLook, period+period/2)
	}
}

// look reads the folder after the queue, so that what an ended job has left is
// seen.
func (f *follower) look(ctx context.Context) (run *results.Run, jobs map[string]slurm.Job, news bool, err error) {
	jobs, queueErr := f.Jobs(ctx)
	if run, err = store.Read(f.Folder.Dir()); err != nil {
		return nil, nil, false, err
	}
	if queueErr != nil {
		return nil, nil, f.reportSteps(run, false), queueErr // what ends meanwhile is on disk
	}

	news = f.reportJobs(run, jobs)
	news = f.reportSteps(run, len(jobs) == 0) || news
	if err := errors.Join(f.noteEnds(ctx, run, jobs), f.excludeBad(ctx)); err != nil {
		f.note(err) // the jobs are not to blame, and go on
	}
	return run, jobs, news, nil
}

func (f *follower) reportJobs(run *results.Run, jobs map[string]slurm.Job) (news bool) {
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
			fmt.Fprintf(f.Process.Stderr, "%s runs on %s as job %s: %s\n", group.ID, job.Node, job.ID,
				text.Count(len(group.Steps), "step"))
		}
	}

	f.reportWaiting(waiting)
	return news
}

// reportWaiting says why jobs wait, when that has changed.
func (f *follower) reportWaiting(jobs map[string]int) {
	var lines strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(jobs)) {
		fmt.Fprintf(&lines, "%s waiting: %s\n", text.Count(jobs[reason], "job"), reason)
	}
	if text := lines.String(); text != f.waiting {
		f.waiting = text
		fmt.Fprint(f.Process.Stderr, text)
	}
}

// reportSteps reports each step once its last attempt has ended; all of them once no job
// is left.
func (f *follower) reportSteps(run *results.Run, all bool) (news bool) {
	ended := func(s *results.Step) bool {
		again := s.Attempt <= f.Retry[s.Result.Step.ID] && s.Result.Verdict == results.Failed
		return final(s) && !again || all && s.State == results.StepDone
	}

	done := 0
	for i := range run.Steps {
		if ended(&run.Steps[i]) {
			done++
		}
	}

	for i := range run.Steps {
		step := &run.Steps[i]
		if !ended(step) || f.reported[step.Result.Step.ID] >= max(1, step.Attempt) {
			continue
		}
		f.reported[step.Result.Step.ID], news = max(1, step.Attempt), true
		fmt.Fprintf(f.Process.Stderr, "[%d/%d] %s: %s%s\n", done, len(run.Steps), step.Result.Step.ID,
			report.OneLine(step.Result), onNode(step.Result))
	}

	return news
}

func onNode(r *results.Result) string {
	if r.Node == "" {
		return ""
	}
	return " (" + r.Node + ")"
}

// ErrNoJobs is for commands on jobs of a run that has none.
var ErrNoJobs = usage.Errorf("this run has no jobs: it ran on one machine; Ctrl-C stops it")

// Ended says what came of a run of which no job is left: its outcome if all of it is
// done, else how many steps have no verdict.
func Ended(run *results.Run) (out harness.Outcome, done bool, open int) {
	resume := harness.NewResume(run, false)
	for i := range run.Steps {
		if !resume.Keeps(run.Steps[i].Result.Step.ID) {
			open++
		}
	}
	return resume.Kept(), resume.Done(run), open
}
