package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/sleep"
)

// Owner is who works on a machine.
type Owner struct {
	PID   int       `json:"pid"`
	Run   string    `json:"run"`   // what it does: a run folder, or a command
	Since time.Time `json:"since"` // wall clock; a label only
}

// String is "pid 42, RUN, since 2006-01-02 15:04:05".
func (o Owner) String() string {
	if o.PID == 0 {
		return "a bench that has just begun"
	}
	return fmt.Sprintf("pid %d, %s, since %s", o.PID, o.Run, o.Since.Local().Format(time.DateTime))
}

// BusyError says that another bench works on the machine, and what to do.
type BusyError struct{ Owner Owner }

func (e *BusyError) Error() string {
	return fmt.Sprintf("another bench is using this machine (%s): two runs would disturb each other; stop it, or wait "+
		"with --wait-for-box",
		e.Owner)
}

// Lock is the right to work on a machine. The kernel gives it back when the
// process dies, however it dies; the processes that it starts do not hold it.
type Lock struct{ file *os.File }

// Lock takes the machine for run, or says with a *BusyError who has it. The error is
// fs.ErrNotExist where the machine's state was removed meanwhile.
func (b *Store) Lock(run string) (*Lock, error) {
	file, err := inside.Open(b.dir, lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock machine: %w", err)
	}

	switch err := flock(int(file.Fd())); {
	case errors.Is(err, unix.EWOULDBLOCK):
		owner := noted(file)
		_ = file.Close()
		return nil, &BusyError{Owner: owner}
	case err != nil:
		_ = file.Close()
		return nil, fmt.Errorf("lock machine %s: %w", file.Name(), err)
	}

	if !stands(file) {
		_ = file.Close()
		return nil, fmt.Errorf("lock machine %s: it was removed meanwhile: %w", file.Name(), fs.ErrNotExist)
	}

	if err := note(file, Owner{PID: os.Getpid(), Run: run, Since: time.Now()}); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock machine: %w", err)
	}

	return &Lock{file}, nil
}

// stands reports whether a lock file is still that of its machine: the state of a
// job may have been removed between its opening and its locking.
func stands(file *os.File) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(file.Name())
	return err == nil && os.SameFile(held, there)
}

// flock takes the whole lock. One who only asks for the owner holds a shared
// lock for a moment; that one is not an owner.
func flock(fd int) error {
	const tries = 20
	var err error
	for range tries {
		if err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil {
			return err
		}
	}
	return err
}

// waitPoll is the time between looks at a machine that somebody else has.
const waitPoll = time.Second

// WaitLock is Lock, but waits until the machine is given back or ctx is done.
// waiting is called whenever the owner that is waited for changes.
func (b *Store) WaitLock(ctx context.Context, run string, waiting func(Owner)) (*Lock, error) {
	var last Owner
	for first := true; ; first = false {
		lock, err := b.Lock(run)
		busy, isBusy := errors.AsType[*BusyError](err)
		if !isBusy {
			return lock, err
		}
		if first || busy.Owner != last {
			last = busy.Owner
			waiting(last)
		}
		if !sleep.For(ctx, waitPoll) {
			return nil, fmt.Errorf("wait for machine: %w", context.Cause(ctx))
		}
	}
}

// Owner says who works on the machine; false if nobody does.
func (b *Store) Owner() (Owner, bool) {
	file, err := inside.Open(b.dir, lockName, os.O_RDONLY, 0)
	if err != nil {
		return Owner{}, false // nobody ever did, or it is not a file that bench made
	}
	defer file.Close()
	// A shared lock, so that two who ask do not take each other for owners.
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); err == nil {
		return Owner{}, false
	}
	return noted(file), true
}

// noted is the owner that the lock file names: the last one, which may have
// written it just now.
func noted(file *os.File) Owner {
	var owner Owner
	data, err := io.ReadAll(io.NewSectionReader(file, 0, ownerLimit))
	if err != nil || json.Unmarshal(data, &owner) != nil {
		return Owner{}
	}
	return owner
}

// ownerLimit is far above what note writes, in bytes.
const ownerLimit = 64 << 10

func note(file *os.File, owner Owner) error {
	data, err := json.Marshal(owner)
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(data, '\n'), 0)
	return err
}

// Release gives the machine back. The lock file stays: removing it would let two
// hold locks on two files of the same name.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release machine: %w", err)
	}
	return nil
}
