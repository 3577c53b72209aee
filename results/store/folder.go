// Package store writes and reads run folders.
//
// What goes in: events, records and results as they happen. What comes out:
// files that are complete or absent (written beside their place, synced,
// renamed), an append-only journal, and Read, which turns a folder back into
// values. It computes no figures and knows no server.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Folder is the folder of one run. Its methods that return paths touch
// nothing; the file at a path need not exist.
type Folder struct {
	dir  string
	part string // folder of the job that writes; "": the run is written as a whole

	mu       sync.Mutex             // guards what follows
	attempts map[string]os.FileInfo // folders of attempts that this process has begun, by path
}

// Create makes results folder root/scenario/runID. It refuses one that exists.
func Create(root, scenario, runID string) (*Folder, error) {
	for _, name := range []string{scenario, runID} {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("create run folder: %w", err)
		}
	}
	parent := filepath.Join(root, scenario)
	f := &Folder{dir: filepath.Join(parent, runID)}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	if err := os.Mkdir(f.dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create run folder: %s exists already; choose another run id, or resume that run",
				f.dir)
		}
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	for _, sub := range []string{results.StepsName, results.LivesName} {
		if err := os.Mkdir(filepath.Join(f.dir, sub), 0o777); err != nil {
			return nil, fmt.Errorf("create run folder: %w", err)
		}
	}

	return f, errors.Join(syncDir(f.dir), syncDir(parent))
}

// checkName refuses what would not be exactly one folder below its parent.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%q cannot be a folder name", name)
	}
	return nil
}

// Open opens the folder of an existing run, or that of a job within one.
func Open(dir string) (*Folder, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open run folder: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open run folder: %s is a file; give its folder", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, results.ManifestName)); err == nil {
		return &Folder{dir: dir}, nil
	}
	if run, ok := runOfPart(dir); ok {
		return &Folder{dir: run, part: dir}, nil
	}
	if runs := runsBelow(dir); len(runs) > 0 {
		return nil, fmt.Errorf("open run folder: %s contains %s but is not a run itself; name one of them, such "+
			"as %s", dir, text.Count(len(runs), "run"), runs[len(runs)-1])
	}
	return nil, fmt.Errorf("open run folder: %s is not the folder of a run: it has no %s", dir, results.ManifestName)
}

// runsBelow lists run folders directly in dir, in the order of their names.
func runsBelow(dir string) []string {
	var found []string
	for _, sub := range Matching(dir, "*") {
		if len(Matching(sub, results.ManifestName)) > 0 {
			found = append(found, sub)
		}
	}
	return found
}

// Dir is the run folder itself.
func (f *Folder) Dir() string { return f.dir }

// Manifest is the path of what the run set out to do.
func (f *Folder) Manifest() string { return filepath.Join(f.dir, results.ManifestName) }

// Scenario is the path of the scenario file as run, byte for byte.
func (f *Folder) Scenario() string { return filepath.Join(f.dir, results.ScenarioName) }

// Plan is the path of the resolved plan.
func (f *Folder) Plan() string { return filepath.Join(f.dir, results.PlanName) }

// Environment is the path of the description of the machine.
func (f *Folder) Environment() string { return f.Own(results.EnvironmentName) }

// Journal is the path of the journal.
func (f *Folder) Journal() string { return f.Own(results.JournalName) }

// StepDir is the folder of the step with that id.
func (f *Folder) StepDir(id string) string { return filepath.Join(f.dir, results.StepsName, id) }

// LifeDir is the folder of a server life: its log and its command.
func (f *Folder) LifeDir(life string) string { return filepath.Join(f.dir, results.LivesName, life) }

// WriteFile writes a file of the run folder, whole or not at all, without the
// secrets of this process. The name is relative to the folder and uses slashes:
// "steps/ID/command.txt".
func (f *Folder) WriteFile(name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("write %q: not a name inside the run folder", name)
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl":
		data = secrets.Known().JSON(data)
	default:
		data = []byte(secrets.Known().Text(string(data)))
	}
	return writeAtomic(f.dir, filepath.FromSlash(name), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// OpenOwn opens a plain file that a run has once, or each of its jobs for itself
// (Own); flag is that of os.OpenFile.
func (f *Folder) OpenOwn(name string, flag int) (*os.File, error) {
	return inside.Open(f.dir, f.ownName(name), flag, 0o666)
}

// RemoveOwn removes such a file. One that is not there is no error.
func (f *Folder) RemoveOwn(name string) error {
	if err := inside.Remove(f.dir, f.ownName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeDir is MakeDir for the path of a folder of the run.
func (f *Folder) makeDir(dir string) error {
	name, err := filepath.Rel(f.dir, dir)
	if err != nil {
		return err
	}
	return inside.MkdirAll(f.dir, name)
}

// MakeDir makes a folder of the run, and those that contain it. The name is
// relative to the run's folder and uses slashes.
func (f *Folder) MakeDir(name string) error {
	if err := inside.MkdirAll(f.dir, filepath.FromSlash(name)); err != nil {
		return fmt.Errorf("make folder %s: %w", name, err)
	}
	return nil
}

// WriteJSON writes value indented to a file of the run folder.
func (f *Folder) WriteJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.WriteFile(name, append(data, '\n'))
}

// WriteManifest writes manifest.json; a folder without it is not a run. It notes
// the hashes of the scenario and the plan as they are in the folder by then.
func (f *Folder) WriteManifest(m results.Manifest) error {
	m.Format = results.FormatVersion
	for path, hash := range map[string]*string{f.Scenario(): &m.ScenarioSHA256, f.Plan(): &m.PlanSHA256} {
		switch data, err := ReadPlain(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("write %s: %w", results.ManifestName, err)
		default:
			*hash = hashOf(data)
		}
	}
	return f.WriteJSON(results.ManifestName, m)
}

// hashOf is the SHA-256 of a file's content, hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// OpenJournal opens the run's journal for appending; see OpenJournal.
func (f *Folder) OpenJournal() (*Journal, error) {
	return openJournal(f.dir, f.ownName(results.JournalName))
}

// RecordWriter opens the request records of a step for writing.
func (f *Folder) RecordWriter(step string) (*RecordWriter, error) {
	if err := checkName(step); err != nil {
		return nil, fmt.Errorf("write records: step id: %w", err)
	}
	return NewRecordWriter(f.StepDir(step), 0)
}
