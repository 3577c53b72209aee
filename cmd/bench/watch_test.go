package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// liveScenario has three steps of which the second would take minutes.
const liveScenario = `schema: 1
name: keys
server:
  launcher: simulator
  port: %d
  model: simulated/Llama-3.2-1B-Instruct
  args: {sim-speed: 50, sim-load-time: 1s, sim-device: h100}
variants: [{name: one}]
load:
  dataset: {kind: random, tokens: ids, vocab-size: 32000}
  input-len: 32
  output-len: 16
  max-concurrency: 1
  sweep:
    - {num-prompts: 100000, label: long}
    - {num-prompts: 300, label: after}
    - {num-prompts: 100000, label: never}
`

// pseudoTerminal is a terminal of 80 x 24; the test is skipped where there is
// none.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// onTerminal is bench at work on a terminal.
type onTerminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string
	master *os.File

	mu   sync.Mutex
	seen bytes.Buffer
}

func startOnTerminal(t *testing.T, dir string, args ...string) *onTerminal {
	t.Helper()
	master, slave := pseudoTerminal(t)
	o := &onTerminal{t: t, master: master, dir: dir}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "bench") // by this name the test binary is bench
	if err := os.Link(self, link); err != nil { // a symbolic link would not give the servers that name
		t.Skipf("the test binary cannot be linked: %v", err)
	}
	o.cmd = exec.Command(link, args...)
	o.cmd.Dir, o.cmd.Stdin, o.cmd.Stderr, o.cmd.Stdout = dir, slave, slave, nil
	o.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8",
		"BENCH_STATE_DIR="+filepath.Join(dir, ".state"))
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.cmd.Process.Kill() })
	go o.read()
	return o
}

func (o *onTerminal) read() {
	part := make([]byte, 4096)
	for {
		n, err := o.master.Read(part)
		o.mu.Lock()
		o.seen.Write(part[:n])
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (o *onTerminal) screen() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen.String()
}

func (o *onTerminal) await(what string, holds func() bool) {
	o.t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	o.t.Fatalf("%s does not come; the terminal got:\n%q", what, o.screen())
}

// live is what the run says; zero where it says nothing.
func (o *onTerminal) live() results.Live {
	runs, _ := filepath.Glob(filepath.Join(o.dir, "results", "keys", "*"))
	if len(runs) == 0 {
		return results.Live{}
	}
	folder, err := store.Open(runs[0])
	if err != nil {
		return results.Live{}
	}
	all, err := folder.ReadLive()
	if err != nil || len(all) == 0 {
		return results.Live{}
	}
	return all[0]
}

func (o *onTerminal) measures(point string) func() bool {
	return func() bool {
		l := o.live()
		return l.Step != nil && l.Step.Point == point && l.Phase == results.LiveMeasuring && l.Requests != nil &&
			l.Requests.Done > 0
	}
}

func (o *onTerminal) press(keys string) {
	o.t.Helper()
	if _, err := io.WriteString(o.master, keys); err != nil {
		o.t.Fatal(err)
	}
}

func liveFolder(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.yaml"), fmt.Appendf(nil, liveScenario, freePort(t)),
		0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func exitCodeOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// On a terminal s skips a step and S ends the run after one; the terminal is
// given back, and the folder can be resumed.
func TestKeysOfARun(t *testing.T) {
	dir := liveFolder(t)
	o := startOnTerminal(t, dir, "run", "keys.yaml")
	o.await("the long step", o.measures("long"))
	o.await("the live view", func() bool { return strings.Contains(o.screen(), "s skip") })
	o.press("s")
	o.await("the question", func() bool { return strings.Contains(o.screen(), "y/n") })
	o.press("y")
	o.await("the step after it", func() bool { l := o.live(); return l.Step != nil && l.Step.Point == "after" })
	o.press("S")
	if code := exitCodeOf(t, o.cmd); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "results", "keys", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %q, %v", runs, err)
	}
	run, err := store.Read(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := run.Steps[0].Result, run.Steps[1].Result, run.Steps[2].Result
	if first.Verdict != results.Failed || first.Failure.Class != results.FailSkipped || first.Figures == nil ||
		first.Figures.Completed == 0 {
		t.Errorf("the skipped step is %s, %v, want failed, skipped-by-user, with what was measured", first.Verdict,
			first.Failure)
	}
	if second.Verdict != results.OK && second.Verdict != results.Suspect {
		t.Errorf("the last step is %s, %v, want one with figures", second.Verdict, second.Failure)
	}
	if third.Verdict != results.NotRun {
		t.Errorf("the step after it is %s, want not run", third.Verdict)
	}
	if _, err := os.Stat(filepath.Join(runs[0], results.LiveName)); err == nil {
		t.Error("live.json outlived the run")
	}
	o.await("the main screen", func() bool { return strings.Contains(o.screen(), "\x1b[?1049l") })
	if state, err := unix.IoctlGetTermios(int(o.master.Fd()), unix.TCGETS); err != nil ||
		state.Lflag&unix.ICANON == 0 || state.Lflag&unix.ECHO == 0 {
		t.Errorf("the terminal is left raw: %v, %v", state, err)
	}
}

// SIGTERM and SIGHUP leave the terminal as it was; --plain has no live view.
func TestSignalsOfARun(t *testing.T) {
	o := startOnTerminal(t, liveFolder(t), "run", "keys.yaml")
	o.await("the long step", o.measures("long"))
	if err := o.cmd.Process.Signal(unix.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, o.cmd); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	o.await("the main screen", func() bool { return strings.Contains(o.screen(), "\x1b[?1049l") })
	if got := o.screen(); !strings.Contains(got, "SIGTERM: stopping cleanly") {
		t.Errorf("what was told meanwhile is lost: %q", got)
	}

	o = startOnTerminal(t, liveFolder(t), "run", "--plain", "keys.yaml")
	o.await("the long step", o.measures("long"))
	o.press("\x03") // the terminal makes a signal of it
	if code := exitCodeOf(t, o.cmd); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if got := o.screen(); strings.Contains(got, "\x1b[?1049h") || !strings.Contains(got, "SIGINT: stopping cleanly") {
		t.Errorf("--plain shows %q", got)
	}
}
