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
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

	t      testing.TB
	daemon *exec.Cmd // nil: podman has none
	dir    string
}

// Start starts an engine with its images, for as long as the test runs.
func Start(t testing.TB, name string) *Engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s: it is run as root here", name)
	}
	client, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	dir, err := os.MkdirTemp("", "bench-"+name+"-") //nolint:usetesting // short, for sockets; removed once the daemon is gone
	if err != nil {
		t.Fatal(err)
	}

	e := &Engine{Name: name, t: t, dir: dir}
	t.Cleanup(e.remove)
	if name == "docker" {
		e.Environ = append(os.Environ(), "DOCKER_HOST=unix://"+e.path("docker.sock"), "DOCKER_CONFIG="+dir)
		e.StartDaemon(t)
	} else {
		e.installPodman(client)
	}
	e.importImages()

	return e
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

	e.daemon = exec.CommandContext(context.Background(), program, // it outlives the test's own context
		"--host", "unix://"+e.path("docker.sock"), "--data-root", e.path("data"), "--exec-root", e.path("exec"),
		"--pidfile", e.path("pid"),
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver", "vfs")
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

// installPodman writes a client that keeps everything below the engine's folder.
func (e *Engine) installPodman(client string) {
	e.t.Helper()
	script := fmt.Sprintf(`#!/bin/sh
CONTAINERS_CONF=%s exec %s --root %s --runroot %s --tmpdir %s --storage-driver vfs --cgroup-manager cgroupfs --runtime runc --events-backend file "$@"
`, e.path("containers.conf"), client, e.path("data"), e.path("run"), e.path("tmp"))
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
	e.Environ = append(os.Environ(), "PATH="+e.path("bin")+":"+os.Getenv("PATH"))
	if out, err := e.command("info").CombinedOutput(); err != nil {
		e.t.Skipf("podman does not work here: %s", text.LastLine(string(out)))
	}
}

func (e *Engine) command(args ...string) *exec.Cmd {
	program := e.Name
	if e.Name == "podman" {
		program = e.path("bin", "podman")
	}
	cmd := exec.CommandContext(context.Background(), program, args...) // also used in clean-up
	cmd.Env = e.Environ

	return cmd
}

// Output runs the client and returns what it prints.
func (e *Engine) Output(args ...string) (string, error) {
	out, err := e.command(args...).CombinedOutput()

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
		_ = e.daemon.Process.Signal(syscall.SIGTERM)
		ended := time.AfterFunc(time.Minute, func() { _ = e.daemon.Process.Kill() })
		_ = e.daemon.Wait()
		ended.Stop()
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
