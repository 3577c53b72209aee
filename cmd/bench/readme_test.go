package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	scenarios, ran := 0, 0
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
			runBlock(t, b.text)
		}
	}
	if scenarios < 2 || ran < 1 {
		t.Errorf("%d scenarios and %d blocks of commands, want 2 and 1: has the README changed its form?", scenarios, ran)
	}
}

// runBlock runs commands as a user types them, in a folder of their own.
func runBlock(t *testing.T, commands string) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bench"), program, 0o755); err != nil { // it starts itself by this name
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BENCH_STATE_DIR="+filepath.Join(dir, "state"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
	if !strings.Contains(string(out), "SIMULATED") {
		t.Errorf("the commands print no report:\n%s", out)
	}
}
