package chaos

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/realcontainer"
	"github.com/benchrig/bench/results"
)

// realWorld is a world whose servers run in containers of a real engine.
type realWorld struct {
	*world

	engine   *realcontainer.Engine
	watchdog string // its limit; "": the usual one
}

// realOrdeal is something that happens to a container of a real engine.
type realOrdeal struct {
	kind, name, want string
	only             string // "docker": its daemon is what it happens to
	short            bool   // it belongs to the short form, too
	run              func(realWorld)
}

func (o realOrdeal) row() row {
	return row{stage: "engines", kind: o.kind, name: o.name, want: o.want}
}

func realOrdeals() []realOrdeal {
	return []realOrdeal{
		{
			kind: "leak", name: "bench is killed, the container survives",
			want: "clean removes the container by its label, and no other; resume finishes the run", run: realKilled,
			short: true,
		},
		{
			kind: "crash", name: "the container is killed by another user under load",
			want: "failed: server-exited; the next variant is ok", run: realEnded,
		},
		{
			kind: "crash", name: "a worker is killed by the container's memory limit under load",
			want: "failed: out-of-memory; the next variant is ok", run: realWorkerKilled, short: true,
		},
		{
			kind: "hang", name: "the container is paused by another user under load",
			want: "failed: no-progress; the next variant is ok", run: realPaused,
		},
		{
			kind: "flood", name: "100 MB of log at once in the middle of a step",
			want: "ok; the next variant is ok", run: realFlood,
		},
		{
			kind: "crash", only: "docker", name: "the daemon is killed under load and stays away",
			want: "the run ends with not-stopped; once the daemon is back, clean removes the container and resume " +
				"finishes the run", run: realDaemonGone,
		},
		{
			kind: "hang", only: "docker",
			name: "the daemon is stopped (SIGSTOP) under load and continues after the step",
			want: "ok; the next variant is ok", run: realDaemonPaused,
		},
	}
}

// TestRealEngines runs bench against real engines of containers, as it is
// installed: clients, daemon, monitor and kernel are those of the machine.
func TestRealEngines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"docker", "podman"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := realcontainer.Start(t, name)
			for _, o := range realOrdeals() {
				if o.only != "" && o.only != name || !o.short && !whole() {
					continue
				}
				t.Run(title(o.row()), func(t *testing.T) {
					w := realWorld{world: newWorld(t), engine: engine}
					w.env = append(w.env, engine.Variables()...)
					o.run(w)
					w.clean()
					w.noContainer()
					if !t.Failed() {
						printed.add(o.row(), o.want)
					}
				})
			}
		})
	}
}

// noContainer asserts that the engine knows no container of the run.
func (w realWorld) noContainer() {
	w.t.Helper()
	if left, err := w.engine.Output("ps", "-aq", "--filter", "label=benchrig.run"); err != nil || left != "" {
		w.t.Errorf("containers left: %q, %v", left, err)
	}
}

// containers are the ids of the run's containers.
func (w realWorld) containers() []string {
	w.t.Helper()
	ids, err := w.engine.Output("ps", "-aq", "--filter", "label=benchrig.run")
	if err != nil {
		w.t.Errorf("list containers: %v: %s", err, ids)
	}
	return strings.Fields(ids)
}

// night is a scenario of two variants in containers: bad, with what is tested, and good.
func (w realWorld) night(change func(*engine), bad, all block) string {
	w.t.Helper()
	config := healthy("vllm")
	change(&config)
	good := healthy("vllm")
	contained := block{"binary": nil, "container": block{"image": realcontainer.Image, "engine": w.engine.Name}}

	return w.scenario(nil, block{
		"watchdog": block{"stall": cmp.Or(w.watchdog, "5m")},
		// logs hold up a server through its engine
		"load":   block{"timeouts": block{"first-token": "2m", "stall": "2m"}},
		"server": lay(contained, all),
		"variants": []block{
			lay(block{"name": "bad", "env": block{fakeengine.Variable: config.Value()}}, bad),
			{"name": "good", "env": block{fakeengine.Variable: good.Value()}},
		},
	})
}

// underLoad does something to the container of variant bad in the middle of its step.
func (w realWorld) underLoad(do func(id string)) {
	w.beside(func(ctx context.Context) {
		server, ok := w.await(ctx, kindOf(results.LifeSpawned))
		if !ok {
			return
		}
		if _, ok := w.await(ctx, kindOf(results.StepStarted)); ok {
			do(server.Process.Container.ID)
		}
	})
}

// ends runs the night and expects how it ended.
func (w realWorld) ends(night string, code int, steps string, class results.FailureClass) {
	w.t.Helper()
	w.expect(w.bench("run", night), code, steps)
	if class == "" {
		return
	}
	failure := w.read().Steps[0].Result.Failure
	if failure == nil || failure.Class != class {
		w.t.Errorf("the first step failed with %+v, want class %s", failure, class)
	}
}

// forEver is an engine whose steps end when something happens to it.
func forEver(c *engine) { request(fakeengine.FaultComments)(c) }

func realKilled(w realWorld) {
	stranger, err := w.engine.Output("run", "-d", "--label", "somebody=else", "-e",
		fakeengine.Config{Silent: true}.Env(),
		realcontainer.Image)
	if err != nil {
		w.t.Fatalf("run a stranger: %v", err)
	}
	defer func() { _, _ = w.engine.Output("rm", "-f", stranger) }()

	w.killed(w.night(slowly, nil, nil), kindOf(results.StepStarted), 0)
	if left := w.containers(); len(left) != 1 {
		w.t.Errorf("containers of the killed run: %v, want one", left)
	}
	if got := w.bench("clean", "--dry-run"); got.code != 3 || !strings.Contains(got.stdout, "containers bench-") {
		w.t.Errorf("bench clean --dry-run: exit code %d, want 3 and the container\n%s%s", got.code,
			got.stdout, got.stderr)
	}
	if got := w.bench("clean"); got.code != 0 {
		w.t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	w.noContainer()
	state, err := w.engine.Output("inspect", "--format", "{{.State.Running}}", stranger)
	if err != nil || state != "true" {
		w.t.Errorf("the stranger's container: running %q, %v", state, err)
	}
	w.resumes()
}

func realEnded(w realWorld) {
	w.underLoad(func(id string) {
		if _, err := w.engine.Output("kill", id); err != nil {
			w.t.Errorf("kill the container: %v", err)
		}
	})
	w.ends(w.night(forEver, nil, nil), 3, "failed, ok", results.FailExited)
}

func realWorkerKilled(w realWorld) {
	const smoke = 1 // the request of readiness
	loses := func(c *engine) { c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultWorker, From: smoke + 1}} }
	limit := block{"container": block{"args": []string{"--memory", "128m", "--memory-swap", "128m"}}}
	w.ends(w.night(loses, limit, nil), 3, "failed, ok", results.FailOutOfMemory)
}

func realPaused(w realWorld) {
	w.underLoad(func(id string) {
		if _, err := w.engine.Output("pause", id); err != nil {
			w.t.Errorf("pause the container: %v", err)
		}
	})
	w.watchdog = "3s"
	w.ends(w.night(forEver, nil, nil), 3, "failed, ok", results.FailNoProgress)
}

func realFlood(w realWorld) {
	w.limit = 5 * time.Minute
	w.ends(w.night(func(c *engine) { c.Flood, c.FloodAt = 100<<20, 4 }, nil, nil), 0, "ok, ok", "")
}

func realDaemonGone(w realWorld) {
	w.underLoad(func(string) { w.engine.KillDaemon() })
	got := w.bench("run", w.night(slowly, nil, nil))
	if run := w.read(); got.code != 3 || !strings.HasSuffix(verdicts(run), "not run") ||
		!slices.ContainsFunc(run.Events, func(e results.Event) bool {
			return e.Failure != nil && e.Failure.Class == results.FailNoProof
		}) {
		w.t.Errorf("exit code %d, steps %s; want 3, not run at last, as the container is not proven gone\n%s", got.code,
			verdicts(run), got.stderr)
	}

	w.meddlers = nil
	w.engine.StartDaemon(w.t)
	if got := w.bench("clean"); got.code != 0 {
		w.t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	w.noContainer()
	w.resumes()
}

func realDaemonPaused(w realWorld) {
	w.underLoad(func(string) { w.engine.PauseDaemon() })
	w.beside(func(ctx context.Context) {
		if _, ok := w.await(ctx, kindOf(results.LifeStopping)); ok {
			w.engine.ContinueDaemon()
		}
	})
	w.ends(w.night(slowly, nil, nil), 0, "ok, ok", "")
}

// TestBridge publishes ports of containers that have a network of their own. With
// podman all of it, bench too, is in a network namespace of its own: its plugins
// leave rules and a bridge in the one that they run in.
func TestBridge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"docker", "podman"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := realcontainer.Start(t, name, realcontainer.WithBridge)
			w := realWorld{world: newWorld(t), engine: e}
			w.env = append(w.env, e.Variables()...)
			w.wrapper = e.Wrapper
			bridge := block{"container": block{"network": "bridge"}}
			w.ends(w.night(func(*engine) {}, bridge, bridge), 0, "ok, ok", "")
			w.noContainer()
		})
	}
}

// TestRootless runs bench and podman as a user who is not root.
func TestRootless(t *testing.T) {
	t.Parallel()
	e := realcontainer.Start(t, "podman", realcontainer.Rootless)
	w := realWorld{world: newWorld(t), engine: e}
	w.env = append(w.env, e.Variables()...)
	w.wrapper = e.Wrapper
	w.giveTo(realcontainer.User)

	change := block{}
	if _, err := os.Stat("/dev/mqueue"); err != nil {
		change = block{"container": block{"ipc": "private"}} // podman mounts it for ipc: host
	}
	w.killed(w.night(slowly, change, change), kindOf(results.StepStarted), 0)
	if got := w.bench("clean"); got.code != 0 {
		t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	w.noContainer()
	w.resumes()
}

// giveTo makes the world's folder and the program under test a user's to enter.
func (w *world) giveTo(user int) {
	w.t.Helper()
	for _, folder := range []string{filepath.Dir(w.dir), filepath.Dir(binary)} {
		if err := os.Chmod(folder, 0o711); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := os.Chown(w.dir, user, user); err != nil {
		w.t.Fatal(err)
	}
	if out, err := exec.Command(w.wrapper[0], append(slices.Clone(w.wrapper[1:]), "test", "-x", binary)...).
		CombinedOutput(); err != nil {
		w.t.Skipf("TMPDIR is closed to user %d: %v: %s", user, err, out)
	}
}
