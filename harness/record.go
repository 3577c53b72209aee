package harness

import (
	"errors"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// recorder writes what happens to a run into its folder. A write that fails is
// tried once more; a full disk halts the run, and the second try has the space
// that was kept aside.
type recorder struct {
	folder  *store.Folder
	journal Journal
	halt    func(why *results.Failure)
}

// appendEvent writes an event into the journal.
func (r *recorder) appendEvent(e results.Event) error {
	return r.write(func() error { return r.journal.Append(e) })
}

// result writes a step's result.json and journals how its attempt
// ended. retry says that another attempt is to follow.
func (r *recorder) result(result *results.Result, retry bool) error {
	err := r.write(func() error { return r.folder.WriteResult(result) })
	if errors.Is(err, store.ErrSuperseded) { // the step is that job's
		r.halt(results.Failf(results.FailInterrupted, "%v", err))
		return nil
	}
	if err != nil {
		return err
	}
	return r.ended(result, retry)
}

// ended journals how an attempt ended.
func (r *recorder) ended(result *results.Result, retry bool) error {
	return r.appendEvent(results.Event{
		Kind: results.StepFinished, Step: result.Step.ID, Attempt: result.Step.Attempt,
		Verdict: result.Verdict, Failure: withoutLog(result.Failure), Retry: retry,
	})
}

// leftOut journals that a step is not run.
func (r *recorder) leftOut(a attempt, why *results.Failure) error {
	return r.appendEvent(results.Event{
		Kind: results.StepFinished, Step: a.ID, Attempt: a.Attempt, Verdict: results.NotRun, Failure: withoutLog(why),
	})
}

func (r *recorder) write(do func() error) error {
	err := do()
	if err == nil || errors.Is(err, store.ErrSuperseded) {
		return err
	}
	if why := results.WriteFailure(err); why.Class == results.FailDisk {
		r.halt(why)
	}
	return do()
}

func withoutLog(f *results.Failure) *results.Failure {
	if f == nil {
		return nil
	}
	short := *f
	short.LogTail = nil
	return &short
}
