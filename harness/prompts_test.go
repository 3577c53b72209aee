package harness

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/scenarios"
)

// The prompts of a run are in its folder, once for each set.
func TestRunKeepsItsPrompts(t *testing.T) {
	w := &world{}
	sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
	run, _ := w.run(t.Context(), t, sc)
	files, err := filepath.Glob(filepath.Join(run.Dir, "prompts", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no prompts in %s: %v", run.Dir, err)
	}
	hashes := map[string]bool{}
	for _, s := range run.Steps {
		hashes[s.Result.Asked.DatasetSHA256] = true
	}
	if len(files) != len(hashes) {
		t.Errorf("%d files for %d sets", len(files), len(hashes))
	}
	for _, file := range files {
		set, err := dataset.Build(t.Context(), dataset.Spec{Kind: "frozen", Path: file, N: 1}, nil)
		if err != nil || !hashes[strings.TrimSuffix(filepath.Base(file), ".jsonl")] {
			t.Errorf("%s: %v, %v", file, set, err)
		}
	}
}
