package simserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

const streamBody = `{"prompt":"x","max_tokens":20,"ignore_eos":true,"stream":true}`

func withFaults(t testing.TB, cfg simengine.Config, faults ...string) simengine.Config {
	t.Helper()
	for _, text := range faults {
		f, err := simengine.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	return cfg
}

func TestCrashFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		code  int
		log   string
	}{
		{"crash@2", 1, "EngineCore encountered a fatal error."},
		{"exit0@2", 0, "EngineDeadError"},
	} {
		var code atomic.Int64
		code.Store(-1)
		cfg := withFaults(t, fast(), c.fault)
		cfg.Exit = func(n int) { code.Store(int64(n)) }
		l := launch(t, cfg)
		if _, done := chunks(t, l.post(t, "/v1/completions", streamBody).body); !done {
			t.Errorf("%s: request 1 is not complete", c.fault)
		}
		r := l.post(t, "/v1/completions", streamBody)
		if r.err == nil {
			t.Errorf("%s: request 2 = %q, want a broken connection", c.fault, r.body)
		}
		<-l.ended
		var crash *simengine.CrashError
		if !errors.As(l.err, &crash) || crash.Code != c.code || code.Load() != int64(c.code) {
			t.Errorf("%s: Run() = %v, exit code %d, want a crash with code %d", c.fault, l.err, code.Load(), c.code)
		}
		if !strings.Contains(l.log.String(), c.log) {
			t.Errorf("%s: log lacks %q:\n%s", c.fault, c.log, l.log)
		}
	}
}

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	for _, persona := range []string{simengine.PersonaVLLM, simengine.PersonaLlamaCpp} {
		cfg := withFaults(t, fast(), "error@1", "truncate@2", "refuse@3", "refuse@4:429")
		cfg.Persona = persona
		l := launch(t, cfg)
		eventually(t, "ready", func() bool { return l.get(t, "/health").status == 200 })

		r := l.post(t, "/v1/completions", streamBody)
		list, done := chunks(t, r.body)
		if last := list[len(list)-1]; r.status != 200 || len(list) < 3 || len(last.Error) == 0 ||
			done != (persona == simengine.PersonaVLLM) {
			t.Errorf("%s: error@1 = %d %q, want an error object last, [DONE] behind it only from vLLM", persona,
				r.status, r.body)
		}
		r = l.post(t, "/v1/completions", streamBody)
		if list, done := chunks(t, r.body); r.err == nil || done || len(list) < 2 || len(list) > 5 {
			t.Errorf("%s: truncate@2 = %q, error %v, want a few tokens and a broken connection", persona, r.body, r.err)
		}
		for _, status := range []int{503, 429} {
			if r := l.post(t, "/v1/completions", streamBody); r.status != status ||
				!strings.Contains(r.body, `"error"`) {
				t.Errorf("%s: refuse = %d %s, want %d", persona, r.status, r.body, status)
			}
		}
		if _, done := chunks(t, l.post(t, "/v1/completions", streamBody).body); !done {
			t.Errorf("%s: request 5 is not complete", persona)
		}
	}
}

// slowPost posts with a short limit and says what came within it.
func (l *live) slowPost(t *testing.T, limit time.Duration) string {
	t.Helper()
	impatient := *l
	client := *l.client
	client.Timeout = limit
	impatient.client = &client
	return impatient.post(t, "/v1/completions", streamBody).body
}

func TestHangFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault  string
		tokens int  // of the request that is hit
		others bool // whether the next one is answered
	}{
		{"hang@1", 3, false}, {"stall@1", 3, true}, {"no-tokens", 0, false},
	} {
		l := launch(t, withFaults(t, fast(), c.fault))
		list, done := chunks(t, l.slowPost(t, 300*time.Millisecond))
		if done || len(list) != c.tokens {
			t.Errorf("%s: %d chunks, done %v, want %d and no end", c.fault, len(list), done, c.tokens)
		}
		if r := l.get(t, "/health"); r.status != 200 {
			t.Errorf("%s: /health = %d, want 200", c.fault, r.status)
		}
		limit := 300 * time.Millisecond
		if c.others {
			limit = 10 * time.Second
		}
		if _, done := chunks(t, l.slowPost(t, limit)); done != c.others {
			t.Errorf("%s: the next request is answered: %v, want %v", c.fault, done, c.others)
		}
	}
}

func TestWrongModel(t *testing.T) {
	t.Parallel()
	l := launch(t, withFaults(t, fast(), "wrong-model", "ignore-term"))
	if r := l.get(t, "/v1/models"); strings.Contains(r.body, `"id":"test/Llama-1B"`) ||
		!strings.Contains(r.body, wrongModel) {
		t.Errorf("/v1/models = %s, want %s", r.body, wrongModel)
	}
	if r := l.post(t, "/v1/completions", `{"model":"test/Llama-1B","prompt":"x"}`); r.status != 404 {
		t.Errorf("request for the expected model = %d, want 404", r.status)
	}
}

func TestFailedStarts(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	busy := fast()
	busy.AnyPort, busy.Port = false, taken.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		name string
		cfg  simengine.Config
		err  string
		log  string
	}{
		{
			"oom fault", withFaults(t, fast(), "oom"), "simulated fault oom",
			"torch.OutOfMemoryError: HIP out of memory.",
		},
		{
			"model too big",
			simengine.Config{AnyPort: true, Model: "Llama-70B", Device: "strix-halo"},
			"raise --tensor-parallel-size", "torch.OutOfMemoryError",
		},
		{
			"model too big for CUDA",
			simengine.Config{AnyPort: true, Model: "Llama-405B", Device: "h100"},
			"raise --tensor-parallel-size", "CUDA out of memory",
		},
		{
			"context too long",
			simengine.Config{AnyPort: true, Model: "Llama-8B", KVBlocks: 10, MaxModelLen: 8192},
			"lower --max-model-len", "To serve at least one request",
		},
		{"port taken", busy, "address already in use", "[Errno 98] error while attempting to bind"},
		{"unknown device", simengine.Config{Device: "abacus"}, `find device "abacus"`, ""},
		{"unknown shape", simengine.Config{ModelPreset: "elephant"}, `find model "elephant"`, ""},
		{
			"draft without length",
			simengine.Config{Speculation: simengine.Speculation{Model: "Llama-1B"}},
			"--num-speculative-tokens must be given", "",
		},
		{"negative tp", simengine.Config{TensorParallelSize: -1}, "tensor-parallel-size", ""},
		{"persona", simengine.Config{Persona: "hal"}, `"hal"`, ""},
		{"noise", simengine.Config{Noise: 2}, "sim-noise", ""},
	} {
		log := &safeBuffer{}
		err := Run(t.Context(), c.cfg, log)
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(log.String(), c.log) {
			t.Errorf("%s: Run() = %v, log %q, want %q and log line %q", c.name, err, log, c.err, c.log)
		}
	}
}

func TestSlowStart(t *testing.T) {
	t.Parallel()
	cfg := withFaults(t, fast(), "slow-start@1h")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cfg.OnListen = func(string) { t.Error("listens in spite of slow-start@1h") }
	if err := Run(ctx, cfg, &safeBuffer{}); err != nil {
		t.Errorf("Run() = %v, want nil when stopped while loading", err)
	}
}

func TestParseFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want simengine.Fault
	}{
		{"crash@3", simengine.Fault{Kind: simengine.FaultCrash, Request: 3}},
		{"exit0@1", simengine.Fault{Kind: simengine.FaultExit0, Request: 1}},
		{"refuse@2", simengine.Fault{Kind: simengine.FaultRefuse, Request: 2, Status: 503}},
		{"refuse@2:429", simengine.Fault{Kind: simengine.FaultRefuse, Request: 2, Status: 429}},
		{"slow-start@1m30s", simengine.Fault{Kind: simengine.FaultSlowStart, Delay: 90 * time.Second}},
		{"oom", simengine.Fault{Kind: simengine.FaultOOM}},
		{"wrong-answers@8", simengine.Fault{Kind: simengine.FaultWrongAnswers, InFlight: 8}},
		{"cached-answers", simengine.Fault{Kind: simengine.FaultCachedAnswers}},
	} {
		got, err := simengine.ParseFault(c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseFault(%q) = %+v, %v, want %+v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", "crash", "crash@0", "crash@x", "oom@1", "slow-start@5", "slow-start@-1s",
		"refuse@1:200", "melt@1",
	} {
		if got, err := simengine.ParseFault(in); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", in)) {
			t.Errorf("ParseFault(%q) = %+v, %v, want an error that quotes it", in, got, err)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"crash@3", "refuse@2:429", "slow-start@1m", "oom", "hang@99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fault, err := simengine.ParseFault(s)
		if err != nil {
			return
		}
		if again, err := simengine.ParseFault(fault.String()); err != nil || again != fault {
			t.Errorf("ParseFault(%q) = %+v, %v, want %+v as from %q", fault.String(), again, err, fault, s)
		}
	})
}
