package inside

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"/r/night/1/lives/01-a/server-0.log":       {"/r/night/1", "lives/01-a/server-0.log"},
		"/r/steps/1/steps/b/pass-2/requests.jsonl": {"/r/steps/1", "steps/b/pass-2/requests.jsonl"},
		"results/night/1/steps/b/result.json":      {"results/night/1", "steps/b/result.json"},
		"/lives/01-a/server-0.log":                 {"/", "lives/01-a/server-0.log"},
		"/tmp/x/log":                               {"/tmp/x", "log"},
		"log":                                      {".", "log"},
		"steps/b/result.json":                      {"steps/b", "result.json"}, // of no run folder
		"/r/1/lives/../../../etc/lives/01-a/x.log": {"/etc", "lives/01-a/x.log"},
	} {
		if root, name := Split(path); root != want[0] || name != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q", path, root, name, want)
		}
	}
}

func TestReplaceKeepsTheOldFileWhenWritingFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(text string, fail error) error {
		return Replace(dir, "a/b", func(w io.Writer) error {
			_, _ = io.WriteString(w, text)
			return fail
		})
	}
	if err := put("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("new", io.ErrShortWrite); err == nil {
		t.Error("Replace() = nil, want the error of the write")
	}
	text, err := os.ReadFile(filepath.Join(dir, "a", "b"))
	if err != nil || string(text) != "old" {
		t.Errorf("the file holds %q, %v, want what it held", text, err)
	}
	if names, _ := os.ReadDir(filepath.Join(dir, "a")); len(names) != 1 {
		t.Errorf("%d files are left, want 1", len(names))
	}
}

// What a program outside writes to a log goes into the run folder or nowhere.
func TestOpenDoesNotLeaveTheFolder(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "lives")); err != nil {
		t.Fatal(err)
	}
	root, name := Split(filepath.Join(dir, "lives", "01-a", "server-0.log"))
	if err := MkdirAll(root, filepath.Dir(name)); err == nil {
		t.Error("MkdirAll() = nil through a link")
	}
	if f, err := Open(root, name, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		_ = f.Close()
		t.Error("Open() = nil through a link")
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("outside there is %v now", names)
	}
}

// A link to another file of the folder is refused too: whoever writes to it would
// damage that file.
func TestOpenFollowsNoLinkWithinTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("manifest.json", filepath.Join(dir, "bench.log")); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []int{os.O_RDONLY, os.O_CREATE | os.O_WRONLY | os.O_TRUNC, os.O_APPEND | os.O_WRONLY} {
		if f, err := Open(dir, "bench.log", flag, 0o644); err == nil {
			_ = f.Close()
			t.Errorf("Open(flag %#x) = nil through a link", flag)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "manifest.json")); string(text) != "kept" {
		t.Errorf("the other file holds %q", text)
	}
}
