package process

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
)

func TestWritableHierarchy(t *testing.T) {
	t.Parallel()
	const v1 = "35 31 0:30 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu\n"
	for _, c := range []struct {
		name, table string
		want        hierarchy
		says        string // of the error
	}{
		{
			"unified", "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			hierarchy{"/sys/fs/cgroup", "/"},
			"",
		},
		{
			"hybrid", v1 + "36 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			hierarchy{"/sys/fs/cgroup/unified", "/"},
			"",
		},
		{
			"part of it", "36 31 0:31 /machine/a\\040b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			hierarchy{"/sys/fs/cgroup", "/machine/a b"},
			"",
		},
		{"read-only", "36 31 0:31 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n", hierarchy{}, "read-only"},
		{"version 1 only", v1, hierarchy{}, "not mounted"},
		{"nonsense", "a b\n - cgroup2\n", hierarchy{}, "not mounted"},
	} {
		got, err := writableHierarchy(mountsOf(t, c.table))
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: writableHierarchy() = %+v, %v, want %+v, error with %q", c.name, got, err, c.want, c.says)
		}
	}
}

// mountsOf reads a mount table.
func mountsOf(t *testing.T, table string) []proc.Mount {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "self/mountinfo"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}

	mounts, err := proc.FS(root).Mounts()
	if err != nil {
		t.Fatal(err)
	}
	return mounts
}

// fakeMachine is a folder with a /proc and a mounted hierarchy in which this
// program is in the group /own.
type fakeMachine struct {
	procfs proc.FS
	own    string // folder of that group
}

func newFakeMachine(t *testing.T) fakeMachine {
	t.Helper()
	root := t.TempDir()
	machine := fakeMachine{proc.FS(filepath.Join(root, "proc")), filepath.Join(root, "cgroup", "own")}
	machine.write(t, filepath.Join(string(machine.procfs), "self/mountinfo"), "36 31 0:31 / "+filepath.Dir(machine.own)+
		" rw - cgroup2 cgroup2 rw\n")
	machine.write(t, filepath.Join(string(machine.procfs), "self/cgroup"), "0::/own\n")
	machine.write(t, filepath.Join(machine.own, "cgroup.type"), "domain\n")
	machine.write(t, filepath.Join(machine.own, "cgroup.procs"), "")
	return machine
}

func (fakeMachine) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every reason why a machine may have no groups for us is reported, and none is left.
func TestNewCgroupRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, fakeMachine)
		says  string
	}{
		{"threaded", func(t *testing.T, b fakeMachine) {
			b.write(t, filepath.Join(b.own, "cgroup.type"), "threaded\n")
		}, "threaded"},
		{"not delegated", func(t *testing.T, b fakeMachine) {
			// Root may write everywhere, but for a folder.
			if err := errors.Join(os.Remove(filepath.Join(b.own, "cgroup.procs")),
				os.Mkdir(filepath.Join(b.own, "cgroup.procs"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}, "delegated"},
		{"version 1", func(t *testing.T, b fakeMachine) {
			b.write(t, filepath.Join(string(b.procfs), "self/mountinfo"), "")
		}, "not mounted"},
		{"elsewhere", func(t *testing.T, b fakeMachine) {
			b.write(t, filepath.Join(string(b.procfs), "self/cgroup"), "1:cpu:/\n")
		}, "not below"},
		// the new folder stays empty: it is a plain one
		{"no such thing", func(t *testing.T, b fakeMachine) {}, "is not a cgroup"},
	} {
		machine := newFakeMachine(t)
		c.spoil(t, machine)
		group, err := newCgroup(machine.procfs, "bench-x")
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: newCgroup() = %+v, %v, want an error with %q", c.name, group, err, c.says)
		}
		if _, err := os.Stat(filepath.Join(machine.own, "bench-x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the group's folder is left: %v", c.name, err)
		}
	}
}

func TestCgroupReads(t *testing.T) {
	t.Parallel()
	machine := newFakeMachine(t)
	folder := filepath.Join(filepath.Dir(machine.own), "bench-x")
	machine.write(t, filepath.Join(folder, "cgroup.procs"), "12\n0\n13\n")
	machine.write(t, filepath.Join(folder, "below", "cgroup.procs"), "14\n")
	machine.write(t, filepath.Join(folder, "cgroup.events"), "populated 1\nfrozen 0\n")
	group, ok := openCgroup(machine.procfs, "/bench-x")
	if !ok {
		t.Fatal("openCgroup() found nothing")
	}
	if got := group.pids(); !slices.Equal(got, []int{12, 13, 14}) {
		t.Errorf("pids() = %v, want those of the group and below", got)
	}
	for path, want := range map[string]bool{
		"/bench-x": true, "/bench-x/below": true, "/bench-xy": false,
		"/": false, "": false,
	} {
		if got := group.holds(path); got != want {
			t.Errorf("holds(%q) = %v, want %v", path, got, want)
		}
	}
	if !group.populated() {
		t.Error("populated() = false, want true")
	}
	if err := group.kill(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "cgroup.kill")); err != nil || string(text) != "1" {
		t.Errorf("cgroup.kill = %q, %v, want 1", text, err)
	}
	machine.write(t, filepath.Join(folder, "cgroup.events"), "populated 0\nfrozen 0\n")
	if group.populated() {
		t.Error("populated() = true, want false")
	}
	// Only groups of ours are ever opened: killing one kills all within.
	for _, path := range []string{"", "/", "/own", "/bench-none"} {
		if group, ok := openCgroup(machine.procfs, path); ok {
			t.Errorf("openCgroup(%q) = %+v, want none", path, group)
		}
	}
}

// needCgroups skips where this machine lets us make no groups.
func needCgroups(t *testing.T) {
	t.Helper()
	group, err := newCgroup(proc.System, cgroupName(rand.Text()))
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	if err := group.remove(); err != nil {
		t.Fatal(err)
	}
}

// A process that leaves the session, drops its environment and loses its
// parent, all before anybody looks, is still in the group.
func TestCgroupHoldsWhatEscapes(t *testing.T) {
	t.Parallel()
	needCgroups(t)
	escaping := fakeengine.Child{
		Daemon: true, Session: true, Clobber: true, ClearEnv: true, IgnoreTerm: true,
		Name: "kworker/0:1",
	}
	p := start(t, fakeengine.Config{Children: []fakeengine.Child{escaping}})
	if p.CgroupError() != nil || p.Info().Cgroup == "" {
		t.Fatalf("CgroupError() = %v, group %q, want a group", p.CgroupError(), p.Info().Cgroup)
	}
	if size := treeSize(t, p); size != 2 {
		t.Errorf("Tree() has %d processes, want 2", size)
	}
	proof, err := p.Stop(t.Context(), time.Second)
	if err != nil || !proof.PIDsGone || proof.LeftBehind != 1 || !slices.Contains(proof.Signals, "KILL") {
		t.Errorf("Stop() = %+v, %v, want the escaped one killed", proof, err)
	}
	if _, err := os.Stat(p.tree.groups[0].folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group's folder after Stop: %v, want it gone", err)
	}
}

func TestPlannedCgroupIsTheOneMade(t *testing.T) {
	t.Parallel()
	needCgroups(t)
	p := start(t, fakeengine.Config{})
	if got, want := p.Info().Cgroup, PlannedCgroup(p.Info().Cookie); got != want {
		t.Errorf("group = %q, PlannedCgroup() = %q, want the same", got, want)
	}
}
