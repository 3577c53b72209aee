package leftovers

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers/cleanup"
)

// EndedJob is a scheduler's job that no longer runs on this machine, and its
// runs that may have left something.
type EndedJob struct {
	State *state.Store
	Lock  *state.Lock // held until its Release
	Runs  []state.Run
}

// EndedJobs lists the jobs below root, the folder of their state, that no longer
// run. The caller releases the lock of each.
func EndedJobs(root string) ([]EndedJob, error) {
	boxes, err := state.Jobs(root)
	errs := []error{err}
	var ended []EndedJob
	for _, register := range boxes {
		lock, err := register.Lock("bench clean")
		if err != nil {
			continue // it runs
		}
		runs, err := register.Runs()
		if errors.Is(err, fs.ErrNotExist) { // another job has just removed it
			errs = append(errs, lock.Release())
			continue
		}
		errs = append(errs, err)
		ended = append(ended, EndedJob{register, lock, runs})
	}

	return ended, errors.Join(errs...)
}

// RemoveJobs removes what ended jobs left on this machine, and their state.
func RemoveJobs(ctx context.Context, w io.Writer, root string, with cleanup.Cleaner) error {
	ended, err := EndedJobs(root)
	errs := []error{err}
	for _, job := range ended {
		err := RemoveAll(ctx, w, job.State, with)
		if err == nil {
			err = job.State.Remove()
		}
		errs = append(errs, err, job.Lock.Release())
	}
	return errors.Join(errs...)
}
