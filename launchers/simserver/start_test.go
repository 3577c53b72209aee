package simserver

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func TestStartLog(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.Model, cfg.TensorParallelSize, cfg.LoadTime = "meta-llama/Llama-3.1-70B-Instruct", 8, time.Second
	l := launch(t, cfg)
	log := l.log.String()
	at := 0
	for _, want := range []string{
		disclaimer, "vLLM API server version simulator-1",
		"non-default args: {'model': 'meta-llama/Llama-3.1-70B-Instruct'", "'tensor_parallel_size': 8",
		"Simulating meta-llama/Llama-3.1-70B-Instruct as llama-70b on 8 x mi300x",
		"Loading weights took 0.01 seconds", "Model loading took 131.50 GiB", "torch.compile takes",
		"GPU KV cache size: ", "Maximum concurrency for 4,096 tokens per request: ",
		"Graph capturing finished", "init engine (profile, create kv cache, warmup model) took",
		"Starting vLLM API server 0 on " + l.url,
		"Started server process", "Application startup complete.",
	} {
		i := strings.Index(log[at:], want)
		if i < 0 {
			t.Fatalf("log lacks %q at its place:\n%s", want, log)
		}
		at += i
	}
	if !strings.HasPrefix(log, disclaimer) {
		t.Errorf("log begins with %q, want %q", log[:min(len(log), 80)], disclaimer)
	}
}

// While vLLM loads, its port is taken but nobody listens.
func TestPortHeldWhileLoading(t *testing.T) {
	t.Parallel()
	p, err := bindPort("127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", p.addr); err == nil {
		_ = c.Close()
		t.Errorf("connect to %s before listen succeeds, want it refused", p.addr)
	}
	if err := plainBind(t, p.fd); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("plain bind to %s a second time = %v, want EADDRINUSE", p.addr, err)
	}
	l, err := p.listen()
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatalf("connect to %s after listen: %v", p.addr, err)
	}
	_ = c.Close()
	_ = l.Close()
	p.close()
	if _, err := bindPort("no host", 1); err == nil {
		t.Errorf("bindPort(%q) succeeds, want an error", "no host")
	}
}

// plainBind binds another socket to the address of fd, without SO_REUSEADDR:
// with it Linux would allow that as long as nobody listens.
func plainBind(t *testing.T, fd int) error {
	t.Helper()
	addr, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	second, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(second) }()
	return unix.Bind(second, addr)
}

// Two servers that load at once on one port: the slower one learns it at last.
func TestPortLostWhileLoading(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	number, err := strconv.Atoi(l.url[strings.LastIndex(l.url, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	cfg, log := fast(), &safeBuffer{}
	cfg.Port, cfg.LoadTime = number, time.Second
	if err := Run(t.Context(), cfg, log); !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(log.String(),
		"[Errno 98]") {
		t.Errorf("Run() = %v, log %q, want address in use", err, log)
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		limit    time.Duration
		complete bool
	}{
		{"enough time", 10 * time.Second, true},
		{"too little time", time.Millisecond, false},
	} {
		cfg := fast()
		cfg.Speed, cfg.ShutdownTimeout = 4, c.limit
		l := launch(t, cfg)
		result := make(chan reply, 1)
		go func() {
			result <- l.post(t, "/v1/completions", `{"prompt":"x","max_tokens":100,"ignore_eos":true,"stream":true}`)
		}()
		eventually(t, "the request runs", func() bool {
			return metric(t, l.get(t, "/metrics").body, "vllm:num_requests_running") == 1
		})
		l.cancel()
		r := <-result
		if _, done := chunks(t, r.body); done != c.complete || (r.err == nil) != c.complete {
			t.Errorf("%s: stream complete %v, error %v, want complete %v", c.name, done, r.err, c.complete)
		}
		<-l.ended
		if l.err != nil {
			t.Errorf("%s: Run() = %v, want nil", c.name, l.err)
		}
		if _, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://")); err == nil {
			t.Errorf("%s: the port still accepts connections", c.name)
		}
	}
}

func TestStatsLines(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.StatsInterval = 20 * time.Millisecond
	cfg.Speculation = simengine.Speculation{Model: "Llama-1B", Tokens: 2, Acceptance: []float64{0.8}}
	l := launch(t, cfg)
	l.post(t, "/v1/completions", `{"prompt":"x","max_tokens":400,"ignore_eos":true}`)
	eventually(t, "statistics are logged", func() bool {
		log := l.log.String()
		return strings.Contains(log, "Engine 000: Avg prompt throughput: ") && strings.Contains(log,
			"SpecDecoding metrics: Mean acceptance length: ")
	})
}

func TestStatsLineFormat(t *testing.T) {
	t.Parallel()
	before := simengine.Gauges{Counters: simengine.NewCounters(2)}
	now := simengine.Gauges{Counters: simengine.NewCounters(2), Running: 3, Waiting: 1, KVUsage: 0.125}
	now.PromptTokens, now.OutputTokens, now.PrefixQueries, now.PrefixHits = 100, 50, 100, 25
	now.Drafts, now.DraftTokens, now.Accepted, now.AcceptedAt = 10, 20, 12, []int64{8, 4}
	want := "Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 5.0 tokens/s, Running: 3 " +
		"reqs, Waiting: 1 reqs, " +
		"GPU KV cache usage: 12.5%, Prefix cache hit rate: 25.0%"
	if got := statsLine(before, now, 10*time.Second); got != want {
		t.Errorf("statsLine() = %q, want %q", got, want)
	}
	want = "SpecDecoding metrics: Mean acceptance length: 2.20, Accepted throughput: 1.20 tokens/s, Drafted " +
		"throughput: 2.00 tokens/s, " +
		"Accepted: 12 tokens, Drafted: 20 tokens, Per-position acceptance rate: 0.800, 0.400, Avg Draft acceptance " +
		"rate: 60.0%"
	if got := specLine(before, now, 10*time.Second); got != want {
		t.Errorf("specLine() = %q, want %q", got, want)
	}
}

func TestStopWhileLoading(t *testing.T) {
	t.Parallel()
	for _, persona := range []string{simengine.PersonaVLLM, simengine.PersonaLlamaCpp} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		cfg := simengine.Config{AnyPort: true, Persona: persona, LoadTime: time.Hour}
		if err := Run(ctx, cfg, &safeBuffer{}); err != nil {
			t.Errorf("%s: Run() = %v, want nil", persona, err)
		}
		cancel()
	}
}
