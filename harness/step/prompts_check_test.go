package step

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// A length that only the running server knows does not make a readable file
// look broken.
func TestCheckDatasetsWithLengthOfServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("a text of words. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	point := scenarios.Load{
		ContextReserve: 64, OutputLen: 8, NumPrompts: 4,
		Dataset: scenarios.Dataset{Kind: "text", Path: path},
	}
	if _, err := CheckDatasets(t.Context(), &scenarios.Scenario{Points: []scenarios.Load{point}}); err != nil {
		t.Errorf("CheckDatasets = %v, want the file accepted", err)
	}
	point.ContextReserve = 0
	if _, err := CheckDatasets(t.Context(), &scenarios.Scenario{Points: []scenarios.Load{point}}); err == nil {
		t.Error("CheckDatasets accepts text prompts without a length")
	}
}

// TestFilesWithTooFewPrompts: where a file has fewer prompts than a point asks
// for, that is known before the run.
func TestFilesWithTooFewPrompts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	row := `{"timestamp": 0, "input_length": 30, "output_length": 4, "hash_ids": [1]}` + "\n"
	trace := scenarios.Dataset{Kind: "trace", Path: write("t.jsonl", row+row), TokenIDs: true, VocabSize: 5000}
	lines := scenarios.Dataset{Kind: "jsonl", Path: write("l.jsonl", `{"prompt": "a b"}`+"\n")}
	repeated := lines
	repeated.Oversample = true

	for _, tt := range []struct {
		name  string
		of    scenarios.Dataset
		short string // "": there are enough
	}{
		{"trace", trace, "load point p asks for 3 prompts, and t.jsonl has 2"},
		{"lines", lines, "load point p asks for 3 prompts, and l.jsonl has 1"},
		{"repeated lines", repeated, ""},
	} {
		sc := &scenarios.Scenario{Points: []scenarios.Load{{Label: "p", NumPrompts: 3, OutputLen: 4, Dataset: tt.of}}}
		short, err := CheckDatasets(t.Context(), sc)
		if err != nil || (tt.short == "") != (len(short) == 0) ||
			!strings.Contains(strings.Join(short, "\n"), tt.short) {
			t.Errorf("%s: %q, %v, want %q", tt.name, short, err, tt.short)
		}
	}
}
