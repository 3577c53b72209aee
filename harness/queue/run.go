package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Outcome is how the run of an entry ended.
type Outcome struct {
	Code    int   // exit code
	Err     error // what it said last; nil: nothing
	Stopped bool  // by the user: it is to go on later
	Ended   bool  // there is a report, if perhaps of failed steps
	Machine error // why this machine cannot be used for any run; nil: it can
}

// Do carries out one entry from the beginning, or resumes the run of its folder. began is to
// be told the run's folder.
type Do func(ctx context.Context, e Entry, began func(dir string)) Outcome

// Runner carries out a queue.
type Runner struct {
	Queue *Queue
	Do    Do
	Until time.Time // nothing is begun after it; zero: never
	Log   io.Writer // lines about what begins and ends

	cut map[int]bool // entries that Until ended, which go on with the next runner
}

// Summary counts what a runner has carried out.
type Summary struct {
	OK, Bad int  // entries with and without exit code 0
	Stopped bool // by the user
	Left    int  // entries that are still to be run
}

// mostStarts is how often an entry is begun whose runners were killed.
const mostStarts = 5

// Run carries out what is queued until nothing is left. An entry that fails does
// not end it; a machine that cannot be used for the next one does, as an error.
func (r *Runner) Run(ctx context.Context) (Summary, error) {
	lock, err := r.Queue.state.Lock("bench queue run")
	if busy, ok := errors.AsType[*state.BusyError](err); ok {
		return Summary{}, fmt.Errorf("another 'bench queue run' is active (%s), which also runs what you add",
			busy.Owner)
	}
	if err != nil {
		return Summary{}, err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway

	r.cut = map[int]bool{}
	var sum Summary
	for err == nil && !sum.Stopped {
		var e *Entry
		if e, err = r.next(&sum); err != nil || e == nil {
			break
		}
		err = r.one(ctx, *e, &sum)
	}

	left, readErr := r.Queue.Entries()
	sum.Left = len(slices.DeleteFunc(left, func(e Entry) bool { return !e.Open() }))
	return sum, errors.Join(err, readErr)
}

// next is the first entry that is to be run, which now is running; nil: there is none.
// Entries whose time is over, and those that bench did not survive, fail.
func (r *Runner) next(sum *Summary) (next *Entry, err error) {
	now := time.Now()
	err = r.Queue.change(func(entries []Entry) ([]Entry, error) {
		for i := range entries {
			e := &entries[i]
			why := e.reasonToSkip(now)
			switch {
			case !e.Open() || r.cut[e.ID]:
				continue
			case why != "":
				e.State, e.Ended, e.Result = Failed, now, why
				sum.Bad++
				fmt.Fprintf(r.Log, "queue: %d %s: not run: %s\n", e.ID, e.Name(), why)
				continue
			case !r.Until.IsZero() && (!now.Before(r.Until) || e.StartAt.After(r.Until)):
				return entries, nil
			}

			e.State, e.Began = Running, now
			found := *e
			next = &found
			return entries, nil
		}
		return entries, nil
	})
	return next, err
}

// reasonToSkip says why an entry is not to be begun; "": it is.
func (e Entry) reasonToSkip(now time.Time) string {
	switch {
	case !e.Until.IsZero() && !now.Before(e.Until):
		return fmt.Sprintf("its until, %s, had passed when its turn came", clock(e.Until))
	case e.Starts >= mostStarts:
		return fmt.Sprintf("bench was killed or crashed in each of %d starts", e.Starts)
	}
	return ""
}

// one carries out one entry. The error says that nothing can be run after it.
func (r *Runner) one(ctx context.Context, e Entry, sum *Summary) error {
	if _, err := store.Open(e.Dir); e.Dir != "" && err != nil {
		fmt.Fprintf(r.Log, "queue: %d: its run folder %s is gone: it starts from the beginning\n", e.ID, e.Dir)
		e.Dir = ""
	}

	verb := "begins"
	if e.Dir != "" {
		verb = "goes on: " + e.Dir
	}
	fmt.Fprintf(r.Log, "queue: %d %s %s\n", e.ID, e.Name(), verb)

	out := r.Do(ctx, e, func(dir string) {
		e.Dir = dir
		if err := r.Queue.update(e.ID, func(kept *Entry) { kept.Dir, kept.Starts = dir, kept.Starts+1 }); err != nil {
			fmt.Fprintf(r.Log, "queue: %v: if bench is killed now, the run starts from the beginning\n", err)
		}
	})

	run := readRun(e.Dir)
	words, cut := e.told(out, run), r.ends(e, run)
	sum.Stopped = out.Stopped
	switch {
	case out.Stopped, out.Machine != nil, cut:
	case out.Code == 0:
		sum.OK++
	default:
		sum.Bad++
	}

	err := r.Queue.update(e.ID, func(kept *Entry) {
		kept.Dir, kept.Result, kept.Starts, kept.Ended = e.Dir, words, 0, time.Now()
		switch {
		case out.Stopped, out.Machine != nil, cut:
			kept.State = Queued
		case out.Ended:
			kept.State, kept.Code = Done, &out.Code
		default:
			kept.State, kept.Code = Failed, &out.Code
		}
	})
	if out.Machine != nil {
		return errors.Join(err, fmt.Errorf("%w; %s and what follows stay queued", out.Machine, e.Name()))
	}
	fmt.Fprintf(r.Log, "queue: %d %s ended with exit code %d: %s\n", e.ID, e.Name(), out.Code, words)
	if cut {
		r.cut[e.ID] = true
		fmt.Fprintf(r.Log, "queue: %d %s was stopped by --until: the next 'bench queue run' resumes it\n", e.ID,
			e.Name())
	}
	if why := run.ended(); why != nil && (why.Class == results.FailNoProof || why.Class == results.FailDisk) {
		err = errors.Join(err, fmt.Errorf("the queue stops after %s: %w", e.Name(), why))
	}
	return err
}

// entryRun is the run of an entry, or why it cannot be read.
type entryRun struct {
	*results.Run
	err error
}

// readRun reads the run in a folder; none where dir is "".
func readRun(dir string) (r entryRun) {
	if dir != "" {
		r.Run, r.err = store.Read(dir)
	}
	return r
}

// ended is why the run ended early; nil: it did not, or there is no run.
func (r entryRun) ended() *results.Failure {
	if r.Run == nil {
		return nil
	}
	return r.EndedEarly()
}

// ends reports whether the runner's Until left steps out of a run, and not the entry's
// own end or deadline.
func (r *Runner) ends(e Entry, run entryRun) bool {
	if run.Run == nil || r.Until.IsZero() || e.endsBefore(r.Until) {
		return false
	}
	by := e.End(r.Until)
	return slices.ContainsFunc(run.Steps, func(s results.Step) bool {
		return s.Result.Failure != nil && s.Result.Failure.Until == by
	})
}

// told describes in a line how the run of an entry ended.
func (e Entry) told(out Outcome, run entryRun) string {
	words := ""
	if out.Err != nil {
		words = text.LastLine(out.Err.Error())
	}
	switch {
	case run.err != nil:
		return run.err.Error()
	case run.Run == nil:
		return words
	}

	parts := []string{text.Count(len(run.Steps), "step") + ": " + differences.CountSteps(run.Run)}
	if why := run.ended(); why != nil {
		parts = append(parts, "ended early: "+why.Error())
	}
	if words != "" {
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ")
}

// Name is the scenario's file name.
func (e Entry) Name() string { return filepath.Base(e.Scenario) }

// clock is a moment as people read it.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
