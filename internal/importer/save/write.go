// Package save reads files for package importer and writes the runs that it makes.
//
// What goes in: paths; runs that were imported. What comes out: the content of files; a
// results folder for each run, and for people what was read. It decides nothing about
// figures.
package save

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/importer"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

var notInFolderNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// FolderName returns the name of a run that is imported from a file of this name.
func FolderName(file string) string {
	name := strings.Trim(notInFolderNames.ReplaceAllString(strings.TrimSuffix(file, filepath.Ext(file)), "-"), "-.")
	if name == "" {
		return "imported"
	}
	return name
}

// largestCopy is the largest file of which the results folder keeps a copy.
const largestCopy = 64 << 20

// KeepCopies decides which files are kept, and under which name.
func KeepCopies(i *importer.Imported, sources []importer.Source) {
	for at, s := range sources {
		if len(s.Data) <= largestCopy {
			i.Files[at].Copy = fmt.Sprintf("%s/%02d-%s", results.SourcesName, at+1,
				notInFolderNames.ReplaceAllString(s.Name, "-"))
		}
	}
}

// WriteRun makes a results folder of the run below root. Its manifest comes last: a
// folder without a manifest is not a run.
func WriteRun(r importer.Run, root string, sources []importer.Source) (*store.Folder, error) {
	folder, err := store.Create(root, r.Manifest.Scenario, r.Manifest.Run)
	if err != nil {
		return nil, err
	}

	for i, f := range r.Manifest.Imported.Files {
		if f.Copy != "" {
			if err := folder.WriteFile(f.Copy, sources[i].Data); err != nil {
				return nil, err
			}
		}
	}

	if r.Environment != nil {
		if err := folder.WriteJSON(results.EnvironmentName, r.Environment); err != nil {
			return nil, err
		}
	}
	if err := writeSteps(folder, r.Steps); err != nil {
		return nil, err
	}

	return folder, folder.WriteManifest(r.Manifest)
}

// writeSteps writes results and records, and a journal of them.
func writeSteps(folder *store.Folder, steps []importer.Step) error {
	journal, err := folder.OpenJournal()
	if err != nil {
		return err
	}

	append := func(event results.Event) {
		if err == nil {
			err = journal.Append(event)
		}
	}

	append(results.Event{Kind: results.RunStarted, Message: "imported: nothing was run"})
	for _, s := range steps {
		if err == nil {
			err = writeStep(folder, s)
		}
		append(results.Event{
			Kind: results.StepFinished, Step: s.Result.Step.ID, Attempt: 1, Verdict: s.Result.Verdict,
			Failure: s.Result.Failure,
		})
	}

	append(results.Event{Kind: results.RunFinished})
	return errors.Join(err, journal.Close())
}

func writeStep(folder *store.Folder, s importer.Step) error {
	if err := folder.WriteResult(s.Result); err != nil || s.Records == nil {
		return err
	}
	w, err := folder.RecordWriter(s.Result.Step.ID)
	if err != nil {
		return err
	}
	for _, record := range s.Records {
		if err := w.Write(record); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
