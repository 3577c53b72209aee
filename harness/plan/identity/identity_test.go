package identity

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

func TestFilesAndTheirChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model, draft, engine := write("model.gguf", "weights"), write("draft.gguf", "small"), write("bin/engine", "program")
	folder := filepath.Dir(write("hf/config.json", "{}"))
	p := &plan.Plan{Lives: []plan.Life{{Servers: []plan.PlannedServer{{
		Argv: []string{
			"engine", "--model", model, "--draft=./draft.gguf", "--tokenizer", folder, "--cache",
			"/no/such/file", "--port", "8000",
		},
	}}}}}
	before := Files(p, dir, "/nowhere:"+filepath.Join(dir, "bin"), "/self")
	var paths []string
	for _, f := range before {
		paths = append(paths, f.Path)
	}
	if want := []string{engine, draft, folder, model}; !slices.Equal(paths, want) {
		t.Fatalf("Files = %q, want %q", paths, want)
	}
	tests := []struct {
		name    string
		change  func()
		changes string // part of the only change; "": none
		notes   int
	}{
		{"nothing", func() {}, "", 0},
		{"touched", func() {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(model, later, later); err != nil {
				t.Fatal(err)
			}
		}, "", 1},
		{"other content of the same length", func() { write("model.gguf", "heights") }, "content changed", 0},
		{
			"a longer file in a folder", func() { write("hf/config.json", "{ }"); write("model.gguf", "weights") },
			"hf: 3 bytes, at the start 2", 0,
		},
		{"gone", func() { write("hf/config.json", "{}"); _ = os.Remove(draft) }, "draft.gguf: gone", 0},
	}
	for _, tt := range tests {
		tt.change()
		now := Files(p, dir, filepath.Join(dir, "bin"), "/self")
		changes, notes := Changes(results.Identity{Files: before}, results.Identity{Files: now})
		if tt.changes == "" && len(changes) > 0 || tt.changes != "" &&
			(len(changes) != 1 || !strings.Contains(changes[0], tt.changes)) {
			t.Errorf("%s: changes = %q, want %q", tt.name, changes, tt.changes)
		}
		if tt.notes > len(notes) {
			t.Errorf("%s: notes = %q, want %d", tt.name, notes, tt.notes)
		}
	}
}

func TestChanges(t *testing.T) {
	before := results.Identity{
		Bench: "1", Kernel: "6.8", Drivers: map[string]string{"amd": "6.1"},
		GPUs: []string{"a", "b"},
	}
	now := results.Identity{Bench: "1", Kernel: "6.9", Drivers: map[string]string{"amd": "6.2"}, GPUs: []string{"a"}}
	changes, _ := Changes(before, now)
	want := []string{
		`kernel: "6.9", at the start "6.8"`, `amd driver: "6.2", at the start "6.1"`,
		`GPUs: "a", at the start "a b"`,
	}
	if !slices.Equal(changes, want) {
		t.Errorf("Changes = %q, want %q", changes, want)
	}
	if changes, _ := Changes(before, before); len(changes) > 0 {
		t.Errorf("Changes of the same = %q", changes)
	}
}

const sample = `schema: 1
server: {launcher: simulator}
variants: [{name: a, model: m-a}, {name: b, model: m-b}]
order: interleaved
restart: variant
repeats: 2
load: {dataset: {kind: random}, input-len: 8, output-len: 4, num-prompts: 4, sweep: {max-concurrency: [1, 2]}}
`

func TestPlanChanges(t *testing.T) {
	planned := func(change func(*scenarios.Scenario)) *plan.Plan {
		sc, err := parse.Source("t.yaml", []byte(sample), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(sc)
		}
		p, err := plan.New(sc, plan.Machine{Self: "/bench"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	stored, err := json.Marshal(planned(nil))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*scenarios.Scenario)
		want   int // changes; -1: an error
	}{
		{"the same", nil, 0},
		{"another model", func(sc *scenarios.Scenario) { sc.Variants[1].Server.Model = "other" }, 1},
		{"another variable", func(sc *scenarios.Scenario) {
			sc.Variants[0].Server.Env = map[string]scenarios.EnvValue{"X": {Value: "1"}}
		}, 1},
		{"fewer repeats", func(sc *scenarios.Scenario) { sc.Repeats = 1 }, -1},
		{"another load", func(sc *scenarios.Scenario) { sc.Points[0].NumPrompts = 5 }, -1},
		{"another point", func(sc *scenarios.Scenario) { sc.Points[0].Label = "c9" }, -1},
		{"another order", func(sc *scenarios.Scenario) { sc.Order = scenarios.Grouped }, -1},
	}
	for _, tt := range tests {
		changes, err := PlanChanges(stored, planned(tt.change))
		if (err != nil) != (tt.want < 0) || err == nil && len(changes) != tt.want {
			t.Errorf("%s: Changes = %q, %v, want %d", tt.name, changes, err, tt.want)
		}
	}
}
