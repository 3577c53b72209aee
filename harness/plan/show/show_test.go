package show

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const searchText = `schema: 1
name: shown
server: {launcher: simulator, model: simulated/Llama-3.2-1B-Instruct, args: {sim-load-time: 0s}}
variants: [{name: a}, {name: b, args: {enforce-eager: true}}]
load:
  dataset: {kind: random}
  input-len: 16
  output-len: 8
  num-prompts: 24
  sweep: {max-concurrency: [1, 4]}
`

func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		name string
		sets []string
		full bool
	}{
		{"short", nil, false},
		{"repeats", []string{"repeats=3"}, false},
		{"full", []string{"repeats=2"}, true},
		{"two-passes", []string{
			"method=sqzb", "load.dataset={kind: random, tokens: ids, vocab-size: 1000}",
			"load.sweep={max-concurrency: [4]}",
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := parse.Options{
				Set: tt.sets, LookupEnv: func(string) (string, bool) { return "", false },
				Profile: profiles.Lookup, Profiles: profiles.Names(),
			}
			sc, err := parse.Source("shown.yaml", []byte(searchText), options)
			if err != nil {
				t.Fatal(err)
			}
			machine := plan.Machine{Self: "/usr/bin/bench"}
			p, err := plan.New(sc, machine)
			if err != nil {
				t.Fatal(err)
			}

			var out strings.Builder
			Plan(&out, sc, p, Options{Full: tt.full})
			for _, line := range Limits(sc, p, machine) {
				out.WriteString(line + "\n")
			}
			golden(t, tt.name+".txt", out.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), got, *update)
}

// A client that shares its cores with the servers is known before a run, of
// simulated servers, too.
func TestSharedCoresAreSaid(t *testing.T) {
	for _, tt := range []struct {
		launcher string
		gpus     int
		want     bool
	}{
		{"simulator", 0, true},
		{"llamacpp", 0, true},
		{"vllm", 8, false},
		{"external", 0, false},
	} {
		sc := &scenarios.Scenario{Variants: []scenarios.Variant{{
			Name:   "a",
			Server: scenarios.Server{Launcher: tt.launcher},
		}}}
		if lines := sharedCores(sc, plan.Machine{GPUs: tt.gpus}); (len(lines) > 0) != tt.want {
			t.Errorf("%s, %d GPUs: %q", tt.launcher, tt.gpus, lines)
		}
	}
}
