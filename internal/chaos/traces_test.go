package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/results"
)

// marker is inherited by whatever bench starts, so that nothing can hide but
// a process without its parent's environment; those are found by their folder.
const marker = "BENCH_CHAOS_WORLD"

// clean asserts that nothing of the run is left and nothing else was touched.
func (w *world) clean() {
	w.t.Helper()
	left := w.processes()
	for range 50 { // helpers of bench that it has killed may take a moment to vanish
		if len(left) == 0 {
			break
		}
		time.Sleep(2 * poll)
		left = w.processes()
	}
	for _, p := range left {
		w.t.Errorf("left behind: %s", p)
	}
	if !w.strangerOnPort {
		if err := bindable(w.port); err != nil {
			w.t.Errorf("port: %v", err)
		}
	}
	w.unharmed()
	for _, file := range w.shmFiles("psm_chaos_") {
		w.t.Errorf("left in /dev/shm: %s", file)
	}
	for _, folder := range w.cgroups() {
		w.t.Errorf("left: control group %s", folder)
	}
}

// cgroups are the control groups that the journal names and that are there.
func (w *world) cgroups() []string {
	var left []string
	for _, e := range w.events() {
		if e.Process == nil || e.Process.Cgroup == "" {
			continue
		}
		folder := filepath.Join(cgroupMount(), e.Process.Cgroup)
		if _, err := os.Stat(folder); err == nil && !slices.Contains(left, folder) {
			left = append(left, folder)
		}
	}
	return left
}

// cgroupMount is where control groups of version 2 are; "" if they are not.
func cgroupMount() string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1]
		}
	}
	return ""
}

// shmFiles are the world's files in /dev/shm with that beginning.
func (w *world) shmFiles(beginning string) []string {
	found, _ := filepath.Glob("/dev/shm/" + beginning + w.id + "*")
	return found
}

// process is a living process of a world.
type process struct {
	pid     int
	cmdline string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.cmdline) }

// processes lists the living processes of this world without the bystanders.
func (w *world) processes() []process {
	var found []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || ended(pid) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if bytes.Contains(environ, []byte(marker+"="+w.id+"\x00")) || cwd == w.dir ||
			strings.HasPrefix(cwd, w.dir+"/") {
			cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			found = append(found, process{pid, string(bytes.ReplaceAll(cmdline[:min(len(cmdline), 200)], []byte{0},
				[]byte{' '}))})
		}
	}
	return found
}

// workers are the living children of fake engines.
func (w *world) workers() []process {
	var found []process
	for _, p := range w.processes() {
		if strings.Contains(p.cmdline, "fake-engine-child") {
			found = append(found, p)
		}
	}
	return found
}

// state is the state letter of a process, "" if there is none.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	letter, _, _ := strings.Cut(rest, " ")
	return letter
}

// ended reports whether a process is gone, or only waits to be reaped.
func ended(pid int) bool { s := state(pid); return s == "" || s == "Z" || s == "X" }

// sweep ends what a failed test left.
func (w *world) sweep() {
	for _, left := range w.processes() {
		_ = syscall.Kill(left.pid, syscall.SIGKILL)
	}
	for _, beginning := range []string{"psm_chaos_", "psm_foreign_", "chaos_"} {
		for _, file := range w.shmFiles(beginning) {
			_ = os.Remove(file)
		}
	}
}

// consistent asserts that the journal tells a whole story: no damage, every
// life that started has ended, every planned step has a verdict.
func (w *world) consistent(run *results.Run) {
	w.t.Helper()
	for _, problem := range run.Problems {
		w.t.Errorf("journal: %s", problem)
	}
	if !run.Finished {
		w.t.Errorf("the journal does not end the run")
	}
	for i, e := range run.Events {
		if e.Seq != i+1 {
			w.t.Errorf("journal: event %d has number %d", i+1, e.Seq)
		}
	}
	for life := range openLives(run.Events) {
		w.t.Errorf("journal: life %s has no end", life)
	}
	for _, step := range run.Steps {
		if step.Result.Verdict == "" {
			w.t.Errorf("step %s has no verdict", step.Result.Step.ID)
		}
	}
}

// openLives are the lives that a journal starts and does not end.
func openLives(events []results.Event) map[string]bool {
	open := map[string]bool{}
	for _, e := range events {
		key := fmt.Sprintf("%s/%d", e.Life, e.Replica)
		switch e.Kind {
		case results.LifeStarting, results.LifeSpawned:
			open[key] = true
		case results.LifeStopped:
			delete(open, key)
		case results.LifeFailed:
			if e.Process == nil && !spawned(events, e) {
				delete(open, key) // it never ran
			}
		default:
		}
	}
	return open
}

func spawned(events []results.Event, of results.Event) bool {
	for _, e := range events {
		if e.Kind == results.LifeSpawned && e.Life == of.Life && e.Replica == of.Replica {
			return true
		}
	}
	return false
}
