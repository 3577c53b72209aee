package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/newfile"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

// ErrSubmitting says that another bench submits or cancels jobs of the run.
var ErrSubmitting = errors.New("another bench submits or cancels jobs of this run")

// submitterName is the file by which a process has that right for itself.
const submitterName = "submitter"

// A Submitter is the right to submit and cancel jobs of a run, on any machine that
// sees its folder. The kernel's locks do not reach over every network file system;
// link does: it makes a name or fails, for everybody.
type Submitter struct {
	path string
	file os.FileInfo
	stop context.CancelFunc
	done sync.WaitGroup
}

// holder is what the file says about the process that has the right.
type holder struct {
	Host    string `json:"host"`
	Machine string `json:"machine"` // boot and pid namespace: where its pid means something
	PID     int    `json:"pid"`
	Start   uint64 `json:"start"` // by the kernel's clock, distinguishes processes of one number
}

// How a submitter shows that it lives. Times are those of the file system, one clock
// for all machines.
const (
	submitterPulse = 5 * time.Second
	submitterDead  = time.Minute
)

// Submit takes the right to submit, or says who has it. What a process has left
// that is gone is taken over: at once on its own machine, elsewhere after a minute
// without a sign of life.
func (f *Folder) Submit() (*Submitter, error) {
	path := filepath.Join(f.dir, results.JobsName, submitterName)
	if err := f.makeDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("take the right to submit: %w", err)
	}

	own, err := newfile.Beside(path)
	if err != nil {
		return nil, fmt.Errorf("take the right to submit: %w", err)
	}
	defer func() { _ = os.Remove(own.Name()) }()

	self, err := json.Marshal(thisProcess())
	if err == nil {
		_, err = own.Write(self)
	}
	if err = errors.Join(err, own.Close()); err != nil {
		return nil, fmt.Errorf("take the right to submit: %w", err)
	}
	file, err := os.Lstat(own.Name())
	if err != nil {
		return nil, fmt.Errorf("take the right to submit: %w", err)
	}

	const tries = 3
	for range tries {
		err = os.Link(own.Name(), path)
		if now, statErr := os.Lstat(path); statErr == nil && os.SameFile(file, now) { // whatever a lost answer said
			return newSubmitter(path, file), nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("take the right to submit: %w", err)
		}
		if err := takeAway(path, file.ModTime()); err != nil {
			return nil, err
		}
	}
	return nil, ErrSubmitting
}

func thisProcess() holder {
	host, _ := os.Hostname() // "": compared as any other
	start, _ := proc.System.StartTime(os.Getpid())
	namespace, _ := os.Readlink("/proc/self/ns/pid") // "": likewise
	return holder{Host: host, Machine: proc.System.BootID() + " " + namespace, PID: os.Getpid(), Start: start}
}

// takeAway removes the file of a process that is gone; the error names one that is
// not. now is a time of the same file system.
func takeAway(path string, now time.Time) error {
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take the right to submit: %w", err)
	}

	var who holder
	text, err := ReadPlain(path)
	if err == nil {
		err = json.Unmarshal(text, &who)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		who = holder{Host: "an unknown machine"}
	}

	if !who.gone() && now.Sub(file.ModTime()) < submitterDead {
		return fmt.Errorf("%w: process %d on %s", ErrSubmitting, who.PID, who.Host)
	}

	// Of two that find it dead, one gets the name; what it got is looked at again.
	aside := fmt.Sprintf("%s.gone-%d-%d", path, os.Getpid(), now.UnixNano())
	if err := os.Rename(path, aside); err != nil {
		return nil
	}
	defer func() { _ = os.Remove(aside) }()
	if moved, err := os.Lstat(aside); err == nil && !os.SameFile(file, moved) {
		_ = os.Link(aside, path) // it was new: back with it, unless there is one again
	}
	return nil
}

// gone reports whether it is known that the process no longer runs.
func (h holder) gone() bool {
	if h.Machine != thisProcess().Machine {
		return false
	}
	start, ok := proc.System.StartTime(h.PID)
	return !ok || start != h.Start
}

func newSubmitter(path string, file os.FileInfo) *Submitter {
	ctx, stop := context.WithCancel(context.Background())
	s := &Submitter{path: path, file: file, stop: stop}
	s.done.Go(func() {
		for sleep.For(ctx, submitterPulse) {
			if s.Held() == nil {
				touch(path)
			}
		}
	})
	return s
}

// touch sets a file's time by the clock of its file system.
func touch(path string) {
	now := unix.Timespec{Nsec: unix.UTIME_NOW}
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW) // it comes again
}

// Held is an error once somebody else has taken the right over: what held this
// process up took too long.
func (s *Submitter) Held() error {
	if now, err := os.Lstat(s.path); err != nil || !os.SameFile(s.file, now) {
		return fmt.Errorf("%w: it took the place of this one, which was held up", ErrSubmitting)
	}
	return nil
}

// Release gives the right back.
func (s *Submitter) Release() error {
	s.stop()
	s.done.Wait()
	if err := removeOwn(s.path, s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give back the right to submit: %w", err)
	}
	return nil
}
