package chaos

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// containerFaults are those of a container engine and its client, played by a
// fake one. Its containers are processes that outlive the client.
func containerFaults() []fault {
	const spawn = "spawn"
	plain := fakecontainer.Config{}
	return []fault{
		container(fault{stage: stop, kind: "leak", name: "the container outlives its client"}, plain),
		container(fault{stage: stop, kind: "lie", name: "docker stop reports success and does nothing"},
			fakecontainer.Config{Lie: []string{"stop"}}),
		container(fault{stage: stop, kind: "hang", name: "docker stop hangs"},
			fakecontainer.Config{Hang: []string{"stop"}}),
		container(fault{stage: stop, kind: "crash", name: "docker rm fails once"},
			fakecontainer.Config{RemoveFails: 1}),
		container(fault{stage: stop, kind: "hang", name: "the container ignores SIGTERM", engine: func(c *engine) {
			c.IgnoreTerm = true
		}}, plain),
		container(fault{
			stage: stop, kind: "lie", name: "docker rm reports success and does nothing", good: notRun,
			why: results.FailNoProof, after: headline("still there"),
		}, fakecontainer.Config{Lie: []string{"rm"}}),
		container(fault{
			stage: serve, kind: "crash", name: "the container is killed for lack of memory", engine: request("kill"),
			verdict: failed, class: results.FailOutOfMemory,
		}, fakecontainer.Config{OOMKilled: true}),
		container(fault{stage: serve, kind: "lie", name: "docker logs ends at once"},
			fakecontainer.Config{Lie: []string{"logs"}}),
		container(fault{
			stage: spawn, kind: "crash", name: "the image cannot be pulled", verdict: failed,
			class: results.FailImage,
		},
			fakecontainer.Config{
				Missing: true,
				Fail: map[string]string{"pull": "Error response from daemon: manifest for engine not found: " +
					"manifest unknown"},
			}),
		container(fault{
			stage: spawn, kind: "crash", name: "the container engine does not answer", verdict: failed,
			class: results.FailContainer,
		},
			fakecontainer.Config{Fail: map[string]string{
				"version": "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
				"image":   "Cannot connect to the Docker daemon", "run": "Cannot connect to the Docker daemon",
			}}),
		container(fault{
			stage: "load", kind: "crash", name: "the container ends while it loads",
			engine: exits(1, "RuntimeError: nothing to load"), verdict: failed, class: results.FailExited,
			says: "code 1",
		}, plain),
	}
}

// boxed runs the server of variant bad in a container of a fake engine.
func container(f fault, config fakecontainer.Config) fault {
	f.bad = lay(block{
		"binary": nil, "container": block{"image": "registry.example/engine:1", "engine": "docker"},
		"stop": block{"grace": "2s"},
	}, f.bad)
	f.prepare = func(w *world) { w.docker(config) }
	after := f.after
	f.after = func(w *world, end conclusion) {
		if left := w.containers(); len(left) > 0 && f.why != results.FailNoProof {
			w.t.Errorf("containers left: %v", left)
		}
		if after != nil {
			after(w, end)
		}
	}
	return f
}

// docker puts a fake container engine first in PATH.
func (w *world) docker(config fakecontainer.Config) {
	w.t.Helper()
	config.Dir = w.path("containers")
	for _, folder := range []string{config.Dir, w.path("bin")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := fakecontainer.Install(w.path("bin"), "docker", config); err != nil {
		w.t.Fatal(err)
	}
	w.setenv("PATH", w.path("bin")+":"+os.Getenv("PATH"))
}

// startForeignContainer runs a container of another run, which looks like ours.
func (w *world) startForeignContainer() {
	w.t.Helper()
	honest := w.path("honest") // a client without the faults
	if err := os.MkdirAll(honest, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := fakecontainer.Install(honest, "docker", fakecontainer.Config{Dir: w.path("containers")}); err != nil {
		w.t.Fatal(err)
	}
	silent := healthy("vllm")
	silent.Silent = true
	client := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(honest, "docker"), args...)
		cmd.Dir = w.t.TempDir()
		return cmd
	}
	run := client("run", "-d", "--name", foreignContainer, "--label", "benchrig.run=another", "--label",
		"benchrig.cookie=another.1",
		"-e", silent.Env(), "-e", "GORACE="+fakeengine.PromptExit, "registry.example/engine:1")
	if out, err := run.CombinedOutput(); err != nil {
		w.t.Fatalf("run a foreign container: %v: %s", err, out)
	}
	w.t.Cleanup(func() { _ = client("rm", "-f", foreignContainer).Run() })
}

const foreignContainer = "bench-another-01-a-0"

// boxes are the folders of all containers that the engine knows.
func (w *world) boxes() []string {
	left, _ := filepath.Glob(w.path("containers", "*", "box.json"))
	var folders []string
	for _, path := range left {
		folders = append(folders, filepath.Dir(path))
	}
	return folders
}

// containers are those that the engine still knows, without the foreign one.
func (w *world) containers() []string {
	w.t.Helper()
	return slices.DeleteFunc(w.boxes(), func(dir string) bool {
		text, _ := os.ReadFile(filepath.Join(dir, "box.json"))
		return strings.Contains(string(text), foreignContainer)
	})
}
