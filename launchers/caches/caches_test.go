package caches

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path string, size int) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelFiles(t *testing.T) {
	dir := t.TempDir()
	one := write(t, filepath.Join(dir, "one[1].gguf"), 1)
	first := write(t, filepath.Join(dir, "p[a]-00001-of-00002.gguf"), 1)
	second := write(t, filepath.Join(dir, "p[a]-00002-of-00002.gguf"), 1)
	weights := write(t, filepath.Join(dir, "folder", "model.safetensors"), 1)
	blob := write(t, filepath.Join(dir, "hf", "hub", "blobs", "b"), 1)
	snapshot := filepath.Join(dir, "hf", "hub", "models--org--name", "snapshots", "abc", "model.safetensors")
	if err := os.MkdirAll(filepath.Dir(snapshot), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(blob, snapshot),
		os.Symlink("nothing", filepath.Join(filepath.Dir(snapshot), "broken"))); err != nil {
		t.Fatal(err)
	}

	env := func(name string) string { return map[string]string{"HF_HOME": filepath.Join(dir, "hf")}[name] }
	for _, c := range []struct {
		model string
		want  []string
		fails string
	}{
		{one, []string{one}, ""},
		{"one[1].gguf", []string{one}, ""},
		{first, []string{first, second}, ""},
		{"folder", []string{weights}, ""},
		{"org/name", []string{snapshot}, ""},
		{"org/other", nil, "not in the cache of the hub"},
		{"../x/y", nil, "neither a file nor a folder"},
		{"nothing", nil, "neither a file nor a folder"},
		{"", nil, "names no model"},
	} {
		got, err := ModelFiles(c.model, dir, env)
		if !slices.Equal(got, c.want) || (err == nil) != (c.fails == "") ||
			err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %v, %v, want %v, error %q", c.model, got, err, c.want, c.fails)
		}
	}
}

// The file system of a test may have no page cache of its own (tmpfs): there
// nothing can be evicted, and Look says so.
func TestPageCache(t *testing.T) {
	const size = 3<<20 + 5
	files := []string{write(t, filepath.Join(t.TempDir(), "a"), size), write(t, filepath.Join(t.TempDir(), "b"), 0)}
	if err := Fill(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	warm, err := Look(files)
	if err != nil || warm.Bytes != size || warm.Resident < size/2 {
		t.Fatalf("after Fill: %+v, %v", warm, err)
	}
	if err := Evict(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	cold, err := Look(files)
	if err != nil || cold.Bytes != size {
		t.Fatalf("after Evict: %+v, %v", cold, err)
	}
	if cold.Resident > 0 {
		t.Skipf("this file system keeps %d bytes in memory", cold.Resident)
	}
}

// Both ways of asking the kernel agree on a file of ours.
func TestMincoreAgrees(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "a"), 2<<20)
	if err := Fill(t.Context(), []string{path}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages, err := residentPages(f, 0, 2<<20)
	if err != nil || pages*int64(os.Getpagesize()) != 2<<20 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := Look([]string{path}); err == nil {
			t.Errorf("Look takes %s", path)
		}
		if err := Evict(t.Context(), []string{path}); err == nil {
			t.Errorf("Evict takes %s", path)
		}
		if err := Fill(t.Context(), []string{path}); err == nil {
			t.Errorf("Fill takes %s", path)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := []string{write(t, filepath.Join(dir, "a"), 10)}
	if err := errors.Join(Evict(ctx, file)); !errors.Is(err, context.Canceled) {
		t.Errorf("Evict goes on: %v", err)
	}
	if err := Fill(ctx, file); !errors.Is(err, context.Canceled) {
		t.Errorf("Fill goes on: %v", err)
	}
}

func TestFolders(t *testing.T) {
	outer, name := t.TempDir(), filepath.Join("caches", "one")
	folder := filepath.Join(outer, name)
	variables := Variables([]string{"VLLM_CACHE_ROOT", "TRITON_CACHE_DIR"}, folder)
	if variables["TRITON_CACHE_DIR"] != filepath.Join(folder, "triton_cache_dir") || len(variables) != 2 {
		t.Fatalf("variables %v", variables)
	}
	if err := Make(outer, name, variables); err != nil {
		t.Fatal(err)
	}
	if Size(folder) != 0 {
		t.Error("a new folder has a size")
	}
	write(t, filepath.Join(variables["TRITON_CACHE_DIR"], "k", "a"), 7)
	write(t, filepath.Join(folder, "b"), 3)
	if got := Size(folder); got != 10 {
		t.Errorf("size %d, want 10", got)
	}
	if err := Make(outer, name, variables); err != nil || Size(folder) != 0 {
		t.Errorf("a folder that was there is not fresh: %d bytes, %v", Size(folder), err)
	}
	if Size(filepath.Join(folder, "none")) != 0 {
		t.Error("what is not there has a size")
	}
}

// A run folder may come from anybody: what its links name stays.
func TestFoldersStayInside(t *testing.T) {
	outer, elsewhere := t.TempDir(), t.TempDir()
	kept := write(t, filepath.Join(elsewhere, "compile", "a", "precious"), 1)
	if err := os.Symlink(elsewhere, filepath.Join(outer, "caches")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("caches", "compile", "a")
	if Make(outer, name, map[string]string{"V": "v"}) == nil {
		t.Error("Make follows a link out of the folder")
	}
	if Remove(outer, name) == nil {
		t.Error("Remove follows a link out of the folder")
	}
	if err := Remove(outer, "caches"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what lies elsewhere is gone: %v", err)
	}
}
