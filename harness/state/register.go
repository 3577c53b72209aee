package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Run is a run that may have servers which are not proven gone. What it started
// and changed is in its notes (Store.Notes).
type Run struct {
	Dir    string    `json:"dir"`    // run folder, absolute
	Cookie string    `json:"cookie"` // marks its processes and containers
	Since  time.Time `json:"since"`  // wall clock; a label only

	Engines []string `json:"engines,omitempty"` // container engines that run its servers
	Place   *Place   `json:"place,omitempty"`   // where it ran; nil: noted by a bench that did not say
}

// Register notes a run of this process. It is on disk when Register returns: call
// it before the first process is started. Noting a run again replaces the entry
// and keeps the notes.
func (b *Store) Register(run Run) error {
	dir, err := filepath.Abs(run.Dir)
	if err != nil {
		return fmt.Errorf("register run: %w", err)
	}

	run.Dir = dir
	if run.Since.IsZero() {
		run.Since = time.Now()
	}
	if run.Place == nil {
		run.Place = here()
	}

	data, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("register run: %w", err)
	}
	if err := Replace(b.entry(dir), append(data, '\n')); err != nil {
		return fmt.Errorf("register run %s: %w", dir, err)
	}

	return nil
}

// Forget removes a run whose servers are all proven gone. A run that is not
// noted is not an error.
func (b *Store) Forget(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = ignoreMissing(os.Remove(b.entry(dir)))
	}
	if err == nil {
		err = ignoreMissing(os.Remove(b.notes(dir)))
	}
	if err == nil {
		err = syncDir(filepath.Join(b.dir, runsName))
	}
	if err != nil {
		return fmt.Errorf("forget run %s: %w", dir, err)
	}
	return nil
}

// Runs lists the noted runs, the oldest first. An entry that cannot be read is
// an error beside the others: it may hide a server that still runs.
func (b *Store) Runs() ([]Run, error) {
	folder := filepath.Join(b.dir, runsName)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list runs of this machine: %w", err)
	}

	var runs []Run
	var errs []error
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), entrySuffix) {
			continue // being written
		}
		run, err := readEntry(filepath.Join(folder, entry.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // forgotten meanwhile
		case err != nil:
			errs = append(errs, err)
		default:
			runs = append(runs, run)
		}
	}

	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Dir, b.Dir))
	})

	return runs, errors.Join(errs...)
}

// Lookup finds the entry of a run folder.
func (b *Store) Lookup(dir string) (Run, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Run{}, false
	}
	run, err := readEntry(b.entry(dir))
	return run, err == nil
}

const (
	entrySuffix = ".json"
	notesSuffix = ".jsonl"
)

func (b *Store) entry(dir string) string { return b.name(dir) + entrySuffix }
func (b *Store) notes(dir string) string { return b.name(dir) + notesSuffix }

// name is the path of a run's files in the register, without their suffix.
func (b *Store) name(dir string) string {
	const digits = 24 // of 64: plenty to tell folders apart
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(b.dir, runsName, hex.EncodeToString(sum[:])[:digits])
}

func readEntry(path string) (Run, error) {
	var run Run
	data, err := ReadOwn(path)
	if err != nil {
		return run, fmt.Errorf("read noted run: %w", err)
	}
	if err := json.Unmarshal(data, &run); err != nil || run.Dir == "" {
		return run, fmt.Errorf("read noted run %s: it names no run folder; look for servers by hand, then remove it",
			path)
	}
	return run, nil
}
