// Package realcontainer is a test helper: it starts a real container engine,
// docker or podman, apart from any that the machine has, and gives it an image
// whose program is the fake engine.
//
// What goes in: a test, and the engine's name. What comes out: the environment
// in which clients find the engine; or the test is skipped with the reason. It
// pulls nothing, and leaves nothing behind.
package realcontainer

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/text"
)

// Images that an Engine has.
const (
	Image     = "bench.test/engine:1" // its entry point is the fake engine
	BareImage = "bench.test/bare:1"   // it has none; the program is Program
	Program   = "/engine"
)

// Engine is a container engine that runs.
type Engine struct {
	Name    string
	Environ []string // of its clients
	Wrapper []string // what its clients are run by; nil: nothing

	t       testing.TB
	daemon  *exec.Cmd // nil: podman has none
	dir     string
	options []Option
	bridge  string // of the daemon's own network; "": it has none
}

// Option says how an engine runs.
type Option int

// The options.
const (
	// WithBridge has containers that do not share the machine's network. Docker
	// gets a bridge of its own; clients of podman are run in a network namespace of
	// their own, where its plugins leave what they like.
	WithBridge Option = iota + 1
	// Rootless runs the clients of podman as User.
	Rootless
)

// User is who Rootless clients are run as; it needs no name.
const User = 4321

// Start starts an engine with its images, for as long as the test runs.
func Start(t testing.TB, name string, options ...Option) *Engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s: it is run as root here", name)
	}
	client, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	base := ""
	if slices.Contains(options, Rootless) {
		base = "/var/tmp" // which every user can enter
	}
	dir, err := os.MkdirTemp(base, "bench-"+name+"-") //nolint:usetesting // short, for sockets; removed once the daemon is gone
	if err != nil {
		t.Fatal(err)
	}

	e := &Engine{Name: name, t: t, dir: dir, options: options}
	t.Cleanup(e.remove)
	if name == "docker" {
		if e.has(WithBridge) {
			e.makeBridge()
		}
		e.StartDaemon(t)
	} else {
		e.wrap()
		e.installPodman(client)
	}
	e.importImages()
	e.try()

	return e
}

// try runs a container as the options have it, and with an init process as bench
// does, which podman may lack; where the engine alone cannot, the test is skipped.
func (e *Engine) try() {
	e.t.Helper()
	network := "host"
	if e.has(WithBridge) {
		network = "bridge"
	}
	out, err := e.Output("run", "--rm", "--init", "--network", network, "--ipc", "private",
		"--entrypoint", Program, BareImage)
	if strings.Contains(fmt.Sprint(out, err), fakeengine.Variable+" is not set") {
		return // what the program says on stderr without its variable
	}
	e.t.Skipf("%s runs no container here with options %v: %v: %s", e.Name, e.options, err, text.LastLine(out))
}

func (e *Engine) has(o Option) bool { return slices.Contains(e.options, o) }

// Variables are those that make clients find the engine.
func (e *Engine) Variables() []string {
	if e.Name == "docker" {
		return []string{
			"PATH=" + os.Getenv("PATH"), "DOCKER_HOST=unix://" + e.path("docker.sock"), "DOCKER_CONFIG=" + e.dir,
		}
	}
	return []string{"PATH=" + e.path("bin") + ":" + os.Getenv("PATH")}
}

// makeBridge makes the network of docker's containers, with few addresses that no
// other test has at the same time.
func (e *Engine) makeBridge() {
	e.t.Helper()
	const inThird = 64 // networks of four addresses in the last number
	n := os.Getpid()
	name := fmt.Sprintf("bench%d", n%1_000_000)
	address := fmt.Sprintf("10.213.%d.%d/30", n/inThird%256, n%inThird*4+1)
	for _, args := range [][]string{
		{"link", "add", name, "type", "bridge"},
		{"address", "add", address, "dev", name},
		{"link", "set", name, "up"},
	} {
		out, err := exec.CommandContext(e.t.Context(), "ip", args...).CombinedOutput()
		if err != nil {
			e.t.Skipf("no bridge can be made here: ip %v: %v: %s", args, err, out)
		}
		e.bridge = name
	}
}

// wrap says what podman's clients are run by.
func (e *Engine) wrap() {
	e.t.Helper()
	switch {
	case e.has(Rootless):
		user := strconv.Itoa(User)
		e.Wrapper = []string{"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"}
		for _, folder := range []string{"home", "user"} {
			if err := os.Mkdir(e.path(folder), 0o700); err != nil {
				e.t.Fatal(err)
			}
		}
	case e.has(WithBridge):
		e.Wrapper = []string{"unshare", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	}
	if e.Wrapper == nil {
		return
	}
	if out, err := e.wrapped("true").CombinedOutput(); err != nil {
		e.t.Skipf("%v is not possible here: %v: %s", e.Wrapper, err, out)
	}
}

// wrapped is a program run by the wrapper.
func (e *Engine) wrapped(program string, args ...string) *exec.Cmd {
	argv := slices.Concat(e.Wrapper, []string{program}, args)
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...) // also used in clean-up
	cmd.Dir = "/"

	return cmd
}

func (e *Engine) path(parts ...string) string {
	return filepath.Join(append([]string{e.dir}, parts...)...)
}

// StartDaemon starts dockerd, which was ended or never ran.
func (e *Engine) StartDaemon(t testing.TB) {
	t.Helper()
	program, err := exec.LookPath("dockerd")
	if err != nil {
		t.Skip("dockerd is not installed")
	}
	log, err := os.OpenFile(e.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	e.Environ = append(os.Environ(), e.Variables()...)
	e.daemon = exec.CommandContext(context.Background(), program, // it outlives the test's own context
		"--host", "unix://"+e.path("docker.sock"), "--data-root", e.path("data"), "--exec-root", e.path("exec"),
		"--pidfile", e.path("pid"), "--bridge", cmp.Or(e.bridge, "none"),
		"--iptables=false", "--ip6tables=false", "--ip-forward=false", "--storage-driver", "vfs")
	e.daemon.Stdout, e.daemon.Stderr = log, log
	e.daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := e.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if e.command("version", "--format", "{{.Server.Version}}").Run() == nil {
			return
		}
	}
	said, _ := os.ReadFile(e.path("log"))
	t.Skipf("dockerd does not come up here: %s", text.LastLine(string(said)))
}

// KillDaemon kills dockerd, as a crash or an upgrade does.
func (e *Engine) KillDaemon() {
	_ = e.daemon.Process.Kill()
	_ = e.daemon.Wait()
	_ = os.Remove(e.path("pid"))

	// Its containerd is an orphan, ours where this program adopts orphans.
	text, _ := os.ReadFile(e.path("exec", "containerd", "containerd.pid"))
	if pid, err := strconv.Atoi(string(text)); err == nil && pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	}
	_ = os.Remove(e.path("exec", "containerd", "containerd.pid"))
}

// PauseDaemon stops dockerd (SIGSTOP): it answers nothing until ContinueDaemon.
func (e *Engine) PauseDaemon() { _ = e.daemon.Process.Signal(syscall.SIGSTOP) }

// ContinueDaemon makes dockerd continue after PauseDaemon.
func (e *Engine) ContinueDaemon() { _ = e.daemon.Process.Signal(syscall.SIGCONT) }

// installPodman writes a client that keeps everything below the engine's folder.
func (e *Engine) installPodman(client string) {
	e.t.Helper()
	own := ""
	if e.has(Rootless) {
		user := e.path("user")
		own = fmt.Sprintf("export HOME=%s XDG_RUNTIME_DIR=%s TMPDIR=%s\n", e.path("home"), user, user)
	}

	script := fmt.Sprintf(`#!/bin/sh
%sCONTAINERS_CONF=%s exec %s --log-level error --root %s --runroot %s --tmpdir %s --storage-driver vfs --cgroup-manager cgroupfs --runtime runc --events-backend file "$@"
`, own, e.path("containers.conf"), client, e.path("data"), e.path("run"), e.path("tmp"))

	// Its own limits may be above what this machine permits.
	const config = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n"
	if err := os.WriteFile(e.path("containers.conf"), []byte(config), 0o644); err != nil {
		e.t.Fatal(err)
	}
	if err := os.MkdirAll(e.path("bin"), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(e.path("bin", "podman"), []byte(script), 0o755); err != nil {
		e.t.Fatal(err)
	}

	if err := e.give(); err != nil {
		e.t.Fatal(err)
	}
	e.Environ = append(os.Environ(), e.Variables()...)
	if out, err := e.command("info").CombinedOutput(); err != nil {
		e.t.Skipf("podman does not work here: %s", text.LastLine(string(out)))
	}
}

// give makes the engine's folder the user's where its clients are not root.
func (e *Engine) give() error {
	if !e.has(Rootless) {
		return nil
	}
	return filepath.WalkDir(e.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, User, User)
	})
}

func (e *Engine) command(args ...string) *exec.Cmd {
	program := e.Name
	if e.Name == "podman" {
		program = e.path("bin", "podman")
	}
	cmd := e.wrapped(program, args...)
	cmd.Env = e.Environ

	return cmd
}

// Output runs the client and returns what it prints on stdout. Docker warns on
// stderr, even when it prints an id; the error has what was there.
func (e *Engine) Output(args ...string) (string, error) {
	out, err := e.command(args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
	}

	return strings.TrimSpace(string(out)), err
}

// importImages makes the images of one static program.
func (e *Engine) importImages() {
	e.t.Helper()
	program := e.path("engine")
	build := exec.CommandContext(e.t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", program,
		"github.com/benchrig/bench/internal/fakeengine/standalone")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		e.t.Fatalf("build the fake engine: %v: %s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		e.t.Fatal(err)
	}

	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Name: "engine", Mode: 0o755, Size: int64(len(text))}
	if err := w.WriteHeader(header); err != nil {
		e.t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		e.t.Fatal(err)
	}
	for _, folder := range []string{"tmp", "proc", "sys", "dev", "etc"} {
		if err := w.WriteHeader(&tar.Header{Name: folder + "/", Typeflag: tar.TypeDir, Mode: 0o777}); err != nil {
			e.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(e.path("image.tar"), archive.Bytes(), 0o644); err != nil {
		e.t.Fatal(err)
	}

	if err := e.give(); err != nil {
		e.t.Fatal(err)
	}
	for image, change := range map[string]string{Image: `ENTRYPOINT ["` + Program + `"]`, BareImage: "ENV PATH=/"} {
		if out, err := e.Output("import", "--change", change, e.path("image.tar"), image); err != nil {
			e.t.Fatalf("import an image: %v: %s", err, out)
		}
	}
}

// remove ends the engine and removes all that it had.
func (e *Engine) remove() {
	ids, _ := e.command("ps", "-aq").Output()
	for id := range strings.FieldsSeq(string(ids)) {
		_ = e.command("rm", "-f", id).Run()
	}
	if e.daemon != nil {
		e.ContinueDaemon()
		_ = e.daemon.Process.Signal(syscall.SIGTERM)
		ended := time.AfterFunc(time.Minute, func() { _ = e.daemon.Process.Kill() })
		_ = e.daemon.Wait()
		ended.Stop()
	}
	if e.bridge != "" {
		remove := exec.CommandContext(context.Background(), "ip", "link", "delete", e.bridge)
		if out, err := remove.CombinedOutput(); err != nil {
			e.t.Errorf("remove the bridge: %v: %s", err, out)
		}
	}

	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(words[1], e.dir+"/") {
			_ = syscall.Unmount(words[1], syscall.MNT_DETACH)
		}
	}
	if err := os.RemoveAll(e.dir); err != nil {
		e.t.Errorf("remove the container engine: %v", err)
	}
}
