package chaos

import (
	"os/exec"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

const (
	failed  = results.Failed
	suspect = results.Suspect
	notRun  = results.NotRun
)

// engine is short for a change of the fake engine.
type engine = fakeengine.Config

// exits is an engine that writes lines and exits at once.
func exits(code int, lines ...string) func(*engine) {
	return func(c *engine) { c.ExitAtOnce, c.Lines = &code, lines }
}

// says is an engine that writes lines and then does nothing.
func says(lines ...string) func(*engine) {
	return func(c *engine) { c.Lines, c.Silent = lines, true }
}

// ready are keys of a variant whose server must not become ready.
func ready(timeout, stall string) block {
	return block{"ready": block{"timeout": timeout, "stall": stall}}
}

func spawnFaults() []fault {
	const spawn = "spawn"
	return []fault{
		{
			stage: spawn, kind: "crash", name: "program missing", bad: block{"binary": []string{"./no-such-engine"}},
			verdict: failed, class: results.FailNotFound, says: "no-such-engine",
		},
		{
			stage: spawn, kind: "crash", name: "not executable", bad: block{"binary": []string{"./night.yaml"}},
			verdict: failed, class: results.FailNotFound, says: "not executable",
		},
		{
			stage: spawn, kind: "crash", name: "exits with 1 at once", engine: exits(1), verdict: failed,
			class: results.FailExited, says: "code 1",
		},
		{
			stage: spawn, kind: "crash", name: "unknown flag",
			engine: exits(2, "usage: vllm serve",
				"api_server.py: error: unrecognized arguments: --num-scheduler-steps 8"),
			verdict: failed, class: results.FailBadFlag, says: "--num-scheduler-steps",
		},
		{
			stage: spawn, kind: "crash", name: "working folder missing", bad: block{"work-dir": "no-such-folder"},
			verdict: failed, class: results.FailBadRecipe, says: "no-such-folder",
		},
		{
			stage: spawn, kind: "lie", name: "exits with 0 at once", engine: exits(0), verdict: failed,
			class: results.FailExited, says: "code 0",
		},
		{
			stage: spawn, kind: "lie", name: "another process listens on the port", prepare: func(w *world) {
				stranger := healthy("vllm")
				w.bystander("the stranger on our port", append(w.serverArgs(), "--stranger"), stranger.Env())
				w.awaitListener(w.port)
				w.strangerOnPort = true
			},
			verdict: failed, class: results.FailPortInUse, says: "is in use already", good: failed,
			why: results.FailPortInUse,
		},
		{
			stage: spawn, kind: "lie", name: "another process has bound the port without listening",
			needs: lacks("python3"),
			prepare: func(w *world) {
				cmd := exec.Command("python3", "-c", bindOnly, itoa(w.port))
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					w.t.Fatal(err)
				}
				w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
				if _, err := out.Read(make([]byte, 1)); err != nil {
					w.t.Fatal(err)
				}
				w.strangerOnPort = true
			},
			verdict: failed, class: results.FailPortInUse, says: "bound already", good: failed,
			why: results.FailPortInUse,
		},
	}
}

const bindOnly = `import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", int(sys.argv[1])))
print("bound", flush=True)
time.sleep(120)`

func lacks(program string) func() string {
	return func() string {
		if _, err := exec.LookPath(program); err != nil {
			return "no " + program + " here"
		}
		return ""
	}
}

func environmentFaults() []fault {
	inherited := []string{
		"LLAMA_ARG_CTX_SIZE", "VLLM_USE_V1", "VLLM_ATTENTION_BACKEND", "RANK", "WORLD_SIZE",
		"MASTER_ADDR", "MASTER_PORT", "HTTP_PROXY", "https_proxy", "ALL_PROXY",
	}
	inherit := func(w *world) {
		for _, name := range inherited {
			w.setenv(name, "http://127.0.0.1:1")
		}
	}
	return []fault{
		{
			stage: "spawn", kind: "lie", name: "bench inherits variables that change an engine", prepare: inherit,
			engine: func(c *engine) { c.Refuses = inherited },
			after: func(w *world, end conclusion) {
				for _, name := range inherited {
					if told := strings.Join(end.bad.Servers[0].DroppedEnv, " "); !strings.Contains(told, name) {
						w.t.Errorf("the result does not tell that %s was dropped: %s", name, told)
					}
				}
			},
		},
		{
			stage: "spawn", kind: "lie", name: "the scenario sets such a variable", prepare: inherit,
			bad:    block{"env": block{"VLLM_USE_V1": "0"}},
			engine: func(c *engine) { c.Refuses = []string{"VLLM_USE_V1"} }, verdict: failed, class: results.FailExited,
			says: "VLLM_USE_V1 is in the environment",
		},
	}
}

func loadFaults() []fault {
	const load = "load"
	return []fault{
		{
			stage: load, kind: "crash", name: "out of memory",
			engine: exits(1, "Traceback (most recent call last):",
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
			verdict: failed, class: results.FailOutOfMemory, says: "Tried to allocate",
		},
		{stage: load, kind: "crash", name: "exits while loading", engine: func(c *engine) {
			c.Silent, c.ExitAfter = true, 300*time.Millisecond
		}, verdict: failed, class: results.FailExited, says: "code 0"},
		{
			stage: load, kind: "crash", name: "KV cache too small",
			engine: exits(1,
				"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "+
					"initializing the engine."),
			verdict: failed, class: results.FailKVCache,
		},
		{
			stage: load, kind: "crash", name: "gated model",
			engine: exits(1, "huggingface_hub.errors.GatedRepoError: 401 Client Error.",
				"Cannot access gated repo for url https://huggingface.co/m"),
			verdict: failed, class: results.FailGated, says: "HF_TOKEN",
		},
		{
			stage: load, kind: "hang", name: "logs a fatal line, then hangs",
			engine: says("RuntimeError: Engine core initialization failed. See root cause above. Failed core " +
				"proc(s): {}"),
			verdict: failed, class: results.FailEngineDied, says: "Engine core initialization failed",
		},
		{
			stage: load, kind: "hang", name: "silent forever", engine: says(), bad: ready("60s", "1s"),
			verdict: failed,
			class:   results.FailReadyStall,
		},
		{
			stage: load, kind: "lie", name: "the log says ready, and nothing listens", bad: ready("2s", "0s"),
			engine: says("INFO:     Application startup complete."), verdict: failed, class: results.FailReadyTimeout,
			says: "TCP",
		},
		{stage: load, kind: "slow", name: "503 for a second", engine: func(c *engine) { c.Loading = time.Second }},
		{
			stage: load, kind: "slow", name: "loads without end", engine: func(c *engine) { c.Chatter = true },
			bad: ready("2s", "1500ms"), verdict: failed, class: results.FailReadyTimeout, says: "TCP",
		},
		{stage: load, kind: "flood", name: "100 MB of log", engine: func(c *engine) { c.Flood = 100 << 20 }},
		{
			stage: load, kind: "leak", name: "crash leaves a worker",
			engine: func(c *engine) {
				c.Children = []fakeengine.Child{{Session: true, IgnoreTerm: true}}
				exits(1)(c)
			}, verdict: failed, class: results.FailExited,
		},
	}
}

func readyFaults() []fault {
	const r = "ready"
	slow := ready("12s", "0s")
	return []fault{
		{
			stage: r, kind: "crash", name: "exits at the first request", engine: func(c *engine) { c.DieAt = 1 },
			verdict: failed, class: results.FailExited, says: "code 0",
		},
		{
			stage: r, kind: "crash", name: "killed at the first request", engine: func(c *engine) {
				c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultKill, From: 1}}
			}, verdict: failed, class: results.FailExited, says: "signal 9",
		},
		{
			stage: r, kind: "flood", name: "the first answer is a line of 64 MiB", bad: ready("10s", "0s"),
			engine: func(c *engine) {
				c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultHuge, From: 1, To: 1}}
			},
		},
		{
			stage: r, kind: "leak", name: "exits at the first request, its worker survives", bad: hasted,
			engine: func(c *engine) {
				children(vllmTree)(c)
				c.DieAt = 1
			}, verdict: failed, class: results.FailExited,
		},
		{
			stage: r, kind: "hang", name: "health never answers", engine: func(c *engine) { c.HealthHang = true },
			bad: slow, verdict: failed, class: results.FailReadyTimeout, says: "health",
		},
		{
			stage: r, kind: "lie", name: "serves another model", engine: func(c *engine) { c.Model = "another" },
			verdict: failed,
			class:   results.FailWrongModel, says: `"another"`,
		},
		{
			stage: r, kind: "lie", name: "serves another file under the model's name", launcher: "llamacpp",
			bad:     block{"model": "models/m.gguf"},
			prepare: func(w *world) { w.writeFile("models/m.gguf", "GGUF") },
			engine:  func(c *engine) { c.Loaded = "/elsewhere/other.gguf" }, verdict: failed,
			class: results.FailWrongModel, says: "other.gguf",
		},
		{
			stage: r, kind: "lie", name: "another process shares the port (SO_REUSEPORT)", prepare: func(w *world) {
				w.joinPort(func() bool { return answers(w.port) })
			},
			engine:  func(c *engine) { c.Shared, c.Loading = true, 3*time.Second },
			verdict: failed, class: results.FailForeign, says: "did not start", good: failed,
			why: results.FailPortInUse,
		},
		{
			stage: r, kind: "lie", name: "healthy, but generates no token",
			engine: func(c *engine) { c.NoTokens = true },
			bad:    slow, verdict: failed, class: results.FailReadyTimeout, says: "a token",
		},
		{
			stage: r, kind: "lie", name: "healthy, but answers are empty", engine: func(c *engine) { c.Empty = true },
			bad: slow, verdict: failed, class: results.FailReadyTimeout, says: "a token",
		},
		{
			stage: r, kind: "lie", name: "requires an API key", engine: func(c *engine) { c.Key = "secret" },
			verdict: failed,
			class:   results.FailAuth, says: "api-key",
		},
		{
			stage: r, kind: "lie", name: "listens on another port", engine: func(c *engine) {
				c.Host = "127.0.0.2"
			}, bad: slow,
			verdict: failed, class: results.FailReadyTimeout, says: "TCP",
		},
		{
			stage: r, kind: "slow", name: "health is 503", engine: func(c *engine) { c.HealthCode = 503 }, bad: slow,
			verdict: failed, class: results.FailReadyTimeout, says: "503",
		},
		{stage: r, kind: "slow", name: "the first token comes byte by byte", engine: func(c *engine) {
			c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultDrip, From: 1}}
		}},
	}
}

// joinPort has a stranger listen on our port as soon as when holds, and keep it.
func (w *world) joinPort(when func() bool) {
	stranger := healthy("vllm")
	stranger.Shared = true
	w.strangerOnPort = true
	w.once(when, func() {
		w.bystander("the stranger on our port", append(w.serverArgs(), "--stranger"), stranger.Env())
	})
}
