package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// JobsName is the folder for what jobs on other machines leave of themselves,
// in a run that several of them carry out.
const JobsName = "jobs"

// Group is what one job carries out: whole server lives, in their order.
type Group struct {
	ID    string   `json:"id"` // "g001"; a folder name
	Lives []string `json:"lives"`
	Steps []string `json:"steps"`
	Nodes int      `json:"nodes,omitempty"` // that its job needs; 0: one
}

// Part is what one job has left of itself. Results and logs lie with those of
// the other jobs; each has a journal of its own, so that none waits for another
// or for a lock, which network file systems may not have.
type Part struct {
	Group       string
	Number      int // of the job in its group, from 1: one that was queued again makes another part
	Environment json.RawMessage
	Events      []Event
	Finished    bool // the journal ends the job's work
}

// Name is the part's folder below the run's, with slashes.
func (p Part) Name() string { return JobsName + "/" + p.Group + "/" + strconv.Itoa(p.Number) }

// NewPart makes the next part of a group and returns the run's folder for the
// job that writes it: journal, environment, identity and log are the part's.
func (f *Folder) NewPart(group string) (*Folder, error) {
	if err := checkName(group); err != nil {
		return nil, fmt.Errorf("make a job's folder: %w", err)
	}
	parent := filepath.Join(f.dir, JobsName, group)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make a job's folder: %w", err)
	}
	for number := 1; ; number++ {
		dir := filepath.Join(parent, strconv.Itoa(number))
		err := os.Mkdir(dir, 0o755) // exactly one job can make it, on network file systems too
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
	if err != nil || filepath.Base(filepath.Dir(filepath.Dir(dir))) != JobsName {
		return "", false
	}
	run = filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	_, err = os.Stat(filepath.Join(run, ManifestName))
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

// WriteOwn is WriteJSON for such a file.
func (f *Folder) WriteOwn(name string, value any) error {
	local, err := filepath.Rel(f.dir, f.Own(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.WriteJSON(filepath.ToSlash(local), value)
}

// parts lists the parts that lie in a run folder, in the order of groups and
// numbers.
func (r *Run) parts() ([]Part, error) {
	var all []Part
	for _, group := range r.Manifest.Groups {
		entries, err := os.ReadDir(filepath.Join(r.Dir, JobsName, group.ID))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read run folder: %w", err)
		}
		for _, entry := range entries {
			if number, err := strconv.Atoi(entry.Name()); err == nil && entry.IsDir() {
				all = append(all, Part{Group: group.ID, Number: number})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Number, b.Number))
	})
	return all, nil
}

// readParts reads what jobs have left and merges their journals with the run's
// own.
func (r *Run) readParts() error {
	if len(r.Manifest.Groups) == 0 {
		return nil
	}
	var err error
	if r.Parts, err = r.parts(); err != nil {
		return err
	}
	finished := map[string]bool{}
	for i := range r.Parts {
		p := &r.Parts[i]
		dir := filepath.Join(r.Dir, filepath.FromSlash(p.Name()))
		if p.Environment, err = readRaw(filepath.Join(dir, EnvironmentName)); err != nil {
			return err
		}
		if p.Events, p.Finished, err = r.readJournal(filepath.Join(dir, JournalName), p.Name()+"/"+JournalName); err != nil {
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
func merged(own []Event, parts []Part) []Event {
	type timed struct {
		at time.Time
		e  Event
	}
	var all []timed
	latest := map[string]time.Time{}
	add := func(group string, events []Event) {
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
	events := make([]Event, len(all))
	for i := range all {
		events[i] = all[i].e
	}
	return events
}
