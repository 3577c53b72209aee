package launchers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// containerKinds are the kinds that can run in a container.
func containerKinds() []engines.Kind {
	return slices.DeleteFunc(launched(), func(k engines.Kind) bool { return k.Simulated })
}

// contain makes a bench run its server in a container of a fake engine.
func contain(t *testing.T, b *bench, engine string, config fakecontainer.Config) {
	t.Helper()
	config.Dir = t.TempDir()
	folder := t.TempDir()
	if err := fakecontainer.Install(folder, engine, config); err != nil {
		t.Fatal(err)
	}
	b.Environ = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	b.limits = limitsFor(config)
	b.spec.Binary = nil
	b.spec.Container = container.Options{Image: "registry.example/engine:1", Engine: engine}
	b.spec.StopGrace = 2 * time.Second
	t.Cleanup(func() { b.noContainerLeft(t, config.Dir) })
}

// limitsFor are generous, for every call of the fake client starts this test
// binary on a machine that may be busy, but for those that have to run out: of
// commands that hang, end late or do nothing.
func limitsFor(config fakecontainer.Config) *container.Limits {
	limits := container.DefaultLimits()
	limits.Ask, limits.LogDelay, limits.Again = time.Minute, time.Minute, 50*time.Millisecond
	for _, command := range slices.Concat(config.Hang, config.Late, config.Lie) {
		switch command {
		case "version":
			limits.Ask = 2 * time.Second
		case "run":
			limits.Run = 5 * time.Second
		case "stop", "kill":
			limits.Kill = 3 * time.Second
		case "rm":
			limits.Remove = 4 * time.Second
		}
	}
	return &limits
}

// noContainerLeft expects that the engine knows no container any more.
func (b *bench) noContainerLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*", "box.json"))
	if err != nil || len(left) > 0 {
		t.Errorf("containers left: %v, %v", left, err)
	}
}

func TestConformanceContainer(t *testing.T) {
	t.Parallel()
	for _, kind := range containerKinds() {
		for _, engine := range []string{"docker", "podman"} {
			t.Run(kind.Name+" "+engine, func(t *testing.T) {
				t.Parallel()
				b := prepare(t, kind, fakeengine.Config{
					Loading: 200 * time.Millisecond,
					Lines:   []string{"hello from within"},
				})
				contain(t, b, engine, fakecontainer.Config{})
				b.spec.Env["HF_TOKEN"], b.spec.Secrets = "hf_secret-token", []string{"hf_secret-token"}
				server := b.launch(t)
				info := server.Info()
				if argv := strings.Join(info.Argv, " "); !strings.Contains(argv, " -e HF_TOKEN ") ||
					strings.Contains(argv, "secret-token") {
					t.Errorf("argv = %q, want HF_TOKEN without its value", argv)
				}
				spawned := b.journal.last(results.LifeSpawned).Process
				if spawned == nil || spawned.Container == nil || spawned.Container.Engine != engine ||
					len(spawned.Container.ID) != 64 || spawned.Session != 0 {
					t.Errorf("journal tells process %+v, want a container with its id", spawned)
				}
				if tree, err := server.process.Tree(); err != nil || len(tree) == 0 || tree[0].PID != info.PID {
					t.Errorf("Tree() = %v, %v, want the container's first process %d", tree, err, info.PID)
				}
				if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() || !slices.Equal(proof.Signals,
					[]string{"TERM"}) {
					t.Errorf("Stop() = %+v, %v, want a clean proof after TERM", proof, err)
				}
				b.story(t, storyGood)
				if text, err := os.ReadFile(b.spec.LogPath); err != nil || !strings.Contains(string(text),
					"hello from within") {
					t.Errorf("server log = %q, %v, want the container's", text, err)
				}
			})
		}
	}
}

// Whatever the engine's client does, the server ends, or the failure says that
// it did not.
func TestContainerFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		config  fakecontainer.Config
		engine  fakeengine.Config
		signals string
	}{
		{"stop hangs", fakecontainer.Config{Hang: []string{"stop"}}, fakeengine.Config{}, "TERM KILL"},
		{"stop lies", fakecontainer.Config{Lie: []string{"stop"}}, fakeengine.Config{}, "TERM KILL"},
		{"stop and kill lie", fakecontainer.Config{Lie: []string{"stop", "kill"}}, fakeengine.Config{}, "TERM KILL"},
		{"stop and kill hang", fakecontainer.Config{Hang: []string{"stop", "kill"}}, fakeengine.Config{}, "TERM KILL"},
		{"ignores TERM", fakecontainer.Config{}, fakeengine.Config{IgnoreTerm: true}, "TERM"},
		{"removal fails twice", fakecontainer.Config{RemoveFails: 2}, fakeengine.Config{}, "TERM"},
		{"wait lies", fakecontainer.Config{Lie: []string{"wait"}}, fakeengine.Config{}, "TERM"},
		{"wait hangs", fakecontainer.Config{Hang: []string{"wait"}}, fakeengine.Config{}, "TERM"},
		{"logs end early", fakecontainer.Config{Lie: []string{"logs"}}, fakeengine.Config{}, "TERM"},
		{"logs hang", fakecontainer.Config{Hang: []string{"logs"}}, fakeengine.Config{}, "TERM"},
		{"removal is done and never ends", fakecontainer.Config{Late: []string{"rm"}}, fakeengine.Config{}, "TERM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), c.engine)
			contain(t, b, "docker", c.config)
			server := b.launch(t)
			pid := server.Info().PID
			proof, err := server.Stop(t.Context())
			if err != nil || !proof.Clean() || strings.Join(proof.Signals, " ") != c.signals {
				t.Errorf("Stop() = %+v, %v, want a clean proof after %s", proof, err, c.signals)
			}
			if err := syscall.Kill(pid, 0); err == nil {
				if start, seen := proc.System.StartTime(pid); seen {
					t.Errorf("process %d (start %d) outlives the proof", pid, start)
				}
			}
		})
	}
}

// A line that was logged while nobody followed is not lost.
func TestContainerLogGoesOn(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Lines: []string{"The server is fired up"}})
	contain(t, b, "docker", fakecontainer.Config{LogsFail: 1})
	b.spec.Ready.Log = "fired up"
	server := b.launch(t)
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

func TestContainerNotStopped(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{Lie: []string{"rm"}})
	server := b.launch(t)
	_, err := server.Stop(t.Context())
	if failure := asFailure(err); failure.Class != results.FailNoProof || !strings.Contains(failure.Message,
		"still there") {
		t.Errorf("Stop() = %v, want class %s and the reason", err, results.FailNoProof)
	}
	honest := t.TempDir()
	dir := stateDir(t, b)
	if err := fakecontainer.Install(honest, "docker", fakecontainer.Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "PATH="+honest)
	left, err := container.Leftovers(t.Context(), "docker", server.spec.Cookie, environ)
	if err != nil || len(left) != 1 {
		t.Fatalf("Leftovers() = %v, %v, want the container", left, err)
	}
	if err := container.End(t.Context(), left[0], environ); err != nil {
		t.Errorf("End() = %v", err)
	}
}

// stateDir is the fake engine's folder of a bench that contain prepared.
func stateDir(t *testing.T, b *bench) string {
	t.Helper()
	for _, entry := range slices.Backward(b.Environ) {
		if path, found := strings.CutPrefix(entry, "PATH="); found {
			folder, _, _ := strings.Cut(path, ":")
			text, err := os.ReadFile(filepath.Join(folder, "docker"))
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(text), `"Dir":"`)
			dir, _, _ := strings.Cut(rest, `"`)
			return dir
		}
	}
	t.Fatal("no PATH")
	return ""
}

func TestContainerStartFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config fakecontainer.Config
		want   results.FailureClass
		says   string
	}{
		{"run hangs", fakecontainer.Config{Hang: []string{"run"}}, results.FailContainer, "still running after 5s"},
		{
			"runs and the client hangs",
			fakecontainer.Config{Late: []string{"run"}},
			results.FailContainer,
			"still running after 5s",
		},
		{
			"no device",
			fakecontainer.Config{Fail: map[string]string{"run": `could not select device driver "" with capabilities: [[gpu]].`}},
			results.FailNoGPU, "toolkit",
		},
		{
			"unknown flag",
			fakecontainer.Config{Fail: map[string]string{"run": "unknown flag: --gpu"}},
			results.FailBadRecipe, "--gpu",
		},
		{
			"no image",
			fakecontainer.Config{
				Missing: true,
				Fail:    map[string]string{"pull": "pull access denied for registry.example/engine"},
			},
			results.FailImage,
			"pull access denied",
		},
		{
			"no daemon",
			fakecontainer.Config{Fail: map[string]string{"version": "Cannot connect to the Docker daemon"}},
			results.FailContainer, "Cannot connect",
		},
		{"daemon hangs", fakecontainer.Config{Hang: []string{"version"}}, results.FailContainer, "still running after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), fakeengine.Config{})
			contain(t, b, "docker", c.config)
			failure := b.refuse(t, c.want)
			if !strings.Contains(failure.Message, c.says) {
				t.Errorf("failure = %q, want it to say %q", failure.Message, c.says)
			}
		})
	}
}

func TestContainerPullsImage(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{Missing: true})
	var mu sync.Mutex
	var told []string
	b.spec.OnReadinessChange = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text)
	}

	server := b.launch(t)
	if c := server.Info().Container; c == nil || c.Image == nil || c.Image.ID != "sha256:0" ||
		c.Image.Digest != "sha256:d1" ||
		c.Image.Labels["org.opencontainers.image.version"] != "0.9" {
		t.Errorf("Info().Container = %+v, want the image's id, digest and labels", c)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(told, "|"); !strings.Contains(all, "image "+b.spec.Container.Image+
		": a1b2: Pulling fs layer|") ||
		strings.ContainsAny(all, "\x1b\a") {
		t.Errorf("told %q, want how far the pull is, without escape sequences", all)
	}
}

// The end of a container is seen, with what its engine knows of it.
func TestContainerEnds(t *testing.T) {
	t.Parallel()
	oom := "torch.OutOfMemoryError: CUDA out of memory."
	for _, c := range []struct {
		name   string
		config fakecontainer.Config
		engine fakeengine.Config
		want   results.FailureClass
		says   string
	}{
		{
			"exits",
			fakecontainer.Config{},
			fakeengine.Config{Lines: []string{"last words"}, ExitAtOnce: new(3)},
			results.FailExited, "last words",
		},
		{
			"OOMKilled",
			fakecontainer.Config{OOMKilled: true},
			fakeengine.Config{ExitAtOnce: new(137)},
			results.FailOutOfMemory, "OOMKilled",
		},
		{
			"fatal line",
			fakecontainer.Config{},
			fakeengine.Config{Lines: []string{oom}, ExitAtOnce: new(1)},
			results.FailOutOfMemory, oom,
		},
		{"fatal line, wait hangs", fakecontainer.Config{Hang: []string{"wait"}}, fakeengine.Config{
			Lines:      []string{oom},
			ExitAtOnce: new(1),
		}, results.FailOutOfMemory, oom},
		{
			"wait and logs hang",
			fakecontainer.Config{Hang: []string{"wait", "logs"}},
			fakeengine.Config{ExitAtOnce: new(4)},
			results.FailExited, "code 4",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), c.engine)
			contain(t, b, "docker", c.config)
			b.ownEnd = time.Minute // its own end is what is tested, however slow the machine
			failure := b.refuse(t, c.want)
			if !strings.Contains(failure.Message, c.says) || failure.ExitCode == nil ||
				*failure.ExitCode != *c.engine.ExitAtOnce {
				t.Errorf("failure = %q, exit code %v, want %q and %d", failure.Message, failure.ExitCode, c.says,
					*c.engine.ExitAtOnce)
			}
			b.story(t, storyBad)
		})
	}
}

func TestContainerKilledWhileServing(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{Hang: []string{"wait"}})
	server := b.launch(t)
	kill(server)
	select {
	case <-server.Done():
	case <-time.After(patience):
		t.Fatal("Done() is open long after the container's end")
	}
	if failure := server.Failure(); failure.Class != results.FailExited || failure.ExitCode == nil ||
		*failure.ExitCode != 137 {
		t.Errorf("Failure() = %v with exit code %v, want %s with 137", failure, failure.ExitCode, results.FailExited)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

// KillNow, as the second Ctrl-C asks for, does not wait for the grace.
func TestContainerKilledNow(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{IgnoreTerm: true})
	contain(t, b, "docker", fakecontainer.Config{})
	b.spec.StopGrace = 10 * time.Minute
	server := b.launch(t)
	timer := time.AfterFunc(300*time.Millisecond, b.KillNow)
	defer timer.Stop()
	began := time.Now()
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() || time.Since(began) > b.spec.StopGrace/2 {
		t.Errorf("Stop() = %+v, %v after %v, want a clean proof soon", proof, err, time.Since(began))
	}
}

// A container that carries other labels is not ours, whatever its name.
func TestContainerLeftovers(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{})
	server := b.launch(t)
	for _, c := range []struct {
		cookie string
		want   int
	}{{server.spec.Cookie, 1}, {"", 1}, {"another", 0}} {
		left, err := container.Leftovers(t.Context(), "docker", c.cookie, b.Environ)
		if err != nil || len(left) != c.want {
			t.Errorf("Leftovers(%q) = %v, %v, want %d", c.cookie, left, err, c.want)
		}
	}
	ours := *b.journal.last(results.LifeSpawned).Process.Container
	wrong := ours
	wrong.Label = "benchrig.cookie=another"
	if err := container.End(t.Context(), wrong, b.Environ); err == nil || !strings.Contains(err.Error(),
		"did not start it") {
		t.Errorf("End(other label) = %v, want a refusal", err)
	}
	if err := container.End(t.Context(), ours, b.Environ); err != nil {
		t.Errorf("End() = %v", err)
	}
	if err := container.End(t.Context(), ours, b.Environ); err != nil {
		t.Errorf("End() again = %v, want nil: it is gone", err)
	}
	if _, err := container.Leftovers(t.Context(), "docker", "", []string{"PATH=/nonexistent"}); !errors.Is(err,
		process.ErrNotFound) {
		t.Errorf("Leftovers() without a client = %v, want ErrNotFound", err)
	}
}

// The client that follows the log ends again and again; the container's
// processes, which are younger than it, do not end with it.
func TestContainerLogClientEndsAlone(t *testing.T) {
	t.Parallel()
	const late = 6
	b := prepare(t, vllm(t), fakeengine.Config{LateChildren: late})
	contain(t, b, "docker", fakecontainer.Config{Lie: []string{"logs"}})
	server := b.launch(t)
	seen := 0
	for end := time.Now().Add(time.Minute); seen <= late && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		seen = len(server.OwnPIDs())
	}
	if seen != 1+late {
		t.Errorf("%d processes in the container, want the engine and %d children", seen, late)
	}
	for _, pid := range server.OwnPIDs() { // a fake engine's container does not end its children
		if pid != server.Info().PID {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

// The pid that an engine of another machine or namespace reports is a stranger's
// here.
func TestContainerPIDOfAStranger(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{WrongPID: os.Getpid()})
	b.spec.Container.Network = "bridge" // its listener is not looked for here
	server := b.launch(t)
	if pids := server.OwnPIDs(); len(pids) != 0 || server.Info().PID != 0 {
		t.Errorf("OwnPIDs() = %v, pid %d, want none: it is this test's", pids, server.Info().PID)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}
