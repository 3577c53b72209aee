package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchrig/internal/fakeengine"
	"benchrig/results"
)

// fault is one thing that goes wrong in variant bad, and what must come of it.
type fault struct {
	stage, kind, name string
	engine            func(*fakeengine.Config)
	bad               block // further keys of the variant
	scenario          block // further keys of the scenario

	verdict results.Verdict
	class   results.FailureClass // of a failed step; "": none
	good    results.Verdict      // of the other variant; "": ok
	long    time.Duration        // the run may take so long; 0: 30 s
}

// request is an engine whose requests from number 5 on go wrong: the ready
// probe and the warm-up are sound.
func request(kind fakeengine.FaultKind) func(*fakeengine.Config) {
	return func(c *fakeengine.Config) { c.Request = []fakeengine.Fault{{Kind: kind, From: 5}} }
}

func child(c fakeengine.Child) func(*fakeengine.Config) {
	return func(e *fakeengine.Config) { e.Children = []fakeengine.Child{c} }
}

func faults() []fault {
	exit := func(code int) func(*fakeengine.Config) {
		return func(c *fakeengine.Config) { c.ExitAtOnce = &code }
	}
	says := func(lines ...string) func(*fakeengine.Config) {
		return func(c *fakeengine.Config) { c.Lines = lines; c.Silent = true }
	}
	return slices.Concat([]fault{
		{stage: "spawn", kind: "crash", name: "no such program", bad: block{"binary": []string{"./no-such-engine"}}, verdict: results.Failed, class: results.FailNotFound},
		{stage: "spawn", kind: "crash", name: "not executable", bad: block{"binary": []string{"./night.yaml"}}, verdict: results.Failed, class: results.FailNotFound},
		{stage: "spawn", kind: "crash", name: "exits with 1 at once", engine: exit(1), verdict: results.Failed, class: results.FailExited},
		{stage: "spawn", kind: "lie", name: "exits with 0 at once", engine: exit(0), verdict: results.Failed, class: results.FailExited},
		{stage: "spawn", kind: "crash", name: "unknown flag", engine: func(c *fakeengine.Config) {
			c.Lines = []string{"usage: vllm serve", "api_server.py: error: unrecognized arguments: --num-scheduler-steps 8"}
			exit(2)(c)
		}, verdict: results.Failed, class: results.FailBadFlag},

		{stage: "load", kind: "crash", name: "out of memory", engine: func(c *fakeengine.Config) {
			c.Lines = []string{"Traceback (most recent call last):", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"}
			exit(1)(c)
		}, verdict: results.Failed, class: results.FailOutOfMemory},
		{stage: "load", kind: "hang", name: "fatal line, then nothing", engine: says("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"), verdict: results.Failed},
		{stage: "load", kind: "hang", name: "silent for ever", engine: func(c *fakeengine.Config) { c.Silent = true }, verdict: results.Failed, class: results.FailReadyStall},
		{stage: "load", kind: "slow", name: "loads and loads", engine: func(c *fakeengine.Config) { c.Chatter = true }, verdict: results.Failed, class: results.FailReadyTimeout},
		{stage: "load", kind: "slow", name: "503 for a second", engine: func(c *fakeengine.Config) { c.Loading = time.Second }, verdict: results.OK},
		{stage: "load", kind: "flood", name: "100 MB of log", engine: func(c *fakeengine.Config) { c.Flood = 100 << 20 }, verdict: results.OK},
		{stage: "load", kind: "leak", name: "crash leaves a worker", engine: func(c *fakeengine.Config) {
			child(fakeengine.Child{Session: true, IgnoreTerm: true})(c)
			exit(1)(c)
		}, verdict: results.Failed, class: results.FailExited},
		{stage: "load", kind: "crash", name: "ends while loading", engine: func(c *fakeengine.Config) { c.Silent = true; c.ExitAfter = 300 * time.Millisecond }, verdict: results.Failed, class: results.FailExited},

		{stage: "ready", kind: "hang", name: "health never answers", engine: func(c *fakeengine.Config) { c.HealthHang = true }, verdict: results.Failed},
		{stage: "ready", kind: "lie", name: "healthy without a token", engine: func(c *fakeengine.Config) { c.NoTokens = true }, verdict: results.Failed},
		{stage: "ready", kind: "lie", name: "healthy with empty answers", engine: func(c *fakeengine.Config) { c.Empty = true }, verdict: results.Failed},
		{stage: "ready", kind: "lie", name: "another model", engine: func(c *fakeengine.Config) { c.Model = "another" }, verdict: results.Failed, class: results.FailWrongModel},
		{stage: "ready", kind: "lie", name: "asks for a key", engine: func(c *fakeengine.Config) { c.Key = "secret" }, verdict: results.Failed, class: results.FailAuth},
		{stage: "ready", kind: "lie", name: "listens elsewhere", engine: func(c *fakeengine.Config) { c.Host = "127.0.0.2" }, verdict: results.Failed},
		{stage: "ready", kind: "slow", name: "health is 503", engine: func(c *fakeengine.Config) { c.HealthCode = 503 }, verdict: results.Failed},
	}, requestFaults(), stopFaults())
}

// requestFaults strike while the load runs.
func requestFaults() []fault {
	stalled := block{"watchdog": block{"stall": "1s"}}
	const serve = "serve"
	return []fault{
		{stage: serve, kind: "crash", name: "killed by signal 9", engine: request(fakeengine.FaultKill), verdict: results.Failed, class: results.FailExited},
		{stage: serve, kind: "lie", name: "exits with 0", engine: request(fakeengine.FaultExit), verdict: results.Failed, class: results.FailExited},
		{stage: serve, kind: "hang", name: "fatal line, then no answer", engine: func(c *fakeengine.Config) {
			c.FatalAt, c.FatalLine = 5, "EngineCore encountered a fatal error."
		}, verdict: results.Failed},
		{stage: serve, kind: "hang", name: "no answer", engine: request(fakeengine.FaultHang), verdict: results.Failed},
		{stage: serve, kind: "hang", name: "no answer, watchdog", engine: request(fakeengine.FaultHang), scenario: stalled, verdict: results.Failed},
		{stage: serve, kind: "hang", name: "streams stop", engine: request(fakeengine.FaultStall), verdict: results.Failed},
		{stage: serve, kind: "hang", name: "one stream stops", engine: func(c *fakeengine.Config) {
			c.Request = []fakeengine.Fault{{Kind: fakeengine.FaultStall, From: 5, To: 5}}
		}, verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "hang", name: "half a header", engine: request(fakeengine.FaultHeader), verdict: results.Failed},
		{stage: serve, kind: "lie", name: "error within the stream", engine: request(fakeengine.FaultInBand), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "lie", name: "stream cut short", engine: request(fakeengine.FaultTruncate), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "lie", name: "a page with status 200", engine: request(fakeengine.FaultHTML), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "lie", name: "streams without tokens", engine: request(fakeengine.FaultEmpty), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "lie", name: "half the tokens", engine: request(fakeengine.FaultShort), verdict: results.Suspect},
		{stage: serve, kind: "lie", name: "counters begin anew", engine: func(c *fakeengine.Config) { c.CountBackAt = 8 }, verdict: results.Failed},
		{stage: serve, kind: "crash", name: "connections reset", engine: request(fakeengine.FaultReset), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "crash", name: "status 500", engine: request(fakeengine.FaultInternal), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "slow", name: "status 503", engine: request(fakeengine.FaultBusy), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "slow", name: "status 429", engine: request(fakeengine.FaultRate), verdict: results.Failed, class: results.FailRequests},
		{stage: serve, kind: "slow", name: "step deadline", engine: request(fakeengine.FaultSlow), scenario: block{"deadlines": block{"step": "1500ms"}}, verdict: results.Failed, class: results.FailDeadline},
		{stage: serve, kind: "flood", name: "bytes that are no events", engine: request(fakeengine.FaultGarbage), verdict: results.Failed},
		{stage: serve, kind: "flood", name: "answers that never end", engine: request(fakeengine.FaultEndless), scenario: block{"deadlines": block{"step": "2s"}}, verdict: results.Failed},
		{stage: serve, kind: "flood", name: "a line of 64 MiB", engine: request(fakeengine.FaultHuge), verdict: results.Failed},
		{stage: serve, kind: "leak", name: "dies, its worker lives", engine: func(c *fakeengine.Config) {
			child(fakeengine.Child{Session: true, Daemon: true})(c)
			request(fakeengine.FaultKill)(c)
		}, verdict: results.Failed, class: results.FailExited},
	}
}

// stopFaults strike when the server is to end.
func stopFaults() []fault {
	const stop = "stop"
	return []fault{
		{stage: stop, kind: "hang", name: "ignores SIGTERM", engine: func(c *fakeengine.Config) { c.IgnoreTerm = true }, verdict: results.OK},
		{stage: stop, kind: "slow", name: "drains longer than its grace", engine: func(c *fakeengine.Config) { c.Drain = 5 * time.Second }, verdict: results.OK},
		{stage: stop, kind: "crash", name: "exits with 1", engine: func(c *fakeengine.Config) { c.TermCode = 1 }, verdict: results.OK},
		{stage: stop, kind: "leak", name: "worker in its own group", engine: child(fakeengine.Child{Group: true}), verdict: results.OK},
		{stage: stop, kind: "leak", name: "worker in its own session", engine: child(fakeengine.Child{Session: true, IgnoreTerm: true}), verdict: results.OK},
		{stage: stop, kind: "leak", name: "worker forked twice", engine: child(fakeengine.Child{Session: true, Daemon: true, IgnoreTerm: true}), verdict: results.OK},
		{stage: stop, kind: "leak", name: "worker without environment", engine: child(fakeengine.Child{Group: true, ClearEnv: true, IgnoreTerm: true}), verdict: results.OK},
		{stage: stop, kind: "leak", name: "worker without environment, in its own session", engine: child(fakeengine.Child{Session: true, ClearEnv: true, IgnoreTerm: true}), verdict: results.OK},
		{stage: stop, kind: "leak", name: "starts a child when told to end", engine: func(c *fakeengine.Config) { c.TermSpawns = true }, verdict: results.OK},
		{stage: stop, kind: "leak", name: "a child keeps the port", engine: func(c *fakeengine.Config) { c.KeepsPort = true }, verdict: results.OK},
		{stage: stop, kind: "leak", name: "a file in /dev/shm", engine: func(c *fakeengine.Config) { c.ShmFile = "psm_chaos_ID" }, verdict: results.OK},
	}
}

func TestFaults(t *testing.T) {
	var table lines
	t.Run("all", func(t *testing.T) {
		for _, f := range faults() {
			t.Run(f.stage+"/"+strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				table.add(f, f.check(t))
			})
		}
	})
	t.Logf("%d faults\n%s", len(faults()), table.text())
}

// check runs the night with the fault and returns what came of it.
func (f fault) check(t *testing.T) string {
	w := newWorld(t)
	config := healthy()
	if f.engine != nil {
		f.engine(&config)
	}
	if config.ShmFile != "" {
		config.ShmFile = strings.Replace(config.ShmFile, "ID", w.id, 1)
	}
	bad := block{"name": "bad", "env": block{fakeengine.Variable: config.Value()}}
	for key, value := range f.bad {
		bad[key] = value
	}
	got := w.bench(nil, "run", w.scenario(bad, f.scenario))
	w.clean()
	run := w.read()
	w.consistent(run)
	if len(run.Steps) != 2 {
		t.Fatalf("%d steps, want 2", len(run.Steps))
	}
	first, second := run.Steps[0].Result, run.Steps[1].Result
	ok := first.Verdict == f.verdict || (f.verdict == results.OK && first.Verdict == results.Suspect) // a busy box makes sound figures suspect
	if !ok || (f.class != "" && (first.Failure == nil || first.Failure.Class != f.class)) {
		t.Errorf("bad: %s, want %s %s\n%s", story(first), f.verdict, f.class, got.stderr)
	}
	if want := f.goodVerdict(); second.Verdict != want && (want != results.OK || second.Verdict != results.Suspect) {
		t.Errorf("good: %s, want %s\n%s", story(second), want, got.stderr)
	}
	return story(first)
}

func (f fault) goodVerdict() results.Verdict {
	if f.good == "" {
		return results.OK
	}
	return f.good
}

func story(r *results.Result) string {
	if r.Failure == nil {
		return string(r.Verdict)
	}
	return fmt.Sprintf("%s: %s: %.90s", r.Verdict, r.Failure.Class, r.Failure.Message)
}

// lines is the table of faults and outcomes.
type lines struct {
	mu   sync.Mutex
	rows []string
}

func (l *lines) add(f fault, outcome string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, fmt.Sprintf("%-6s %-6s %-46s %s", f.stage, f.kind, f.name, outcome))
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.rows)
	return strings.Join(l.rows, "\n")
}
