package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// readManifest reads what the run set out to do. A damaged manifest is a problem
// of the run: what it held is then taken from the plan and from the results.
func readManifest(run *results.Run, folder *Folder) error {
	err := readVersioned(folder.Manifest(), &run.Manifest)
	switch {
	case err == nil:
		dropPlannedTwice(run)
		return nil
	case errors.Is(err, errNewer), errors.Is(err, fs.ErrNotExist):
		return err
	}

	run.Manifest = results.Manifest{Format: results.FormatVersion}
	run.Manifest.Planned = plannedOf(folder.Plan())
	if len(run.Manifest.Planned) == 0 {
		return err
	}

	run.Problems = append(run.Problems, fmt.Sprintf("%s: %v; its steps are those of %s", results.ManifestName, err,
		results.PlanName))
	m := &run.Manifest
	m.Run = filepath.Base(folder.Dir())
	for _, ref := range m.Planned {
		m.Variants, m.Points = appendNew(m.Variants, ref.Variant), appendNew(m.Points, ref.Point)

		var result results.Result
		path := filepath.Join(folder.StepDir(ref.ID), results.ResultName)
		if filepath.IsLocal(ref.ID) && readVersioned(path, &result) == nil {
			m.Scenario, m.Bench = cmp.Or(m.Scenario, result.Scenario), cmp.Or(m.Bench, result.Bench)
			m.Run, m.StartedAt = cmp.Or(result.Run, m.Run), cmp.Or(m.StartedAt, result.StartedAt)
			m.Simulated = m.Simulated || result.Simulated
		}
	}
	return nil
}

func appendNew(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// plannedOf lists the steps of a plan; nil if it cannot be read.
func plannedOf(path string) []results.StepRef {
	data, err := ReadPlain(path)
	if err != nil {
		return nil
	}

	var plan struct {
		Lives []struct {
			Steps []results.StepRef `json:"steps"`
		} `json:"lives"`
	}
	if json.Unmarshal(data, &plan) != nil {
		return nil
	}

	var planned []results.StepRef
	for _, life := range plan.Lives {
		planned = append(planned, life.Steps...)
	}
	return planned
}

// dropPlannedTwice leaves each step of a manifest once: reading the files of one
// again and again could take for ever.
func dropPlannedTwice(run *results.Run) {
	seen, planned := map[string]bool{}, run.Manifest.Planned
	kept := planned[:0]
	for _, ref := range planned {
		if !seen[ref.ID] {
			seen[ref.ID] = true
			kept = append(kept, ref)
		}
	}

	if dropped := len(planned) - len(kept); dropped > 0 {
		run.Problems = append(run.Problems, fmt.Sprintf("%s: %s left out, whose step was planned already",
			results.ManifestName, text.Count(dropped, "entry")))
		run.Manifest.Planned = kept
	}
}
