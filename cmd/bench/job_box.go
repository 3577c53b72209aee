package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers"
)

// takeJobBox takes the job's own part of the box, and ends what jobs of ours
// have left on the machine that do not run any more.
func (s *session) takeJobBox(ctx context.Context, g grant, what string) error {
	root, err := jobStateRoot(s.e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("%w; set BENCH_STATE_DIR to a folder on the node that can be written", err)
	}
	waiting, free := context.WithTimeoutCause(ctx, jobBoxTime, errors.New("another bench has its state on this node"))
	defer free()
	if s.state, s.lock, err = state.LockJob(waiting, root, g.job, what); err != nil {
		return err
	}
	with := launchers.Cleaner{Environ: s.e.environ, GPUs: s.readers.watcher, GPUBytes: gpuBytes(s.inventory), Vendor: s.inventory.Vendor()}
	return errors.Join(endLeftovers(ctx, s.e, s.state, with), endJobs(ctx, s.e, root, with))
}

// jobBoxTime is longer than another job looks for what this one may have left
// before it was queued again.
const jobBoxTime = 5 * time.Minute

// jobStateRoot is the folder for state of jobs: on the node itself, since locks
// need not work on a shared home, and as lasting as what it tells of.
func jobStateRoot(e env) (string, error) {
	if dir, _ := e.lookup("BENCH_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	root := fmt.Sprintf("/var/tmp/bench-%d", os.Getuid())
	var info unix.Stat_t
	switch err := unix.Lstat(root, &info); {
	case errors.Is(err, unix.ENOENT):
		return root, nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", root, err)
	case info.Mode&unix.S_IFMT != unix.S_IFDIR || info.Mode&0o077 != 0 || int(info.Uid) != os.Getuid():
		return "", fmt.Errorf("%s is not a folder of this user alone; remove it, or set BENCH_STATE_DIR", root)
	}
	return root, nil
}

// endedJob is a job of a scheduler that runs no more on this machine, and what
// it may have left.
type endedJob struct {
	box  *state.Box
	lock *state.Lock // held until release
	runs []state.Run
}

// endedJobs lists them. The caller releases each.
func endedJobs(root string) ([]endedJob, error) {
	boxes, err := state.Jobs(root)
	errs := []error{err}
	var ended []endedJob
	for _, box := range boxes {
		lock, err := box.Lock("bench clean")
		if err != nil {
			continue // it runs
		}
		runs, err := box.Runs()
		if errors.Is(err, fs.ErrNotExist) { // another job has just removed it
			errs = append(errs, lock.Release())
			continue
		}
		errs = append(errs, err)
		ended = append(ended, endedJob{box, lock, runs})
	}
	return ended, errors.Join(errs...)
}

// endJobs ends what jobs have left on this machine that run no more, and forgets
// them.
func endJobs(ctx context.Context, e env, root string, with launchers.Cleaner) error {
	ended, err := endedJobs(root)
	errs := []error{err}
	for _, job := range ended {
		err := endLeftovers(ctx, e, job.box, with)
		if err == nil {
			err = job.box.Remove()
		}
		errs = append(errs, err, job.lock.Release())
	}
	return errors.Join(errs...)
}
