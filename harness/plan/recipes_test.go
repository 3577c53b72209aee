package plan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios/parse"
)

var update = flag.Bool("update", false, "rewrite golden files")

// official is what a recipe's makers give: where it runs, and words of the command.
var official = regexp.MustCompile(`(?m)^# (official|never) ([a-z0-9 ]+): (.*)$`)

// Plans of servers over nodes and of several parts are beside the options that
// their makers' documents give, and have all of them.
func TestRecipes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/recipes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("recipes: %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sc, err := parse.Source("s.yaml", source, parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			made, err := plan.New(sc, plan.Machine{
				GPUs: 8, Vendor: "nvidia",
				Nodes: []recipe.Node{
					{Name: "n1", Address: "10.0.0.1", Interfaces: map[string][]string{"hsn0": {"10.1.0.1"}}},
					{Name: "n2", Address: "10.0.0.2", Interfaces: map[string][]string{"hsn0": {"10.1.0.2"}}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(made.Problems) > 0 {
				t.Errorf("problems: %q, want none", made.Problems)
			}

			lines := commandsOf(made)
			compareOfficial(t, string(source), lines)
			compareGolden(t, strings.TrimSuffix(file, ".yaml")+".golden", strings.Join(lines, "\n")+"\n")
		})
	}
}

// commandsOf are the command lines of a plan, each after its place.
func commandsOf(p *plan.Plan) []string {
	var lines []string
	for _, server := range p.Lives[0].Servers {
		for _, beside := range server.Beside {
			lines = append(lines, fmt.Sprintf("%s: %s", nodeName(beside.Node), beside.CommandLine()))
		}
		place := server.Component
		if place == "" {
			place = "node 0"
		}
		lines = append(lines, fmt.Sprintf("%s: %s", place, plan.CommandLine(server)))
	}
	return lines
}

func nodeName(node string) string { return map[string]string{"n1": "node 0", "n2": "node 1"}[node] }

// compareOfficial expects the words of each official command on a line of its place.
func compareOfficial(t *testing.T, source string, lines []string) {
	t.Helper()
	for _, m := range official.FindAllStringSubmatch(source, -1) {
		found := false
		for _, line := range lines {
			place, command, _ := strings.Cut(line, ": ")
			has := true
			for word := range strings.FieldsSeq(m[3]) {
				has = has && strings.Contains(command, word)
			}
			found = found || place == m[2] && has
		}
		if found != (m[1] == "official") {
			t.Errorf("%s: %s\nplanned:\n%s", m[1], m[0], strings.Join(lines, "\n"))
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	goldentest.Compare(t, path, got, *update)
}
