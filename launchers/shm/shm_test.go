package shm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// put writes small files into shared memory.
func put(t *testing.T, m Folder, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(m.Path, name), []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func inFolder(t *testing.T, m Folder) string {
	t.Helper()
	entries, err := os.ReadDir(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestSharedMemoryClean(t *testing.T) {
	t.Parallel()
	m := Folder{t.TempDir(), "/proc", os.Geteuid()}
	put(t, m, "psm_before", "nccl-before")
	if err := os.Mkdir(filepath.Join(m.Path, "torch_folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	before, since := m.files(), time.Now()
	if !slices.Equal(before, []string{"nccl-before", "psm_before"}) {
		t.Errorf("files() = %v, want the two files of engines", before)
	}
	put(t, m, "nccl-a", "psm_a", "sem.mp-a", "vllm_offload_a", "torch_1_2", "sglang_a", "psm_open", "psm_mapped", "my-data")
	if err := os.Symlink("my-data", filepath.Join(m.Path, "psm_link")); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(filepath.Join(m.Path, "psm_open"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	mapped, err := os.Open(filepath.Join(m.Path, "psm_mapped"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := syscall.Mmap(int(mapped.Fd()), 0, 4, syscall.PROT_READ, syscall.MAP_SHARED)
	mapped.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(pages) }()
	removed := m.Clean(before, since)
	if want := []string{"nccl-a", "psm_a", "sem.mp-a", "sglang_a", "torch_1_2", "vllm_offload_a"}; !slices.Equal(removed, want) {
		t.Errorf("clean() = %v, want %v", removed, want)
	}
	if got, want := inFolder(t, m), "my-data nccl-before psm_before psm_link psm_mapped psm_open torch_folder"; got != want {
		t.Errorf("folder has %q, want %q", got, want)
	}
	if again := m.Clean(before, since); again != nil {
		t.Errorf("clean() again = %v, want nothing", again)
	}
}

func TestSharedMemoryOfOthersStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, Folder{Path: dir}, "psm_new")
	for name, m := range map[string]Folder{
		"another user":               {dir, "/proc", os.Geteuid() + 1},
		"nobody can be asked for it": {dir, filepath.Join(dir, "none"), os.Geteuid()},
		"no such place":              {filepath.Join(dir, "none"), "/proc", os.Geteuid()},
	} {
		if removed := m.Clean(nil, time.Time{}); removed != nil {
			t.Errorf("%s: clean() = %v, want nothing", name, removed)
		}
	}
	m := Folder{dir, "/proc", os.Geteuid()}
	if removed := m.Clean(nil, time.Now().Add(time.Hour)); removed != nil {
		t.Errorf("clean() of what is older than the server = %v, want nothing", removed)
	}
}

// What one of several servers leaves is removed when the last has gone.
func TestSharedMemoryLedger(t *testing.T) {
	t.Parallel()
	m := Folder{t.TempDir(), "/proc", os.Geteuid()}
	l := &Ledger{Memory: &m}
	put(t, m, "psm_before")
	before, leaveFirst := l.Enter()
	put(t, m, "psm_first")
	again, leaveSecond := l.Enter()
	if !slices.Equal(before, []string{"psm_before"}) || !slices.Equal(again, before) {
		t.Errorf("enter() = %v, %v, want what lay there before the first server", before, again)
	}
	put(t, m, "psm_second")
	if removed := leaveFirst(); removed != nil {
		t.Errorf("leave() of the first = %v, want nothing", removed)
	}
	_ = leaveFirst() // does not count twice
	if removed := leaveSecond(); !slices.Equal(removed, []string{"psm_first", "psm_second"}) {
		t.Errorf("leave() of the last = %v, want both files", removed)
	}
	if got := inFolder(t, m); got != "psm_before" {
		t.Errorf("folder has %q, want psm_before", got)
	}
}
