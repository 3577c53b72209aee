package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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

func TestRunsSince(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	now := time.Now()
	var want []string
	for name, touched := range map[string]string{
		"old": "", "new": "journal.jsonl", "jobs": "jobs/g001/1", "named": "",
	} {
		folder, err := Create(root, "night", "20260131-220000-"+name)
		if err == nil {
			err = errors.Join(folder.WriteManifest(results.Manifest{}),
				folder.WriteFile("journal.jsonl", nil), os.MkdirAll(filepath.Join(folder.Dir(), "jobs/g001/1"), 0o777))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"manifest.json", "journal.jsonl", "jobs/g001/1"} {
			moment := now.Add(-48 * time.Hour)
			if path == touched {
				moment = now
			}
			if err := os.Chtimes(filepath.Join(folder.Dir(), path), moment, moment); err != nil {
				t.Fatal(err)
			}
		}
		if name != "old" {
			want = append(want, folder.Dir())
		}
	}

	named := filepath.Join(root, "night", "20260131-220000-named")
	got, err := RunsSince([]string{named, root}, now.Add(-time.Hour))
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("RunsSince() = %q, %v; want %q", got, err, want)
	}
}
