package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestNewest(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd[name") // no pattern
	for _, dir := range []string{
		"b/20260102-000000-aaaa", "a/20260103-000000-aaaa", "c/20260101-000000-ffff",
		"d/20270101-000000-none",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(dir) == "20270101-000000-none" {
			continue // a folder without a manifest is not a run
		}
		if err := os.WriteFile(filepath.Join(root, dir, results.ManifestName), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := filepath.Join(root, "a/20260103-000000-aaaa")
	for _, dir := range []string{root, filepath.Join(root, "a"), want} {
		if got, err := Newest(dir); got != want || err != nil {
			t.Errorf("Newest(%s) = %q, %v, want %q", dir, got, err, want)
		}
	}
	for _, dir := range []string{filepath.Join(root, "d"), filepath.Join(root, "absent")} {
		if got, err := Newest(dir); err == nil {
			t.Errorf("Newest(%s) = %q, want an error", dir, got)
		}
	}
}
