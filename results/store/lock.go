package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
)

// errLocked says that another process writes the run folder.
var errLocked = errors.New("another bench is writing this run")

// Lock is the right to write a run folder. The kernel gives it back when the
// process dies, however it dies. Readers need none.
type Lock struct{ f *os.File }

// Lock takes the run folder for writing, or says who has it.
func (f *Folder) Lock() (*Lock, error) {
	file, err := inside.Open(f.dir, results.LockName, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lock run folder: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		owner, _ := io.ReadAll(io.LimitReader(file, 64))
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w (pid %s); wait for it or stop it", f.dir, errLocked,
				strings.TrimSpace(string(owner)))
		}
		return nil, fmt.Errorf("lock %s: %w", f.dir, err)
	}
	if err := note(file, strconv.Itoa(os.Getpid())); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", f.dir, err)
	}

	return &Lock{f: file}, nil
}

// Locked reports whether another process writes the run folder, without writing
// into it.
func (f *Folder) Locked() bool {
	file, err := inside.Open(f.dir, results.LockName, os.O_RDONLY, 0)
	if err != nil {
		return false // nobody ever wrote it
	}
	defer func() { _ = file.Close() }() // gives the lock back

	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// note replaces the content of file.
func note(file *os.File, text string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(text+"\n"), 0)
	return err
}

// Release gives the run folder back. The lock file stays: removing it would
// let two writers hold locks on two files of the same name.
func (l *Lock) Release() error {
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("release run folder: %w", err)
	}
	return nil
}
