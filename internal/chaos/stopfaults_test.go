package chaos

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

const stop = "stop"

// hasted is a variant whose servers get little time to end.
var hasted = block{"stop": block{"grace": "1s"}}

func children(all ...fakeengine.Child) func(*engine) {
	return func(c *engine) { c.Children = all }
}

// stopFaults strike when the server is to end.
func stopFaults() []fault {
	return []fault{
		{
			stage: stop, kind: "hang", name: "ignores SIGTERM", engine: func(c *engine) { c.IgnoreTerm = true },
			bad: hasted, after: proofSays("TERM KILL", 0),
		},
		{stage: stop, kind: "slow", name: "drains longer than the grace period", engine: func(c *engine) {
			c.Drain = 20 * time.Second
		}, bad: hasted, after: proofSays("TERM KILL", 0)},
		{
			stage: stop, kind: "slow", name: "drains within the grace period", engine: func(c *engine) {
				c.Drain = time.Second
			},
			after: proofSays("TERM", 0),
		},
		{
			stage: stop, kind: "flood", name: "30 MB of log at SIGTERM", engine: func(c *engine) {
				c.TermFlood = 30 << 20
			},
			scenario: block{"disk": block{"max-log": "1MiB"}}, after: smallLogs,
		},
		{stage: stop, kind: "crash", name: "exits with 1", engine: func(c *engine) { c.TermCode = 1 }},
		{stage: stop, kind: "leak", name: "worker in its own group", engine: children(fakeengine.Child{Group: true})},
		{
			stage: stop, kind: "leak", name: "worker in its own session",
			engine: children(fakeengine.Child{Session: true, IgnoreTerm: true}), bad: hasted,
			after: proofSays("TERM KILL", 1),
		},
		{
			stage: stop, kind: "leak", name: "worker forked twice",
			engine: children(fakeengine.Child{Session: true, Daemon: true, IgnoreTerm: true}), bad: hasted,
			after: proofSays("TERM KILL", 1),
		},
		{
			stage: stop, kind: "leak", name: "worker without environment",
			engine: children(fakeengine.Child{Group: true, ClearEnv: true, IgnoreTerm: true}), bad: hasted,
			after: proofSays("TERM KILL", 1),
		},
		{
			stage: stop, kind: "leak", name: "worker without environment, in its own session",
			engine: children(fakeengine.Child{Session: true, ClearEnv: true, IgnoreTerm: true}), bad: hasted,
			after: proofSays("TERM KILL", 1),
		},
		{stage: stop, kind: "leak", name: "starts a child at SIGTERM", engine: func(c *engine) {
			c.TermChild = &fakeengine.Child{Session: true, IgnoreTerm: true}
		}, bad: hasted},
		{stage: stop, kind: "leak", name: "a child keeps the port", engine: func(c *engine) {
			c.KeepsPort = true
		}, bad: hasted},
	}
}

// proofSays asserts the signals that a stop of bad took and how many of its
// processes outlived their leader.
func proofSays(signals string, left int) func(*world, conclusion) {
	return func(w *world, end conclusion) {
		w.t.Helper()
		for _, e := range end.run.Events {
			if e.Kind != results.LifeStopped {
				continue
			}
			if got := strings.Join(e.Proof.Signals, " "); got != signals || e.Proof.LeftBehind != left {
				w.t.Errorf("the stop took %q and left %d processes behind, want %q and %d", got, e.Proof.LeftBehind,
					signals, left)
			}
			return
		}
		w.t.Errorf("the journal has no stop")
	}
}

// Process trees as engines build them.
var (
	vllmTree = fakeengine.Child{Session: true, Name: "VLLM::EngineCor", Clobber: true, Children: []fakeengine.Child{
		{Session: true, Name: "VLLM::Worker_TP", Clobber: true, IgnoreTerm: true},
		{Session: true, Name: "VLLM::Worker_TP", Clobber: true, IgnoreTerm: true},
	}}
	sglangTree = []fakeengine.Child{
		{Daemon: true, Name: "sglang::schedul", IgnoreTerm: true}, {
			Daemon: true, Name: "sglang::detoken",
			Clobber: true, IgnoreTerm: true,
		},
	}
	tgiTree = []fakeengine.Child{
		{Group: true, IgnoreTerm: true, Children: []fakeengine.Child{{Group: true}}},
		{Group: true, ClearEnv: true},
	}
)

// treeFaults are the process trees of engines, whose processes do not end with
// their leader.
func treeFaults() []fault {
	var all []fault
	for _, cgroup := range []bool{true, false} {
		suffix, prepare := "", func(*world) {}
		if !cgroup {
			suffix, prepare = ", without a control group", withoutCgroup
		}
		all = append(all,
			fault{
				stage: stop, kind: "leak", name: "tree of vLLM" + suffix, engine: children(vllmTree), bad: hasted,
				prepare: prepare, after: proofSays("TERM KILL", 3),
			},
			fault{
				stage: stop, kind: "leak", name: "tree of SGLang" + suffix, launcher: "sglang",
				engine: children(sglangTree...), bad: hasted, prepare: prepare, after: proofSays("TERM KILL", 2),
			},
			fault{
				stage: stop, kind: "leak", name: "tree of TGI" + suffix, launcher: "tgi",
				engine: children(tgiTree...), bad: hasted, prepare: prepare, after: proofSays("TERM KILL", 3),
			},
			fault{
				stage: stop, kind: "leak", name: "a daemon without session and environment" + suffix, bad: hasted,
				prepare: prepare,
				engine:  children(fakeengine.Child{Session: true, Daemon: true, ClearEnv: true, IgnoreTerm: true}),
				after:   proofSays("TERM KILL", 1),
			},
			fault{
				stage: stop, kind: "leak", name: "a daemon that is started at SIGTERM" + suffix, bad: hasted,
				prepare: prepare,
				engine: func(c *engine) {
					c.TermChild = &fakeengine.Child{Session: true, Daemon: true, ClearEnv: true, IgnoreTerm: true}
				}, after: proofSays("TERM KILL", 1),
			},
			fault{
				stage: serve, kind: "leak", name: "vLLM's front end is killed, its other processes survive" + suffix,
				prepare: prepare, bad: hasted, engine: func(c *engine) {
					children(vllmTree)(c)
					request(fakeengine.FaultKill)(c)
				}, verdict: failed, class: results.FailExited, says: "signal 9",
			},
		)
	}
	return all
}

// withoutCgroup takes control groups away from bench, where this machine has them
// and lets us.
func withoutCgroup(w *world) {
	mount := cgroupMount()
	if mount == "" || os.Geteuid() != 0 {
		return
	}
	wrapper := []string{"unshare", "-m", "sh", "-c", `mount -o remount,bind,ro "$0" && exec "$@"`, mount}
	if exec.Command(wrapper[0], append(wrapper[1:], "true")...).Run() == nil {
		w.wrapper = wrapper
	}
}

func resourceFaults() []fault {
	return []fault{
		{stage: stop, kind: "leak", name: "a file in /dev/shm", engine: func(c *engine) { c.ShmFile = "psm_chaos_ID" }},
		{
			stage: stop, kind: "leak", name: "another process's semaphore in /dev/shm, made while a server runs",
			engine: func(c *engine) { c.ShmFile = "chaos_ID" }, prepare: func(w *world) {
				w.once(func() bool { return answers(w.port) }, func() { w.shm("sem.mp-") })
			}, after: func(w *world, _ conclusion) { w.kept("sem.mp-") },
		},
		{
			stage: stop, kind: "leak", name: "another user's file in /dev/shm", needs: root, prepare: func(w *world) {
				w.once(func() bool { return answers(w.port) }, func() {
					path := w.shm("chaos_")
					const nobody = 65534
					if err := errors.Join(os.Chown(path, nobody, nobody), os.Rename(path, "/dev/shm/psm_foreign_"+
						w.id)); err != nil {
						w.t.Error(err)
					}
				})
			}, after: func(w *world, _ conclusion) { w.kept("psm_foreign_") },
		},
		{
			stage: stop, kind: "leak", name: "an older file in /dev/shm", needs: mounts, prepare: ownShm,
			after: func(w *world, _ conclusion) {
				if text, err := os.ReadFile(w.path("shm")); err != nil || string(text) != "psm_before\n" {
					w.t.Errorf("/dev/shm afterwards: %q, %v, want what was there before", text, err)
				}
			},
		},
		{
			stage: "spawn", kind: "flood", name: "too little disk space",
			scenario: block{"disk": block{"min-free": "1000000GiB"}},
			verdict:  notRun, class: results.FailDisk, says: "min-free", good: notRun, why: results.FailDisk,
			after: headline("disk.min-free"),
		},
		{
			stage: serve, kind: "flood", name: "the disk fills up in the middle of a step", needs: mounts,
			prepare:  smallDisk,
			scenario: block{"disk": block{"min-free": "32MiB"}, "load": block{"num-prompts": 12}},
			engine:   request(fakeengine.FaultSlow),
			verdict:  failed, class: results.FailDisk, good: notRun, why: results.FailDisk,
			after: func(w *world, end conclusion) {
				headline("disk")(w, end)
				if err := os.Remove(w.path("results", "filler")); err != nil {
					w.t.Error(err)
				}
				w.resumes()
			},
		},
		{
			stage: serve, kind: "flood", name: "the disk is full in the middle of a step", needs: mounts,
			prepare:  smallDisk,
			scenario: block{"disk": block{"min-free": 0}, "load": block{"num-prompts": 12}},
			engine:   request(fakeengine.FaultSlow),
			verdict:  failed, class: results.FailDisk, good: notRun, why: results.FailDisk, after: headline("disk"),
		},
		{
			stage: serve, kind: "flood", name: "the file system has no inode left in the middle of a step",
			needs:    mounts,
			prepare:  fewInodes,
			scenario: block{"disk": block{"min-free": 0}, "load": block{"num-prompts": 12}},
			engine:   request(fakeengine.FaultSlow),
			verdict:  failed, class: results.FailDisk, good: notRun, why: results.FailDisk, after: headline("disk"),
		},
		{
			stage: "load", kind: "flood", name: "100 MB of log above disk.max-log", engine: func(c *engine) {
				c.Flood = 100 << 20
			},
			scenario: block{"disk": block{"max-log": "1MiB"}}, after: smallLogs,
		},
	}
}

func root() string {
	if os.Geteuid() != 0 {
		return "needs root"
	}
	return ""
}

// mounts says what keeps us from mounting a file system.
func mounts() string {
	if exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt").Run() != nil {
		return "needs the right to mount"
	}
	return ""
}

// ownShm gives bench a /dev/shm that no other run of this suite sees, with an
// engine's file in it, and notes what is there afterwards.
func ownShm(w *world) {
	const script = `mount -t tmpfs none /dev/shm && echo theirs > /dev/shm/psm_before && sleep 0.1 && "$@"; code=$?; ls /dev/shm > shm; exit $code`
	w.wrapper = []string{"unshare", "-m", "sh", "-c", script, "sh"}
}

// smallDisk gives bench a disk of 64 MiB for its results and fills it in the
// middle of the first step.
func smallDisk(w *world) {
	if err := os.Mkdir(w.path("results"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("none", w.path("results"), "tmpfs", 0, "size=64m"); err != nil {
		w.t.Skipf("mount a small disk: %v", err)
	}
	w.t.Cleanup(func() { _ = syscall.Unmount(w.path("results"), syscall.MNT_DETACH) })
	w.once(func() bool { return w.has(results.StepStarted) }, func() {
		time.Sleep(300 * time.Millisecond)
		file, err := os.Create(w.path("results", "filler"))
		if err != nil {
			w.t.Error(err)
			return
		}
		defer file.Close()
		for chunk := make([]byte, 64<<10); err == nil; {
			_, err = file.Write(chunk)
		}
		for chunk := make([]byte, 1); err == nil; {
			_, err = file.Write(chunk)
		}
	})
}

// fewInodes uses up the inodes of the results' file system in the middle of a step.
func fewInodes(w *world) {
	if err := os.Mkdir(w.path("results"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("none", w.path("results"), "tmpfs", 0, "size=64m,nr_inodes=200"); err != nil {
		w.t.Skipf("mount a small disk: %v", err)
	}
	w.t.Cleanup(func() { _ = syscall.Unmount(w.path("results"), syscall.MNT_DETACH) })
	w.once(func() bool { return w.has(results.StepStarted) }, func() {
		time.Sleep(300 * time.Millisecond)
		for i := 0; ; i++ {
			if err := os.WriteFile(w.path("results", "filler"+itoa(i)), nil, 0o600); err != nil {
				return
			}
		}
	})
}

// has reports whether the journal has an event of that kind.
func (w *world) has(kind results.EventKind) bool {
	for _, e := range w.events() {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// shm makes a file in /dev/shm.
func (w *world) shm(beginning string) string {
	path := filepath.Join("/dev/shm", beginning+w.id)
	if err := os.WriteFile(path, []byte("somebody else's"), 0o600); err != nil {
		w.t.Error(err)
	}
	w.t.Cleanup(func() { _ = os.Remove(path) })
	return path
}

// kept asserts that a file in /dev/shm was left alone.
func (w *world) kept(beginning string) {
	w.t.Helper()
	if len(w.shmFiles(beginning)) != 1 {
		w.t.Errorf("/dev/shm/%s%s was removed", beginning, w.id)
	}
}

func size(w *world, path string) int64 {
	w.t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		w.t.Error(err)
		return 0
	}
	return info.Size()
}
