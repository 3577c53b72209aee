package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
)

// jobsName is the folder for the jobs that a scheduler runs on this machine:
// each has its share of it, and so a lock and a register of its own.
const jobsName = "jobs"

// openJob opens the state of a scheduler's job on this machine below root.
func openJob(root, job string) (*Store, error) {
	b, err := Open(root)
	if err != nil {
		return nil, err
	}
	return open(filepath.Join(b.dir, jobsName), job)
}

// Jobs lists the states that jobs have left on this machine, those of jobs that
// run included. It makes nothing.
func Jobs(root string) ([]*Store, error) {
	host, err := hostname()
	if err != nil {
		return nil, err
	}

	dir := filepath.Join(root, folderName(host), jobsName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list jobs of this machine: %w", err)
	}

	var stores []*Store
	for _, entry := range entries {
		if entry.IsDir() {
			stores = append(stores, &Store{dir: filepath.Join(dir, entry.Name())})
		}
	}

	return stores, nil
}

// LockJob opens the state of a scheduler's job and takes it for run. Another job
// that looks for leftovers may have it for a moment, or remove it: that is waited
// for until ctx ends.
func LockJob(ctx context.Context, root, job, run string) (*Store, *Lock, error) {
	const (
		poll = 200 * time.Millisecond
		// more would not help: a folder that is removed between two steps of its making
		// is made at the next try
		openings = 20
	)
	for failed := 0; ; {
		store, err := openJob(root, job)
		if err != nil {
			failed++
		}
		if failed == openings {
			return nil, nil, err
		}

		var lock *Lock
		if err == nil {
			lock, err = store.Lock(run)
		}
		if err == nil {
			return store, lock, nil
		}

		if _, busy := errors.AsType[*BusyError](err); err != nil && !busy && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}

		if !sleep.For(ctx, poll) {
			return nil, nil, fmt.Errorf("lock job %s: %w", job, context.Cause(ctx))
		}
	}
}

// Remove forgets a job that has ended and left nothing. The caller holds its
// lock.
func (b *Store) Remove() error {
	runs, err := b.Runs()
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		return fmt.Errorf("remove state %s: it notes %s that may have left something", b.dir,
			text.Count(len(runs), "run"))
	}

	// Under another name first: a job that starts meanwhile must find all of it or
	// nothing. Should this program be killed here, it is a job that left nothing.
	aside := filepath.Join(filepath.Dir(b.dir), ".removed-"+rand.Text())
	if err := os.Rename(b.dir, aside); err != nil {
		return fmt.Errorf("remove state: %w", err)
	}
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("remove state: %w", err)
	}
	return nil
}
