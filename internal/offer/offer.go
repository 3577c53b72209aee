// Package offer names what a shell can complete from disk: runs, their
// steps and variants.
//
// What goes in: paths, and what the user has begun to write. What comes out:
// texts that continue it; what cannot be read offers nothing. It never prints.
package offer

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Runs are the newest run folders below results/, after the word latest, that
// continue what was begun.
func Runs(begun string) []string {
	const most = 20
	var found []string
	for _, scenario := range store.Matching(store.DefaultDir, "*") {
		for _, dir := range store.Matching(scenario, "*") {
			found = append(found, store.Matching(dir, results.ManifestName)...)
		}
	}
	if len(found) == 0 {
		return nil
	}

	slices.SortStableFunc(found, func(a, b string) int { // their names begin with the time
		return cmp.Compare(filepath.Base(filepath.Dir(b)), filepath.Base(filepath.Dir(a)))
	})

	var out []string
	for _, path := range append([]string{filepath.Join(store.Latest, results.ManifestName)}, found...) {
		if dir := filepath.Dir(path); strings.HasPrefix(dir, begun) && len(out) < most {
			out = append(out, dir)
		}
	}

	return out
}

// Steps are the steps of the first run.
func Steps(paths []string, _ string) []string {
	var ids []string
	for _, run := range read(paths[:min(1, len(paths))]) {
		for i := range run.Steps {
			ids = append(ids, run.Steps[i].Result.Step.ID)
		}
	}

	return ids
}

// Match continues A=B: a variant of the first run, then one of the others.
func Match(paths []string, begun string) []string {
	var out []string
	first, _, second := strings.Cut(begun, "=")
	for i, run := range read(paths) {
		for _, name := range versus.VariantsOf(run) {
			switch {
			case !second && i == 0:
				out = append(out, name+"=")
			case second && i > 0:
				out = text.AppendNew(out, first+"="+name)
			}
		}
	}

	return out
}

// Conditions are the figures of conditions, each with the signs that may follow.
func Conditions() []string {
	var out []string
	for _, name := range catalog.ConditionNames() {
		out = append(out, name+"<", name+">")
	}

	return out
}

func read(paths []string) []*results.Run {
	var all []*results.Run
	for _, path := range paths {
		dir, err := store.Newest(path)
		if err != nil {
			continue
		}
		if run, err := store.Read(dir); err == nil {
			all = append(all, run)
		}
	}

	return all
}
