package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
)

// ErrSuperseded says that a later job carries out the group by now: what this one
// measured stays in the folder of its attempt.
var ErrSuperseded = errors.New("a later job carries out this group")

// errReplaced says that another process has put its own in the place of a file or
// folder of this one, which is left alone then.
var errReplaced = errors.New("another process has put its own there, which is left alone")

// AttemptDir is the folder in which an attempt of a step writes until its result
// is published. No two jobs have one in common: its name has the job's group and
// number.
func (f *Folder) AttemptDir(step string, attempt int) string {
	name := strconv.Itoa(attempt)
	if f.part != "" {
		name += "-" + filepath.Base(filepath.Dir(f.part)) + "-" + filepath.Base(f.part)
	}
	return filepath.Join(f.dir, results.AttemptsName, step, name)
}

// BeginAttempt makes the folder of an attempt and notes its device and inode, by
// which it is known again when it is published.
func (f *Folder) BeginAttempt(step string, attempt int) error {
	if err := checkName(step); err != nil {
		return fmt.Errorf("begin an attempt: step id: %w", err)
	}

	dir := f.AttemptDir(step, attempt)
	err := fs.ErrNotExist
	const tries = 5 // another job may remove the parent, which was empty, in between
	for i := 0; i < tries && errors.Is(err, fs.ErrNotExist); i++ {
		err = f.makeDir(dir)
	}
	if err != nil {
		return fmt.Errorf("begin attempt %d of step %s: %w", attempt, step, err)
	}

	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("begin attempt %d of step %s: %w", attempt, step, err)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.attempts == nil {
		f.attempts = map[string]os.FileInfo{}
	}
	if before, begun := f.attempts[dir]; begun && !os.SameFile(before, info) {
		return fmt.Errorf("go on with attempt %d of step %s: %s: %w", attempt, step, dir, errReplaced)
	}
	f.attempts[dir] = info
	return nil
}

// begun is the folder of an attempt as BeginAttempt found it.
func (f *Folder) begun(dir string) (os.FileInfo, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, ok := f.attempts[dir]
	return info, ok
}

// WriteResult writes result.json of the step that it names, and publishes the
// attempt: one rename puts its folder in the place of the step's. What an earlier
// attempt had there goes to a folder of its own under attempts/. Of an attempt
// that is published already, the result alone is replaced.
func (f *Folder) WriteResult(r *results.Result) error {
	step, attempt := r.Step.ID, r.Step.Attempt
	if err := checkName(step); err != nil {
		return fmt.Errorf("write result: step id: %w", err)
	}
	if f.Superseded() {
		return fmt.Errorf("publish attempt %d of step %s: %w; it stays in %s", attempt, step, ErrSuperseded,
			f.AttemptDir(step, attempt))
	}

	whole := *r
	whole.Format = results.FormatVersion
	work, place := f.AttemptDir(step, attempt), f.StepDir(step)
	info, begun := f.begun(work)
	published, err := os.Lstat(place)
	inPlace := begun && err == nil && os.SameFile(info, published) || !begun && attemptIn(place) == 0
	if inPlace {
		return f.WriteJSON(results.StepsName+"/"+step+"/"+results.ResultName, &whole)
	}

	if err := f.BeginAttempt(step, attempt); err != nil {
		return err
	}
	info, _ = f.begun(work)
	name, err := filepath.Rel(f.dir, work)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := f.WriteJSON(filepath.ToSlash(name)+"/"+results.ResultName, &whole); err != nil {
		return err
	}
	if err := f.publish(work, place, attempt, info); err != nil {
		return fmt.Errorf("publish attempt %d of step %s: %w", attempt, step, err)
	}
	return nil
}

// attemptIn is the attempt of which a step's folder has the result; 0: none. One
// without a number is the first.
func attemptIn(place string) int {
	var result struct {
		Step struct {
			Attempt int `json:"attempt"`
		} `json:"step"`
	}
	err := readVersioned(filepath.Join(place, results.ResultName), &result)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	return max(1, result.Step.Attempt)
}

// publish renames the folder of an attempt to that of its step, if it is still
// the one that was begun.
func (f *Folder) publish(work, place string, attempt int, begun os.FileInfo) error {
	now, err := os.Lstat(work)
	if err != nil {
		return err
	}
	if !os.SameFile(begun, now) {
		return fmt.Errorf("%s: %w", work, errReplaced)
	}

	if err := f.makeDir(filepath.Dir(place)); err != nil { // not through a link to another folder
		return err
	}

	const tries = 10 // others may publish and move at the same time
	for range tries {
		err = f.rename(work, place, 0)
		if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
			break
		}
		there := attemptIn(place)
		if there > max(1, attempt) {
			return fmt.Errorf("attempt %d is there: %w", there, ErrSuperseded)
		}
		if err = f.exchange(work, place, there); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}

	parent := filepath.Dir(work)
	_ = os.Remove(parent)               // not if attempts are left in it
	_ = os.Remove(filepath.Dir(parent)) // likewise
	return errors.Join(syncDir(filepath.Dir(place)), syncDir(f.dir))
}

// exchange puts work in the place of the folder of an earlier attempt, which gets
// a name of its own beside work. File systems that cannot exchange two names, such
// as NFS, take two renames: the error is nil once the second one was made.
func (f *Folder) exchange(work, place string, earlier int) error {
	err := f.rename(work, place, unix.RENAME_EXCHANGE)
	if err == nil {
		return f.moveAside(work, work, earlier)
	}
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	if err := f.moveAside(place, work, earlier); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.rename(work, place, 0)
}

// rename renames a folder of the run, through no link to another folder.
func (f *Folder) rename(from, to string, flags uint) error {
	source, err := filepath.Rel(f.dir, from)
	if err != nil {
		return err
	}
	target, err := filepath.Rel(f.dir, to)
	if err != nil {
		return err
	}
	return inside.RenameWith(f.dir, source, target, flags)
}

// moveAside renames the folder of an earlier attempt to the first free name for
// that attempt beside work.
func (f *Folder) moveAside(from, work string, earlier int) error {
	stem := filepath.Join(filepath.Dir(work), strconv.Itoa(earlier))
	to := stem
	for n := 2; ; n++ {
		err := f.rename(from, to, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
			err = f.rename(from, to, 0) // never over a folder with files in it
		}
		if from == to || !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		to = fmt.Sprintf("%s~%d", stem, n)
	}
}

// openAttempt is the newest folder of an attempt that was not published; ""
// where there is none.
func openAttempt(dir, step string, attempt int) string {
	newest := ""
	for _, path := range Matching(filepath.Join(dir, results.AttemptsName, step), "*") {
		number, _, _ := strings.Cut(filepath.Base(path), "-")
		if number == strconv.Itoa(attempt) {
			newest = path
		}
	}
	return newest
}
