package chaos

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/stranger"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

// bystander is a process outside of every run that must survive everything.
type bystander struct {
	what string
	cmd  *exec.Cmd
}

// startBystanders starts what looks as much like an engine of ours as can be: a
// worker that carries the cookie of another run, a server with the very
// command line of ours, and one that listens on the next port.
func (w *world) startBystanders() {
	w.t.Helper()
	const cookie = "BENCH_COOKIE=0123456789abcdef0123456789abcdef.ANOTHERRUN"
	w.bystander("a worker of another run", []string{"fake-engine-child", `{"Session":true}`}, cookie)
	twin := healthy("vllm")
	twin.Silent = true
	w.bystander("a server with our command line", w.serverArgs(), twin.Env(), cookie)
	neighbour := healthy("vllm")
	neighbour.Port = strconv.Itoa(w.port + 1)
	w.bystander("a server on the next port", w.serverArgs(), neighbour.Env())
	w.docker(fakecontainer.Config{})
	w.startForeignContainer()
	w.startStranger()
	w.awaitListener(w.port + 1)
}

// startStranger starts somebody else's program, which holds what engines hold.
func (w *world) startStranger() {
	w.t.Helper()
	dir := w.t.TempDir()
	w.stranger = stranger.Config{
		Shm: "/dev/shm", ID: w.id, Dir: dir, Port: w.port + 3,
		Ready: filepath.Join(dir, "ready"), Noticed: filepath.Join(dir, "noticed"),
		// memory of a GPU where the world has some, and a container
		Kept: append(w.boxes(), w.path("machine", "sys/class/kfd/kfd/proc/PID")),
	}
	w.strangerPID = w.bystander("a stranger's program", nil, w.stranger.Env()).Process.Pid
	w.t.Cleanup(func() {
		for _, name := range w.stranger.Files() {
			_ = os.Remove(filepath.Join(w.stranger.Shm, name))
		}
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(poll) {
		if _, err := os.Stat(w.stranger.Ready); err == nil {
			return
		}
		if noticed, err := os.ReadFile(w.stranger.Noticed); err == nil {
			w.t.Fatalf("the stranger: %s", noticed)
		}
	}
	w.t.Fatal("the stranger does not come up")
}

// serverArgs are the arguments of the night's servers.
func (w *world) serverArgs() []string {
	w.t.Helper()
	kind, _ := engines.Lookup("vllm")
	command, err := launchers.Plan(kind, recipe.Spec{
		Launcher: "vllm", Binary: []string{self(w.t)}, Model: "m",
		Host: "127.0.0.1", Port: w.port,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return command.Argv[1:]
}

func (w *world) bystander(what string, args []string, env ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(self(w.t), args...)
	cmd.Dir = w.t.TempDir()
	cmd.Env = append(append(os.Environ(), "SPT_NOENV=1", "GORACE="+fakeengine.PromptExit), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	w.bystanders = append(w.bystanders, bystander{what, cmd})
	return cmd
}

// awaitListener waits until something listens on a port.
func (w *world) awaitListener(port int) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(poll) {
		if answers(port) {
			return
		}
	}
	w.t.Fatalf("nothing listens on port %d", port)
}

func answers(port int) bool {
	conn, err := net.Dial("tcp", address(port))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// unharmed asserts that all bystanders are there and do what they did.
func (w *world) unharmed() {
	w.t.Helper()
	for _, b := range w.bystanders {
		if state(b.cmd.Process.Pid) == "Z" || errors.Is(b.cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			w.t.Errorf("ended: %s", b.what)
		}
	}
	if noticed, err := os.ReadFile(w.stranger.Noticed); err == nil {
		w.t.Errorf("the stranger noticed us: %s", noticed)
	}
	foreign, err := os.ReadFile(filepath.Join(w.stranger.Kept[0], "box.json"))
	if err != nil || !strings.Contains(string(foreign), `"Running":true`) {
		w.t.Errorf("the container of another run was ended: %v", err)
	}
	if !answers(w.port + 1) {
		w.t.Errorf("nothing listens on the next port any more")
	}
}

func bindable(port int) error {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	return l.Close()
}
