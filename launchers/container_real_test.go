package launchers

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/realcontainer"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// containReal makes a bench run its server in a container of a real engine.
func containReal(b *bench, e *realcontainer.Engine) {
	b.Environ = e.Environ
	b.spec.Binary = nil
	b.spec.Container = container.Options{Image: realcontainer.Image, Engine: e.Name}
	b.spec.StopGrace = 10 * time.Second
	delete(b.spec.Env, "GORACE")
}

// TestRealContainers runs servers in containers of real engines: what a fake
// client says is what is expected of them.
func TestRealContainers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"docker", "podman"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := realcontainer.Start(t, name)
			t.Run("serves", func(t *testing.T) { realServes(t, e) })
			t.Run("ends", func(t *testing.T) { realEnds(t, e) })
			t.Run("is refused", func(t *testing.T) { realRefused(t, e) })
			t.Run("loses a signal", func(t *testing.T) {
				b := prepare(t, vllm(t), losesTerm())
				containReal(b, e)
				b.stopStart(t)
				noneLeft(t, e, b)
			})
			t.Run("is left behind", func(t *testing.T) { realLeftBehind(t, e) })
			if name == "docker" {
				t.Run("daemon is killed", func(t *testing.T) { realDaemonKilled(t, e) })
			}
		})
	}
}

// realServes launches servers that come up, and stops them with proof.
func realServes(t *testing.T, e *realcontainer.Engine) {
	for _, c := range []struct {
		name    string
		kind    string
		engine  fakeengine.Config
		change  func(*bench)
		signals string
	}{
		{"vllm", "vllm", fakeengine.Config{Lines: []string{"hello from within"}}, nil, "TERM"},
		{
			"sglang, whose image has another entry point", "sglang",
			fakeengine.Config{Lines: []string{"hello from within"}},
			nil, "TERM",
		},
		{"tgi", "tgi", fakeengine.Config{Lines: []string{"hello from within"}}, nil, "TERM"},
		{"llamacpp", "llamacpp", fakeengine.Config{Lines: []string{"hello from within"}}, nil, "TERM"},
		{
			"an image without an entry point", "vllm",
			fakeengine.Config{Lines: []string{"hello from within"}},
			func(b *bench) {
				b.spec.Container.Image, b.spec.Container.Command = realcontainer.BareImage,
					[]string{realcontainer.Program}
			}, "TERM",
		},
		{
			"a read-only root and a small memory", "vllm",
			fakeengine.Config{Lines: []string{"hello from within"}},
			func(b *bench) {
				b.spec.Container.Args = []string{"--read-only", "--memory", "256m"}
			}, "TERM",
		},
		{
			"children and a deaf ear", "vllm",
			fakeengine.Config{
				IgnoreTerm: true, Lines: []string{"hello from within"},
				Children: []fakeengine.Child{{Session: true, Daemon: true, IgnoreTerm: true}},
			},
			func(b *bench) { b.spec.StopGrace = time.Second }, "TERM",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, _ := engines.Lookup(c.kind)
			b := prepare(t, kind, c.engine)
			containReal(b, e)
			if c.change != nil {
				c.change(b)
			}
			server := b.launch(t)
			info := server.Info()
			group, err := proc.System.CgroupText(strconv.Itoa(info.PID))
			if id := b.journal.last(results.LifeSpawned).Process.Container.ID; err != nil ||
				!strings.Contains(group, id) {
				t.Errorf("pid %d is in group %q, %v, want the container %s in it", info.PID, group, err, id)
			}
			if tree, err := server.process.Tree(); err != nil || len(tree) < 1+len(c.engine.Children) {
				t.Errorf("Tree() = %v, %v, want the processes of the container", tree, err)
			}
			proof, err := server.Stop(t.Context())
			if err != nil || !proof.Clean() || !slices.Equal(proof.Signals, strings.Fields(c.signals)) {
				t.Errorf("Stop() = %+v, %v, want a clean proof after %s", proof, err, c.signals)
			}
			if text, err := os.ReadFile(b.spec.LogPath); err != nil || !strings.Contains(string(text),
				"hello from within") {
				t.Errorf("server log = %q, %v, want the container's", text, err)
			}
			noneLeft(t, e, b)
		})
	}
}

// realEnds lets containers end by themselves.
func realEnds(t *testing.T, e *realcontainer.Engine) {
	for _, c := range []struct {
		name   string
		engine fakeengine.Config
		args   []string
		class  results.FailureClass
		says   string
	}{
		{
			"with a code",
			fakeengine.Config{Lines: []string{"last words"}, ExitAtOnce: new(3)},
			nil, results.FailExited,
			"last words",
		},
		{
			"for lack of memory",
			fakeengine.Config{Eat: 512 << 20},
			[]string{"--memory", "64m", "--memory-swap", "64m"},
			results.FailOutOfMemory, "OOMKilled",
		},
		{
			"as its worker was killed for lack of memory",
			fakeengine.Config{Request: []fakeengine.Fault{{Kind: fakeengine.FaultWorker, From: 1}}},
			[]string{"--memory", "128m", "--memory-swap", "128m"},
			results.FailOutOfMemory, "for lack of memory",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			// On a busy machine dockerd may miss the kernel's word that it killed for lack of memory.
			tries := 1
			if c.class == results.FailOutOfMemory {
				tries = 5
			}
			for try := 1; ; try++ {
				b := prepare(t, vllm(t), c.engine)
				containReal(b, e)
				b.spec.Container.Args = c.args
				_, err := b.Launch(t.Context(), b.kind, b.spec)
				failure := asFailure(err)
				noneLeft(t, e, b)

				switch {
				case failure != nil && failure.Class == c.class && strings.Contains(failure.Message, c.says):
					return
				case try == tries || failure == nil || failure.ExitCode == nil || *failure.ExitCode == 0:
					t.Fatalf("try %d: Launch() = %v, want class %s that says %q", try, failure, c.class, c.says)
				}
			}
		})
	}
}

// realRefused asks for containers that the engine does not start.
func realRefused(t *testing.T, e *realcontainer.Engine) {
	for _, c := range []struct {
		name   string
		change func(*bench)
		class  results.FailureClass
		says   string
	}{
		{
			"without its image", func(b *bench) { b.spec.Container.Image = "127.0.0.1:1/no/such:1" }, results.FailImage,
			"127.0.0.1:1",
		},
		{
			"without its program", func(b *bench) { b.spec.Container.Command = []string{"/no/such/program"} },
			results.FailNotFound, "command:",
		},
		{
			"with an unknown option", func(b *bench) { b.spec.Container.Args = []string{"--no-such-option"} },
			results.FailBadRecipe, "no-such-option",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := prepare(t, vllm(t), fakeengine.Config{})
			containReal(b, e)
			c.change(b)
			failure := b.refuse(t, c.class)
			if !strings.Contains(failure.Message, c.says) {
				t.Errorf("failure = %q, want it to say %q", failure.Message, c.says)
			}
			noneLeft(t, e, b)
		})
	}
	t.Run("by a name that a stranger has", func(t *testing.T) {
		b := prepare(t, vllm(t), fakeengine.Config{})
		containReal(b, e)
		command, err := Plan(b.kind, b.spec)
		if err != nil {
			t.Fatal(err)
		}
		name := command.Argv[slices.Index(command.Argv, "--name")+1]
		if out, err := e.Output("run", "-d", "--name", name, "-e", fakeengine.Config{Silent: true}.Env(),
			realcontainer.Image); err != nil {
			t.Fatalf("run a stranger: %v: %s", err, out)
		}
		failure := b.refuse(t, results.FailBadRecipe)
		if !strings.Contains(failure.Message, name) {
			t.Errorf("failure = %q, want the name", failure.Message)
		}
		if state, err := e.Output("inspect", "--format", "{{.State.Running}}", name); err != nil || state != "true" {
			t.Errorf("the stranger's container: running %q, %v", state, err)
		}
		_, _ = e.Output("rm", "-f", name)
	})
}

// realLeftBehind finds and ends the container of a bench that was killed.
func realLeftBehind(t *testing.T, e *realcontainer.Engine) {
	b := prepare(t, vllm(t), fakeengine.Config{})
	containReal(b, e)
	server := b.launch(t)
	pid := server.Info().PID
	found, _, err := container.LeftoversOfRun(t.Context(), b.spec.Cookie, []string{e.Name}, e.Environ)
	if err != nil || len(found) != 1 || found[0].Engine != e.Name {
		t.Fatalf("LeftoversOfRun() = %+v, %v, want the container", found, err)
	}
	if err := container.End(t.Context(), found[0], e.Environ); err != nil {
		t.Errorf("End() = %v", err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, lives := proc.System.StartTime(pid); !lives {
			break
		}
	}
	if _, lives := proc.System.StartTime(pid); lives {
		t.Errorf("process %d outlives its container", pid)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() of what is gone = %+v, %v", proof, err)
	}
	noneLeft(t, e, b)
}

// realDaemonKilled stops a server while its engine is gone, and once it is back.
func realDaemonKilled(t *testing.T, e *realcontainer.Engine) {
	b := prepare(t, vllm(t), fakeengine.Config{})
	containReal(b, e)
	limits := container.DefaultLimits()
	limits.Again = 100 * time.Millisecond
	b.limits = &limits
	server := b.launch(t)
	t.Cleanup(func() { _, _ = server.Stop(t.Context()) })
	e.KillDaemon()
	proof, err := server.Stop(t.Context())
	if failure := asFailure(err); err == nil || failure.Class != results.FailNoProof || proof.Clean() {
		t.Errorf("Stop() without the engine = %+v, %v, want class %s", proof, err, results.FailNoProof)
	}
	e.StartDaemon(t)
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() once the engine is back = %+v, %v, want a clean proof", proof, err)
	}
	noneLeft(t, e, b)
}

// noneLeft expects that the engine knows no container of the bench.
func noneLeft(t *testing.T, e *realcontainer.Engine, b *bench) {
	t.Helper()
	if left, err := e.Output("ps", "-aq", "--filter", "label=benchrig.run="+b.spec.Cookie); err != nil || left != "" {
		t.Errorf("containers left: %q, %v", left, err)
	}
}
