package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
)

// NewPart makes the next part of a group and returns the run's folder for the
// job that writes it: journal, environment, identity and log are the part's.
func (f *Folder) NewPart(group string) (*Folder, error) {
	if err := checkName(group); err != nil {
		return nil, fmt.Errorf("make a job's folder: %w", err)
	}

	of := filepath.Join(results.JobsName, group)
	parent := filepath.Join(f.dir, of)
	if err := inside.MkdirAll(f.dir, of); err != nil {
		return nil, fmt.Errorf("make a job's folder: %w", err)
	}

	for number := 1; ; number++ {
		dir := filepath.Join(parent, strconv.Itoa(number))
		// exactly one job can make it, on network file systems too
		err := inside.Mkdir(f.dir, filepath.Join(of, strconv.Itoa(number)))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("make a job's folder: %w", err)
		}
		return &Folder{dir: f.dir, part: dir}, errors.Join(syncDir(parent), syncDir(filepath.Dir(parent)))
	}
}

// runOfPart finds the run of a job's folder.
func runOfPart(dir string) (run string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil || filepath.Base(filepath.Dir(filepath.Dir(dir))) != results.JobsName {
		return "", false
	}
	run = filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	_, err = os.Stat(filepath.Join(run, results.ManifestName))
	return run, err == nil
}

// Superseded reports whether a later job of the part's group writes by now:
// this one must stop.
func (f *Folder) Superseded() bool {
	number, err := strconv.Atoi(filepath.Base(f.part))
	if f.part == "" || err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(filepath.Dir(f.part), strconv.Itoa(number+1)))
	return err == nil
}

// Own is the path of a file that a run has once, and each job that carries out
// a part of one for itself.
func (f *Folder) Own(name string) string { return filepath.Join(cmp.Or(f.part, f.dir), name) }

// ownName is the name of such a file within the run's folder.
func (f *Folder) ownName(name string) string {
	if f.part == "" {
		return name
	}
	of, err := filepath.Rel(f.dir, f.part)
	if err != nil {
		return name // one of the two is relative: Open and NewPart make both alike
	}
	return filepath.Join(of, name)
}

// WriteOwn is WriteJSON for such a file.
func (f *Folder) WriteOwn(name string, value any) error {
	return f.WriteJSON(filepath.ToSlash(f.ownName(name)), value)
}

// partsOf lists the parts in a run folder, in the order of groups and
// numbers.
func partsOf(r *results.Run) ([]results.Part, error) {
	var all []results.Part
	for _, group := range r.Manifest.Groups {
		entries, err := os.ReadDir(filepath.Join(r.Dir, results.JobsName, group.ID))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read run folder: %w", err)
		}
		for _, entry := range entries {
			if number, err := strconv.Atoi(entry.Name()); err == nil && entry.IsDir() {
				all = append(all, results.Part{Group: group.ID, Number: number})
			}
		}
	}

	slices.SortStableFunc(all, func(a, b results.Part) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Number, b.Number))
	})

	return all, nil
}

// readParts reads what jobs have left and merges their journals with the run's
// own.
func readParts(r *results.Run) error {
	if len(r.Manifest.Groups) == 0 {
		return nil
	}

	var err error
	if r.Parts, err = partsOf(r); err != nil {
		return err
	}

	finished := map[string]bool{}
	for i := range r.Parts {
		p := &r.Parts[i]
		dir := filepath.Join(r.Dir, filepath.FromSlash(p.Name()))
		p.Environment = readJSON(r, filepath.Join(dir, results.EnvironmentName),
			p.Name()+"/"+results.EnvironmentName, "")
		if p.Events, p.Finished, err = readJournal(r, filepath.Join(dir, results.JournalName),
			p.Name()+"/"+results.JournalName); err != nil {
			return err
		}
		finished[p.Group] = p.Finished
		if r.Environment == nil || string(r.Environment) == "null" {
			r.Environment = p.Environment
		}
	}

	r.Events = merged(r.Events, r.Parts)
	r.Finished = true
	for _, group := range r.Manifest.Groups {
		r.Finished = r.Finished && finished[group.ID]
	}

	return nil
}

// merged puts events of all jobs into the order of their times. Those of one
// group stay in the order in which they were written, whatever the clocks of
// its nodes say.
func merged(own []results.Event, parts []results.Part) []results.Event {
	type timed struct {
		at time.Time
		e  results.Event
	}

	var all []timed
	latest := map[string]time.Time{}
	add := func(group string, events []results.Event) {
		for _, e := range events {
			if e.Time.After(latest[group]) {
				latest[group] = e.Time
			}
			all = append(all, timed{latest[group], e})
		}
	}

	add("", own)
	for _, p := range parts {
		add(p.Group, p.Events)
	}

	slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	events := make([]results.Event, len(all))
	for i := range all {
		events[i] = all[i].e
	}

	return events
}
