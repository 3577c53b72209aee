package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// Brackets and stars in the name of a folder mean nothing.
func TestFolderWithPatternInItsName(t *testing.T) {
	root := filepath.Join(t.TempDir(), "x[1]", "r*")
	f, err := Create(root, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteManifest(results.Manifest{Run: "b"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lives/01-a/server-0.log", "jobs/g001/1/live.json"} {
		if err := f.WriteFile(name, []byte(`{"format_version": 1}`)); err != nil {
			t.Fatal(err)
		}
	}

	if logs := f.PlainServerLogs("01-a"); len(logs) != 1 {
		t.Errorf("server logs %q, want one", logs)
	}
	if live, err := f.ReadLive(); err != nil || len(live) != 1 {
		t.Errorf("%d live files, %v; want one", len(live), err)
	}
	if _, err := Open(filepath.Join(root, "a")); err == nil || !strings.Contains(err.Error(), "1 run") {
		t.Errorf("opening the folder above: %v, want that it holds a run", err)
	}
}
