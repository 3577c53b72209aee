package chaos

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// request is an engine whose requests from number 5 on go wrong: the ready
// probe and the warm-up are sound.
func request(kind fakeengine.FaultKind) func(*engine) {
	return func(c *engine) { c.Request = []fakeengine.Fault{{Kind: kind, From: 5}} }
}

const serve = "serve"

// hasty are the client's limits for servers that hang.
var hasty = block{"load": block{"timeouts": block{"first-token": "2500ms", "stall": "2500ms"}}}

// requestFaults are broken answers.
func requestFaults() []fault {
	refused := results.FailRequests
	return []fault{
		{
			stage: serve, kind: "crash", name: "connections reset", engine: request(fakeengine.FaultReset),
			verdict: failed, class: refused, says: "transport",
		},
		{
			stage: serve, kind: "crash", name: "status 500", engine: request(fakeengine.FaultInternal), verdict: failed,
			class: refused, says: "http-status",
		},
		{
			stage: serve, kind: "slow", name: "status 503", engine: request(fakeengine.FaultBusy), verdict: failed,
			class: refused, says: "http-status",
		},
		{
			stage: serve, kind: "slow", name: "status 429", engine: request(fakeengine.FaultRate), verdict: failed,
			class: refused, says: "http-status",
		},
		{
			stage: serve, kind: "lie", name: "sends an error within the stream",
			engine:  request(fakeengine.FaultInBand),
			verdict: failed, class: refused, says: "in-band-error",
		},
		{
			stage: serve, kind: "lie", name: "stream cut short", engine: request(fakeengine.FaultTruncate),
			verdict: failed, class: refused, says: "truncated",
		},
		{
			stage: serve, kind: "lie", name: "answers with an HTML page and status 200",
			engine:  request(fakeengine.FaultHTML),
			verdict: failed, class: refused, says: "It works!",
		},
		{
			stage: serve, kind: "lie", name: "streams without tokens", engine: request(fakeengine.FaultEmpty),
			verdict: failed, class: refused, says: "no-tokens",
		},
		{
			stage: serve, kind: "lie", name: "sends half the tokens",
			engine: request(fakeengine.FaultShort), verdict: suspect,
			class: results.FailureClass(results.WarnShortOutput),
		},
		{
			stage: serve, kind: "lie", name: "counters restart at zero", engine: func(c *engine) { c.CountBackAt = 8 },
			verdict: failed, class: results.FailRestarted, says: "went back",
		},
	}
}

// streamFaults are answers that do not end, or not in time.
func streamFaults() []fault {
	short := block{"deadlines": block{"step": "12s"}} // the good variant must do, however slow the machine
	return []fault{
		{
			stage: serve, kind: "hang", name: "no answer, watchdog", engine: request(fakeengine.FaultHang),
			scenario: block{"watchdog": block{"stall": "1s"}}, verdict: failed, class: results.FailNoProgress,
		},
		{
			stage: serve, kind: "hang", name: "no answer", engine: request(fakeengine.FaultHang), scenario: hasty,
			verdict: failed, class: results.FailRequests, says: "first-token-timeout",
		},
		{
			stage: serve, kind: "hang", name: "streams stop", engine: request(fakeengine.FaultStall), scenario: hasty,
			verdict: failed, class: results.FailRequests, says: "stall-timeout",
		},
		{stage: serve, kind: "hang", name: "one stream stops", scenario: hasty, engine: func(c *engine) {
			c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultStall, From: 5, To: 5}}
		}, verdict: failed, class: results.FailRequests, says: "stall-timeout 1"},
		{
			stage: serve, kind: "hang", name: "sends half a response header",
			engine: request(fakeengine.FaultHeader), scenario: hasty,
			verdict: failed, class: results.FailRequests, says: "first-token-timeout",
		},
		{stage: serve, kind: "slow", name: "sends every stream byte by byte", engine: request(fakeengine.FaultDrip)},
		{
			stage: serve, kind: "slow", name: "step deadline", engine: request(fakeengine.FaultHang), scenario: short,
			verdict: failed, class: results.FailDeadline,
		},
		{
			stage: serve, kind: "slow", name: "sends a header byte by byte without end",
			engine:   request(fakeengine.FaultDribble),
			scenario: hasty, verdict: failed, class: results.FailRequests,
		},
		{
			stage: serve, kind: "slow", name: "sends comments without end and no token",
			engine:   request(fakeengine.FaultComments),
			scenario: hasty, verdict: failed, class: results.FailRequests,
		},
		{
			stage: serve, kind: "flood", name: "sends bytes that are not events",
			engine:  request(fakeengine.FaultGarbage),
			verdict: failed, class: results.FailRequests,
		},
		{
			stage: serve, kind: "flood", name: "sends answers without end", engine: request(fakeengine.FaultEndless),
			scenario: short, verdict: failed, class: results.FailRequests, says: "has no end",
		},
		{stage: serve, kind: "flood", name: "sends a line of 64 MiB", engine: func(c *engine) {
			c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultHuge, From: 5, To: 6}}
		}, verdict: failed, class: results.FailRequests},
	}
}

// serveFaults strike the server while the load runs.
func serveFaults() []fault {
	return []fault{
		{
			stage: serve, kind: "crash", name: "killed by signal 9", engine: request(fakeengine.FaultKill),
			verdict: failed, class: results.FailExited, says: "signal 9",
		},
		{
			stage: serve, kind: "lie", name: "exits with 0", engine: request(fakeengine.FaultExit), verdict: failed,
			class: results.FailExited, says: "code 0",
		},
		{stage: serve, kind: "hang", name: "logs a fatal line, then does not answer", engine: func(c *engine) {
			c.FatalAt, c.FatalLine = 5, "EngineCore encountered a fatal error."
		}, scenario: block{"watchdog": block{"stall": "1s"}}, verdict: failed, class: results.FailNoProgress},
		{stage: serve, kind: "leak", name: "dies, its worker survives", engine: func(c *engine) {
			c.Children = []fakeengine.Child{{Session: true, Daemon: true, IgnoreTerm: true}}
			request(fakeengine.FaultKill)(c)
		}, verdict: failed, class: results.FailExited},
		{
			stage: serve, kind: "crash", name: "killed by another process under load",
			engine:  request(fakeengine.FaultSlow),
			prepare: func(w *world) { w.underLoad(syscall.SIGKILL) }, verdict: failed, class: results.FailExited,
			says: "signal 9",
		},
		{
			stage: serve, kind: "crash", name: "sent SIGTERM by another process under load",
			engine:  request(fakeengine.FaultSlow),
			prepare: func(w *world) { w.underLoad(syscall.SIGTERM) }, verdict: failed, class: results.FailExited,
			says: "code 0",
		},
		{
			stage: serve, kind: "hang", name: "stopped (SIGSTOP) by another process",
			engine:   request(fakeengine.FaultSlow),
			scenario: block{"watchdog": block{"stall": "1s"}}, bad: block{"stop": block{"grace": "1s"}},
			prepare: func(w *world) { w.underLoad(syscall.SIGSTOP) }, verdict: failed, class: results.FailNoProgress,
		},
		{
			stage: serve, kind: "lie", name: "another process shares the port in the middle of a step (SO_REUSEPORT)",
			engine:  func(c *engine) { request(fakeengine.FaultSlow)(c); c.Shared = true },
			prepare: func(w *world) { w.joinPort(func() bool { return w.has(results.StepStarted) }) },
			verdict: failed, class: results.FailForeign, says: "did not start", good: notRun, why: results.FailNoProof,
			after: headline("is still in use"),
		},
		{
			stage: serve, kind: "lie", name: "a worker is replaced by another behind the same port",
			engine: func(c *engine) {
				request(fakeengine.FaultSlow)(c)
				c.ReplaceAt, c.Counters = 6, nil
			}, verdict: suspect, class: results.FailureClass(results.WarnReplaced),
			says: "was replaced during the pass",
		},
		{
			stage: serve, kind: "lie", name: "the log is replaced by a pipe", engine: func(c *engine) {
				c.LogFault, c.LogAt = fakeengine.LogFIFO, 5
			},
		},
		{
			stage: serve, kind: "lie", name: "the log is truncated", engine: func(c *engine) {
				c.LogFault, c.LogAt = fakeengine.LogTruncate, 5
			},
		},
		{
			stage: serve, kind: "lie", name: "the log is deleted", engine: func(c *engine) {
				c.LogFault, c.LogAt = fakeengine.LogDelete, 5
			},
		},
		{
			stage: serve, kind: "flood", name: "30 MB of log in the middle of a step",
			scenario: block{"disk": block{"max-log": "1MiB"}},
			engine:   func(c *engine) { c.Flood, c.FloodAt = 30<<20, 5 }, after: smallLogs,
		},
	}
}

// underLoad sends a signal to the server of variant bad in the middle of its
// step.
func (w *world) underLoad(signal syscall.Signal) {
	w.beside(func(ctx context.Context) {
		server, ok := w.await(ctx, kindOf(results.LifeSpawned))
		if !ok {
			return
		}
		if _, ok := w.await(ctx, kindOf(results.StepStarted)); !ok {
			return
		}
		const within = 500 * time.Millisecond // of a step that takes three seconds
		if pause(ctx, within) {
			_ = syscall.Kill(server.Process.PID, signal)
		}
	})
}

// smallLogs asserts that server logs were bounded and compressed.
func smallLogs(w *world, end conclusion) {
	w.t.Helper()
	logs, _ := filepath.Glob(filepath.Join(end.run.Dir, "lives", "*", "server-*"))
	if len(logs) != 2 {
		w.t.Errorf("server logs %v, want two", logs)
	}
	for _, log := range logs {
		const most = 2 << 20
		if !strings.HasSuffix(log, ".zst") || size(w, log) > most {
			w.t.Errorf("server log %s has %d bytes, want it compressed and %d at most", log, size(w, log), most)
		}
	}
}
