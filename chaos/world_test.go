package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchrig/internal/fakeengine"
	"benchrig/results"
)

// marker is inherited by whatever bench starts, so that nothing can hide but
// a process without its parent's environment; those are found by their folder.
const marker = "BENCH_CHAOS_WORLD"

// world is one bench run apart from all others: a folder, a port, a state
// folder, and a bystander that looks like an engine and must survive.
type world struct {
	t         *testing.T
	dir       string
	port      int
	id        string
	env       []string
	bystander *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), port: freePort(t)}
	w.id = fmt.Sprintf("%d-%d", os.Getpid(), w.port)
	w.env = append(os.Environ(), marker+"="+w.id, "BENCH_STATE_DIR="+filepath.Join(w.dir, "state"), "HOME="+w.dir)
	w.bystander = startBystander(t)
	t.Cleanup(w.sweep)
	return w
}

// startBystander runs an engine's worker outside of every run: same program,
// same arguments, the same kind of environment.
func startBystander(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "fake-engine-child", `{"Session":true}`)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "BENCH_COOKIE=another-run", "SPT_NOENV=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// block is a YAML mapping; JSON is YAML.
type block = map[string]any

// scenario is a night of two variants: bad, with what is tested, and good.
func (w *world) scenario(bad block, changes block) string {
	w.t.Helper()
	good := block{"name": "good", "env": block{fakeengine.Variable: healthy().Value()}}
	all := block{
		"schema": 1, "name": "night",
		"server": block{
			"launcher": "vllm", "binary": []string{self(w.t)}, "model": "m", "port": w.port, "gpus": "none",
			"ready": block{"timeout": "4s", "stall": "2s"}, "stop": block{"grace": "1s"},
		},
		"variants": []block{bad, good},
		"load": block{
			"endpoint": "completions", "dataset": block{"kind": "random", "tokens": "ids", "vocab-size": 1000},
			"input-len": 8, "output-len": 8, "num-prompts": 12, "max-concurrency": 4,
			"timeouts": block{"first-token": "1500ms", "stall": "1500ms"},
		},
	}
	for key, value := range changes {
		all[key] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.dir, "night.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// healthy is an engine without a fault.
func healthy() fakeengine.Config {
	return fakeengine.Config{Model: "m", Paths: fakeengine.VLLM(), Counters: map[string]string{
		"input_tokens_total": "vllm:prompt_tokens_total", "output_tokens_total": "vllm:generation_tokens_total", "requests_total": "vllm:request_success_total",
	}}
}

// outcome is how a call of bench ended.
type outcome struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// bench runs the program to its end; signal, if not nil, gets the process once
// it runs.
func (w *world) bench(signal func(*os.Process), args ...string) outcome {
	w.t.Helper()
	const limit = 90 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	defer close(done)
	if signal != nil {
		go signal(cmd.Process)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("bench %v: %v\n%s", args, err, &stderr)
	}
	if ctx.Err() != nil {
		w.t.Errorf("bench %v did not end within %v\n%s", args, limit, &stderr)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began)}
}

// folder is the run's folder.
func (w *world) folder() string {
	w.t.Helper()
	found, _ := filepath.Glob(filepath.Join(w.dir, "results", "night", "*", results.ManifestName))
	if len(found) != 1 {
		w.t.Fatalf("found %d run folders, want 1", len(found))
	}
	return filepath.Dir(found[0])
}

// read reads the run back.
func (w *world) read() *results.Run {
	w.t.Helper()
	run, err := results.Read(w.folder())
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// clean asserts that nothing of the run is left and nothing else was touched.
func (w *world) clean() {
	w.t.Helper()
	for _, left := range w.processes() {
		w.t.Errorf("left behind: %s", left)
	}
	if err := bindable(w.port); err != nil {
		w.t.Errorf("port: %v", err)
	}
	if err := w.bystander.Process.Signal(syscall.Signal(0)); err != nil || state(w.bystander.Process.Pid) == "Z" {
		w.t.Errorf("the bystander was ended")
	}
	for _, file := range leftInShm(w.id) {
		w.t.Errorf("left in /dev/shm: %s", file)
	}
}

func bindable(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

func leftInShm(id string) []string {
	found, _ := filepath.Glob("/dev/shm/psm_chaos_" + id + "*")
	return found
}

// processes lists the living processes of this world, bystander excluded.
func (w *world) processes() []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || state(pid) == "Z" || state(pid) == "" {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if bytes.Contains(environ, []byte(marker+"="+w.id+"\x00")) || cwd == w.dir || strings.HasPrefix(cwd, w.dir+"/") {
			cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			found = append(found, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(cmdline[:min(len(cmdline), 200)], []byte{0}, []byte{' '})))
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

// sweep ends what a failed test left.
func (w *world) sweep() {
	for _, left := range w.processes() {
		pid, _ := strconv.Atoi(strings.Fields(left)[0])
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, file := range leftInShm(w.id) {
		_ = os.Remove(file)
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
	open := map[string]bool{}
	for _, e := range run.Events {
		key := fmt.Sprintf("%s/%d", e.Life, e.Replica)
		switch e.Kind {
		case results.LifeStarting, results.LifeSpawned:
			open[key] = true
		case results.LifeStopped:
			delete(open, key)
		case results.LifeFailed:
			if e.Process == nil && !spawned(run.Events, e) {
				delete(open, key) // it never ran
			}
		default:
		}
	}
	for life := range open {
		w.t.Errorf("journal: life %s has no end", life)
	}
	for _, step := range run.Steps {
		if step.Result.Verdict == "" {
			w.t.Errorf("step %s has no verdict", step.Result.Step.ID)
		}
	}
}

func spawned(events []results.Event, of results.Event) bool {
	for _, e := range events {
		if e.Kind == results.LifeSpawned && e.Life == of.Life && e.Replica == of.Replica {
			return true
		}
	}
	return false
}
