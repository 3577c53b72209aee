package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Place is where a run was noted: pids and undos mean something there alone.
type Place struct {
	Host         string `json:"host"`
	UID          int    `json:"uid"`
	BootID       string `json:"boot_id"`
	PIDNamespace string `json:"pid_namespace"` // "": the kernel does not say
}

func here() *Place {
	host, _ := os.Hostname() // "": not known
	return &Place{
		Host: host, UID: os.Geteuid(), BootID: proc.System.BootID(), PIDNamespace: proc.System.PIDNamespace(),
	}
}

// Rebooted reports whether the machine was started again since the run was noted:
// none of its processes can be left.
func (r Run) Rebooted() bool {
	return r.Place != nil && r.Place.BootID != "" && r.Place.BootID != proc.System.BootID()
}

// Elsewhere says why the run is not for this process to clean up: it belongs to
// another machine, user or container. "": it is.
func (r Run) Elsewhere() string {
	if r.Place == nil {
		return ""
	}

	now := here()
	switch {
	case r.Place.Host != now.Host:
		return fmt.Sprintf("it was noted on machine %q; run bench clean there", r.Place.Host)
	case r.Place.UID != now.UID:
		return fmt.Sprintf("it was noted by the user with id %d; run bench clean as that user", r.Place.UID)
	case r.Rebooted(): // pid namespaces have ended with the boot
		return ""
	case r.Place.PIDNamespace != now.PIDNamespace:
		return "it was noted in another container, whose processes cannot be seen from here; run bench clean there"
	}
	return ""
}

// Notes are the events of a registered run that tell what it started and changed
// on this machine. They are kept beside the register, not in the run's folder,
// which may come from anybody: what is to be stopped or undone is read from here
// alone.
type Notes struct{ journal *store.Journal }

// OpenNotes opens the notes of a run for writing.
func (b *Store) OpenNotes(dir string) (*Notes, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}

	path := b.notes(dir)
	private, err := inside.Open(filepath.Dir(path), filepath.Base(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = private.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("open notes of run %s: %w", dir, err)
	}

	journal, err := store.OpenJournal(path)
	if err != nil {
		return nil, fmt.Errorf("open notes of run %s: %w", dir, err)
	}
	return &Notes{journal}, nil
}

// Append notes an event if it is about something that is started, changed or put
// back. It is on disk when Append returns.
func (n *Notes) Append(e results.Event) error {
	switch e.Kind {
	case results.LifeStarting, results.LifeSpawned, results.LifeGrown, results.LifeFailed, results.LifeStopped:
	case results.HookStarted, results.HookUndone:
		if len(e.Undo) == 0 {
			return nil
		}
	default:
		return nil
	}

	return n.journal.Append(e)
}

// Close ends writing.
func (n *Notes) Close() error { return n.journal.Close() }

// Notes are the events that a registered run has noted; none if it noted none.
func (b *Store) Notes(dir string) ([]results.Event, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}

	data, err := ReadOwn(b.notes(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read notes of run %s: %w", dir, err)
	}
	return store.ReadEvents(bytes.NewReader(data))
}

// ReadOwn reads a file of the state. One that another user made or may write
// is refused: it decides what is stopped and which commands run.
func ReadOwn(path string) ([]byte, error) {
	f, err := store.OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}

	const othersMayWrite = 0o022
	if int(stat.Uid) != os.Geteuid() || stat.Mode&othersMayWrite != 0 {
		return nil, fmt.Errorf("%s belongs to the user with id %d and has mode %04o: another user can write it, so it "+
			"is not trusted; look at it, then remove it", path, stat.Uid, stat.Mode&0o7777)
	}
	data, err := inside.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
