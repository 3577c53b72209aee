package process

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// harnessVariable makes the test binary a program that starts a tree, prints
// it and waits to be killed.
const harnessVariable = "BENCH_TEST_HARNESS"

func harnessMain() {
	text, found := os.LookupEnv(harnessVariable)
	if !found {
		return
	}
	var config Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		os.Exit(90)
	}
	p, err := Start(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(91)
	}
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(config.LogPath); strings.Contains(string(text), "children are up") {
			_ = json.NewEncoder(os.Stdout).Encode(p.Info())
			break
		}
	}
	time.Sleep(2 * time.Minute)
	os.Exit(92)
}

// orphan starts a tree under another program, kills that program, and returns
// what was noted of the tree.
func orphan(t *testing.T, engine fakeengine.Config, group bool) results.Process {
	t.Helper()
	engine.Silent, engine.Lines = true, []string{"children are up"}
	config, err := json.Marshal(Config{
		Argv: []string{os.Args[0], "--port", "0"}, Cookie: rand.Text() + ".1", Cgroup: group,
		Env:     []string{"PATH=" + os.Getenv("PATH"), engine.Env(), "GORACE=" + fakeengine.PromptExit},
		LogPath: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	harness := exec.CommandContext(t.Context(), os.Args[0])
	harness.Env = []string{harnessVariable + "=" + string(config)}
	harness.Stderr = os.Stderr
	out, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	var noted results.Process
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &noted)
	}
	_ = harness.Process.Kill()
	_ = harness.Wait()
	if err != nil || noted.PID == 0 {
		t.Fatalf("the program that starts the tree says %q, %v", line, err)
	}
	t.Cleanup(func() {
		endRemains(t, results.Process{Cookie: noted.Cookie, Cgroup: noted.Cgroup, BootID: noted.BootID})
	})
	return noted
}

// endRemains leaves nothing, whatever a test did.
func endRemains(t *testing.T, noted results.Process) {
	t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Find(noted)
	if err == nil {
		_, err = r.End(ended, 0, 0)
	}
	if err != nil {
		t.Errorf("end what the test left: %v", err)
	}
}

func alive(pid int) bool {
	p, err := proc.System.Process(pid)
	return err == nil && !p.Zombie()
}

// The death signal of a killed program lets the leader end in its own way; if
// it does not listen, it and all others are found by what was noted.
func TestRemainsOfKilledProgram(t *testing.T) {
	t.Parallel()
	tree := []fakeengine.Child{{}, {Session: true}, {Session: true, Daemon: true}, {Group: true, IgnoreTerm: true}}
	for _, c := range []struct {
		name   string
		engine fakeengine.Config
		group  bool
		left   int
		leader bool // it is still there
		kill   bool // SIGKILL is needed
	}{
		{"leader listens", fakeengine.Config{}, false, 0, false, false},
		{"leader listens, children do not", fakeengine.Config{Children: tree}, false, 4, false, true},
		{"leader does not listen", fakeengine.Config{IgnoreTerm: true, Children: tree[:3]}, false, 4, true, true},
		{
			"in a group",
			fakeengine.Config{Children: []fakeengine.Child{{Session: true, Daemon: true, ClearEnv: true}}},
			true, 1, false, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.group {
				needCgroups(t)
			}
			noted := orphan(t, c.engine, c.group)
			if !c.leader {
				await(t, "the leader's end by its death signal", func() bool { return !alive(noted.PID) })
			}
			r, err := Find(noted)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Procs()) != c.left {
				t.Errorf("Find() has %v, want %d processes", r.Procs(), c.left)
			}
			proof, err := r.End(t.Context(), 200*time.Millisecond, 0)
			if err != nil || !proof.PIDsGone || slices.Contains(proof.Signals, "KILL") != c.kill {
				t.Errorf("End() = %+v, %v, want all gone, KILL: %v", proof, err, c.kill)
			}
			if r, err = Find(noted); err != nil || len(r.Procs()) != 0 {
				t.Errorf("Find() after End = %v, %v, want none", r.Procs(), err)
			}
		})
	}
}

// What is noted may mean others by now.
func TestFindTakesNoStranger(t *testing.T) {
	t.Parallel()
	noted := orphan(t, fakeengine.Config{IgnoreTerm: true, Children: []fakeengine.Child{{Session: true}}}, false)
	other := noted
	other.Cookie = rand.Text()
	for _, c := range []struct {
		name  string
		noted func() results.Process
		want  int
		why   string // of the stranger
	}{
		{"as noted", func() results.Process { return noted }, 2, ""},
		{"another cookie: by pid, start time and descent", func() results.Process { return other }, 2, ""},
		{
			"pid given out again", func() results.Process { p := other; p.StartTime--; p.Session = 0; return p }, 0,
			"has been reused",
		},
		{
			"session given out again", func() results.Process { p := other; p.PID, p.StartTime = 0, 0; return p }, 0,
			"lacks the run's cookie",
		},
		{"after a reboot", func() results.Process { p := other; p.BootID = "another"; return p }, 0, ""},
		{"before the spawn was noted", func() results.Process { return results.Process{Cookie: noted.Cookie} }, 2, ""},
		{"the run's cookie alone", func() results.Process {
			return results.Process{Cookie: strings.TrimSuffix(noted.Cookie, ".1")}
		}, 0, ""},
		{"a part of the cookie", func() results.Process { return results.Process{Cookie: noted.Cookie[:5]} }, 0, ""},
		{"nothing", func() results.Process { return results.Process{} }, 0, ""},
	} {
		r, err := Find(c.noted())
		if err != nil || len(r.Procs()) != c.want {
			t.Errorf("%s: Find() has %v, %v, want %d processes", c.name, r.Procs(), err, c.want)
		}
		text := fmt.Sprint(r.Strangers())
		if (len(r.Strangers()) > 0) != (c.why != "") || !strings.Contains(text, c.why) {
			t.Errorf("%s: strangers = %s, want %q", c.name, text, c.why)
		}
	}
	run, err := FindRun(strings.TrimSuffix(noted.Cookie, ".1"))
	if err != nil || len(run.Procs()) != 2 {
		t.Errorf("FindRun() has %v, %v, want 2 processes", run.Procs(), err)
	}
	if part, err := FindRun(noted.Cookie[:5]); err != nil || len(part.Procs()) != 0 {
		t.Errorf("FindRun(a part of the cookie) has %v, %v, want none", part.Procs(), err)
	}
	// Of another user is not ours, whatever it carries.
	r, err := find(proc.System, os.Geteuid()+1, noted, false)
	if err != nil || len(r.Procs()) != 0 || len(r.Strangers()) != 2 || !strings.Contains(r.Strangers()[0].Why, "user") {
		t.Errorf("find() for another user has %v, strangers %v, %v, want two strangers", r.Procs(), r.Strangers(), err)
	}
	if !alive(noted.PID) {
		t.Error("looking for remains ended one")
	}
}

// stoneProc is a /proc with one process that nothing ends, with a pid that
// this machine cannot have.
func stoneProc(t *testing.T, state string, threads int) (proc.FS, proc.Process) {
	t.Helper()
	const pid = 1 << 23
	root := t.TempDir()
	stat := fmt.Sprintf("%d (VLLM::Worker_TP0) %s 1 %d %d 0 -1 0 0 0 0 0 7 5 0 0 20 0 %d 0 1000 0 0\n", pid, state,
		pid, pid, threads)
	folder := filepath.Join(root, strconv.Itoa(pid))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "stat"), []byte(stat), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := proc.FS(root).Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	return proc.FS(root), p
}

// A process in the kernel cannot be killed: the stop ends all the same, and
// says so. A zombie is not a process.
func TestUnkillable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state   string
		threads int
		gone    bool
		stuck   int
		says    string
	}{
		{"D", 1, false, 1, "reset"},
		{"Z", 2, false, 1, "reset"}, // a thread of it is stuck
		{"S", 1, false, 0, "still there"},
		{"Z", 1, true, 0, ""},
	} {
		procfs, p := stoneProc(t, c.state, c.threads)
		synctest.Test(t, func(t *testing.T) {
			remains, err := find(procfs, os.Geteuid(), results.Process{
				PID: p.PID, StartTime: p.StartTime,
				Session: p.PID,
			}, false)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			proof, err := remains.End(t.Context(), time.Minute, 20*time.Second)
			if (err == nil) != c.gone || proof.PIDsGone != c.gone || len(proof.Unkillable) != c.stuck {
				t.Errorf("state %s, %d threads: End() = %+v, %v, want gone %v, %d unkillable", c.state, c.threads,
					proof, err, c.gone, c.stuck)
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("state %s: End() = %v, want it to say %q", c.state, err, c.says)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("state %s: End() took %v", c.state, took)
			}
		})
	}
}

// Children get the limit, not only this program.
func TestRaiseFileLimit(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	now, err := RaiseFileLimit()
	if err != nil || now != min(before.Max, maxFiles) {
		t.Fatalf("RaiseFileLimit() = %d, %v, want %d", now, err, min(before.Max, maxFiles))
	}
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(Config{Argv: []string{"/bin/sh", "-c", "ulimit -Sn"}, LogPath: log})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if _, err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(log); err != nil || strings.TrimSpace(string(text)) != strconv.FormatUint(now, 10) {
		t.Errorf("a child's limit = %q, %v, want %d", text, err, now)
	}
}
