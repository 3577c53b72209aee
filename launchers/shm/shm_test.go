package shm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// user is a process that has files open until it is ended.
type user struct {
	pid int
	end func()
}

// start starts a process that has the files open; they are made if need be.
func start(t *testing.T, f Folder, names ...string) user {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	for _, name := range names {
		file, err := os.OpenFile(filepath.Join(f.Path, name), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	ended := false
	end := func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		ended = true
	}
	t.Cleanup(end)

	return user{cmd.Process.Pid, end}
}

func folder(t *testing.T) Folder {
	t.Helper()
	if err := proc.System.Complete(); err != nil {
		t.Skip(err)
	}
	path, err := os.MkdirTemp("/dev/shm", "bench-test-") //nolint:usetesting // must lie in shared memory // inodes are given out once there
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })

	return Folder{path, proc.System, os.Geteuid()}
}

func (f Folder) names() string {
	var names []string
	for _, e := range f.entries() {
		names = append(names, e.name)
	}
	slices.Sort(names)

	return strings.Join(names, " ")
}

func put(t *testing.T, f Folder, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(f.Path, name), []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func reasons(left []results.SharedFile) string {
	var texts []string
	for _, l := range left {
		texts = append(texts, filepath.Base(l.Path)+": "+l.Why)
	}
	slices.Sort(texts)

	return strings.Join(texts, "; ")
}

// A server's files are removed, whatever their names; those that lay there
// before, that appeared beside it, and that somebody else uses are not.
func TestLeaveRemovesOnlyTheServersFiles(t *testing.T) {
	t.Parallel()
	f := folder(t)
	put(t, f, "psm_before", "psm_opened_by_ours")
	ledger := &Ledger{Folder: &f}
	use := ledger.Enter()
	stranger := start(t, f, "sem.mp-stranger", "psm_shared")
	server := start(t, f, "psm_ours", "any-name", "psm_opened_by_ours", "psm_shared", "psm_passed_on")
	put(t, f, "psm_of_nobody")

	noted := use.Note([]int{server.pid})
	if len(noted) != 3 {
		t.Errorf("Note() = %v, want the three files that are the server's alone", noted)
	}
	if again := use.Note([]int{server.pid}); again != nil {
		t.Errorf("Note() again = %v, want nothing new", again)
	}
	heir := start(t, f, "psm_passed_on")
	server.end()
	stranger.end() // its files are nobody's for a moment, and still not ours

	removed, left := use.Leave()
	if want := []string{"any-name", "psm_ours"}; !slices.Equal(removed, want) {
		t.Errorf("Leave() removed %v, want %v", removed, want)
	}
	if got := reasons(left); got != "psm_passed_on: a process has it open or mapped" {
		t.Errorf("Leave() left %q, want psm_passed_on and why", got)
	}
	const stay = "psm_before psm_of_nobody psm_opened_by_ours psm_passed_on psm_shared sem.mp-stranger"
	if got := f.names(); got != stay {
		t.Errorf("folder has %q, want %q", got, stay)
	}
	heir.end()
	if again, _ := use.Leave(); !slices.Equal(again, removed) {
		t.Errorf("Leave() again = %v, want the same answer", again)
	}
}

// A semaphore is mapped and not open, and its first name is gone.
func TestNoteSeesMappings(t *testing.T) {
	t.Parallel()
	f := folder(t)
	use := (&Ledger{Folder: &f}).Enter()
	put(t, f, "sem.first")
	file, err := os.OpenFile(filepath.Join(f.Path, "sem.first"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := syscall.Mmap(int(file.Fd()), 0, 4, syscall.PROT_READ, syscall.MAP_SHARED)
	file.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.Path, "sem.first"), filepath.Join(f.Path, "sem.second")); err != nil {
		t.Fatal(err)
	}

	if noted := use.Note([]int{os.Getpid()}); len(noted) != 1 {
		t.Errorf("Note() = %v, want the mapped file", noted)
	}
	if removed, left := use.Leave(); removed != nil || !strings.Contains(reasons(left),
		"sem.second: a process has it") {
		t.Errorf("Leave() = %v, %v, want the mapped file left", removed, left)
	}
	if err := syscall.Munmap(pages); err != nil {
		t.Fatal(err)
	}
}

// A file that two servers of ours use is removed with the last of them.
func TestServersShareFiles(t *testing.T) {
	t.Parallel()
	f := folder(t)
	ledger := &Ledger{Folder: &f}
	first := ledger.Enter()
	a := start(t, f, "psm_first", "psm_both")
	first.Note([]int{a.pid})
	second := ledger.Enter()
	b := start(t, f, "psm_second", "psm_both")
	second.Note([]int{b.pid})

	a.end()
	if removed, _ := first.Leave(); !slices.Equal(removed, []string{"psm_first"}) {
		t.Errorf("Leave() of the first = %v, want psm_first alone", removed)
	}
	b.end()
	if removed, _ := second.Leave(); !slices.Equal(removed, []string{"psm_both", "psm_second"}) {
		t.Errorf("Leave() of the last = %v, want the others", removed)
	}
}

// After a crash the journal's device and inode numbers are all that counts.
func TestRemoveByNote(t *testing.T) {
	t.Parallel()
	f := folder(t)
	use := (&Ledger{Folder: &f}).Enter()
	server := start(t, f, "psm_ours")
	noted := use.Note([]int{server.pid})
	server.end()
	put(t, f, "psm_today")

	another := f
	another.UID++
	if removed, left := another.Remove(noted); removed != nil || left != nil {
		t.Errorf("Remove() as another user = %v, %v, want nothing", removed, left)
	}
	if removed, left := f.Remove(noted); !slices.Equal(removed, []string{"psm_ours"}) || left != nil {
		t.Errorf("Remove() = %v, %v, want psm_ours", removed, left)
	}
	if got := f.names(); got != "psm_today" {
		t.Errorf("folder has %q, want psm_today", got)
	}
	put(t, f, "psm_ours") // the same name, another file
	if removed, _ := f.Remove(noted); removed != nil {
		t.Errorf("Remove() of another file with the name = %v, want nothing", removed)
	}
}

// Where processes cannot be seen, nothing is removed, and the file is reported.
func TestUnseenProcesses(t *testing.T) {
	t.Parallel()
	f := folder(t)
	use := (&Ledger{Folder: &f}).Enter()
	server := start(t, f, "psm_ours")
	noted := use.Note([]int{server.pid})
	server.end()

	blind := f
	blind.Proc = proc.FS(t.TempDir())
	removed, left := blind.Remove(noted)
	if removed != nil || len(left) != 1 || !strings.Contains(left[0].Why, "not all processes") || left[0].Bytes != 0 {
		t.Errorf("Remove() with another namespace's /proc = %v, %+v, want the file left and why", removed, left)
	}

	e := entry{id: proc.FileID{Inode: 1}}
	open := entry{id: e.id, open: true}
	for _, c := range []struct {
		name string
		view view
		of   entry
		stay bool
	}{
		{"nobody is hidden", view{}, open, false},
		{"a process of ours is hidden", view{hidden: 7}, e, true},
		{"another user's process is hidden, which could not open it", view{others: 7}, e, false},
		{"another user's process is hidden, which could", view{others: 7}, open, true},
	} {
		if why := c.view.inTheWay(c.of); (why != "") != c.stay {
			t.Errorf("%s: inTheWay() = %q, want stay %v", c.name, why, c.stay)
		}
	}
}
