package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios/parse"
)

// block is a fenced block of a page.
type block struct {
	language, text string
	test           bool // a comment before it asks for a test
}

func blocksOf(t *testing.T, path string) []block {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for _, m := range regexp.MustCompile("(?ms)^(<!-- test -->\n)?```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		out = append(out, block{m[2], m[3], m[1] != ""})
	}
	return out
}

// The scenarios of the README are valid, and its commands run as printed.
func TestReadme(t *testing.T) {
	scenarios, ran, table := 0, 0, ""
	for _, b := range blocksOf(t, "../../README.md") {
		switch {
		case b.language == "yaml":
			scenarios++
			options := parse.Options{LookupEnv: os.LookupEnv, Profile: profiles.Lookup, Profiles: profiles.Names()}
			if _, err := parse.Source("README.md", []byte(b.text), options); err != nil {
				t.Errorf("a scenario of the README: %v\n%s", err, b.text)
			}
		case b.test:
			ran++
			if out := runBlock(t, t.TempDir(), b.text); !strings.Contains(out, "SIMULATED") {
				t.Errorf("the commands print no report:\n%s", out)
			}
		case b.language == "sh":
			for line := range strings.Lines(b.text) {
				checkCommand(t, strings.Fields(line))
			}
		case b.language == "text":
			table = b.text
		}
	}
	checkDemo(t, table)
	if scenarios < 2 || ran < 1 {
		t.Errorf("%d scenarios and %d blocks of commands, want 2 and 1: has the README changed its form?",
			scenarios, ran)
	}
}

// checkCommand checks a command that is not run here: make builds or fetches
// for minutes, and an installation needs the network.
func checkCommand(t *testing.T, words []string) {
	t.Helper()
	if at := slices.Index(words, "#"); at >= 0 {
		words = words[:at]
	}
	switch line := strings.Join(words, " "); {
	case len(words) == 0:
	case words[0] == "make":
		dryRun(t, words[1:]...)
	case strings.HasPrefix(line, "go install "):
		module, err := os.ReadFile("../../go.mod")
		if err != nil {
			t.Fatal(err)
		}
		name, found := strings.CutPrefix(strings.Split(string(module), "\n")[0], "module ")
		if line != "go install "+name+"/cmd/bench@latest" || !found {
			t.Errorf("%q, and the module is %s", line, name)
		}
	case strings.HasPrefix(line, "./bin/bench run scenarios/"):
		if _, err := parse.File(filepath.Join("../..", words[2]), parse.Options{LookupEnv: os.LookupEnv}); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	default:
		t.Errorf("%q is neither run nor checked by this test", line)
	}
}

// dryRun lists the commands of targets, which must exist.
func dryRun(t *testing.T, targets ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "make", append([]string{"-C", "../..", "-n"},
		targets...)...).CombinedOutput()
	if err != nil {
		t.Errorf("make %q: %v\n%s", targets, err, out)
	}
	return string(out)
}

// checkDemo runs what make demo runs once the program is built. The page's table
// has the columns and the rows of its output; the figures may differ.
func checkDemo(t *testing.T, table string) {
	t.Helper()
	command := regexp.MustCompile(`(?m)^\./bin/demo/bench run .*$`).FindString(dryRun(t, "demo"))
	if command == "" {
		t.Fatal("make demo does not run the program")
	}

	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "scenarios"), os.DirFS("../../scenarios")); err != nil {
		t.Fatal(err)
	}
	out := runBlock(t, dir, "mkdir -p bin/demo && ln -s ../../bench bin/demo/bench\n"+command)
	printed := map[string]bool{}
	for line := range strings.Lines(out) {
		printed[shape(line)] = true
	}
	for line := range strings.Lines(table) {
		if !printed[shape(line)] {
			t.Errorf("make demo prints no line like %q:\n%s", line, out)
		}
	}
}

// shape is a line of a table without its figures, marks and rules, and without
// the verdict, which a busy machine changes.
func shape(line string) string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		switch {
		case strings.Trim(word, "*~^?-0123456789./") == "", strings.HasPrefix(word, "─"):
		case word == "ok", strings.HasPrefix(word, "suspect"), strings.HasPrefix(word, "client-"), word == "buffered":
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// runBlock runs commands as a user types them, in a folder of their own.
func runBlock(t *testing.T, dir, commands string) string {
	t.Helper()
	benchIn(t, dir)

	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BENCH_STATE_DIR="+filepath.Join(dir, "state"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
	return string(out)
}
