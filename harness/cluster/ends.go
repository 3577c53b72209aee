package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// noteEnds notes, in the run's journal and on Stderr, the jobs that have left the
// queue although steps of their groups have no verdict: what Slurm says of them, and
// the end of what they wrote. Each is noted once. jobs are those that are queued.
func (c Cluster) noteEnds(ctx context.Context, run *results.Run, jobs map[string]slurm.Job) error {
	if len(lostJobs(run, jobs)) == 0 {
		return nil
	}

	return c.asSubmitter(func(_ *store.Folder, journal *store.Journal) error {
		again, err := store.Read(c.Folder.Dir()) // another may have noted them
		if err != nil {
			return err
		}
		return c.noteLost(ctx, journal, again, lostJobs(again, jobs))
	})
}

// noteLost notes jobs that have left the queue.
func (c Cluster) noteLost(ctx context.Context, journal *store.Journal, run *results.Run, ends []results.JobEnd) error {
	known := map[string]map[int]slurm.Ended{}
	for _, end := range ends {
		if known[end.Array] == nil {
			known[end.Array] = c.client.Ended(ctx, end.Array)
		}
		told := known[end.Array][end.Task]
		end.Job, end.State, end.Reason = told.Job, told.State, told.Reason
		end.Node, end.ExitCode = told.Node, told.ExitCode
		end.Output = endOf(filepath.Join(c.Folder.Dir(), results.JobsName,
			fmt.Sprintf("%s_%d.out", end.Array, end.Task)))

		fmt.Fprintf(c.Process.Stderr, "%s\n", end.Text())
		if err := journal.Append(results.Event{Kind: results.JobEnded, Job: &end}); err != nil {
			return err
		}
		if end.State != "CANCELLED" && !beganStep(run, end.Group) {
			name := fmt.Sprintf("%s-%d", end.Array, end.Task)
			if err := noteFailure(c.Folder.Dir(), end.Node, name, end.Text()); err != nil {
				return err
			}
		}
	}

	return nil
}

// asSubmitter runs f with the right to submit, on the run's own folder and journal, which
// are not those of one job. While another has the right, f is not run.
func (c Cluster) asSubmitter(f func(*store.Folder, *store.Journal) error) (err error) {
	right, err := c.Folder.Submit()
	if errors.Is(err, store.ErrSubmitting) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Release()) }()

	whole, err := store.Open(c.Folder.Dir())
	if err != nil {
		return err
	}
	journal, err := whole.OpenJournal()
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	return f(whole, journal)
}

// lostJobs are the last jobs of groups that are neither queued nor done, without
// those that were noted or canceled.
func lostJobs(run *results.Run, jobs map[string]slurm.Job) []results.JobEnd {
	last := map[string]results.JobEnd{} // by group
	for _, e := range run.Events {
		switch {
		case e.Kind == results.JobsSubmitted && e.Jobs != nil:
			for task, group := range e.Jobs.Groups {
				last[group] = results.JobEnd{Group: group, Array: e.Jobs.Array, Task: task}
			}
		case e.Kind == results.JobsCanceled:
			clear(last)
		case e.Kind == results.JobEnded && e.Job != nil:
			if l := last[e.Job.Group]; l.Array == e.Job.Array && l.Task == e.Job.Task {
				delete(last, e.Job.Group)
			}
		}
	}

	done := map[string]bool{}
	for _, steps := range [][]results.Step{run.Steps, run.NotNeeded} {
		for i := range steps {
			done[steps[i].Result.Step.ID] = final(&steps[i])
		}
	}

	var lost []results.JobEnd
	for _, group := range run.Manifest.Groups {
		end, submitted := last[group.ID]
		_, queued := jobs[group.ID]
		open := slices.ContainsFunc(group.Steps, func(step string) bool { return !done[step] })
		if submitted && !queued && open {
			lost = append(lost, end)
		}
	}
	return lost
}

// final reports whether nothing more comes of a step by itself.
func final(s *results.Step) bool {
	cut := s.Result.Failure != nil && s.Result.Failure.Class == results.FailInterrupted
	return s.State == results.StepDone && !s.Retry && s.Open == 0 && !cut
}

// beganStep reports whether a job of the group came as far as a step.
func beganStep(run *results.Run, group string) bool {
	for _, p := range run.Parts {
		for _, e := range p.Events {
			if p.Group == group && e.Kind == results.StepStarted {
				return true
			}
		}
	}
	return false
}

// endOf are the last lines of a job's output, bounded; none where it cannot be read.
func endOf(path string) []string {
	const most, lines = 4096, 5
	f, err := store.OpenPlain(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read

	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}

	var out []string
	for line := range strings.Lines(string(data)) {
		if line = text.Clean(strings.TrimSpace(line)); line != "" {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-lines):]
}
