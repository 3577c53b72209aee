package simserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// sink is a client that swallows everything.
type sink struct{ header http.Header }

func (s sink) Header() http.Header           { return s.header }
func (sink) WriteHeader(int)                 {}
func (sink) Flush()                          {}
func (sink) Write(p []byte) (n int, _ error) { return len(p), nil }

func benchServer(b *testing.B, cfg simengine.Config) *server {
	b.Helper()
	return newServer(mustResolve(b, cfg), &logger{w: io.Discard}, func(simengine.FaultKind) {})
}

// Rendering a chunk allocates nothing.
func BenchmarkChunk(b *testing.B) {
	for _, chat := range []bool{false, true} {
		b.Run(fmt.Sprintf("chat=%v", chat), func(b *testing.B) {
			s := benchServer(b, simengine.Config{})
			a := s.newAnswer(generation{
				api: s.openAI(chat), prompt: []int32{1, 300}, limit: 1 << 30, ignoreEOS: true,
				continuousUsage: true,
			}, "", 1, simengine.Fault{})
			c, out, i := newVLLMChunks(s, a), newEventWriter(sink{http.Header{}}), 0
			b.ReportAllocs()
			for b.Loop() {
				c.write(out, simengine.Event{From: i, N: 1})
				i++
			}
		})
	}
}

// A full step of 256 decoding sequences.
func BenchmarkSchedulerStep(b *testing.B) {
	core := simengine.NewScheduler(mustResolve(b, simengine.Config{}))
	for i := range 256 {
		core.Submit(newTestSequence(i, 200, 20000))
	}
	now, n := epoch, 0
	b.ReportAllocs()
	for b.Loop() {
		batch, seconds := core.Plan()
		start := now
		now = now.Add(time.Duration(seconds * 1e9))
		core.Commit(batch, start, now)
		if n++; n%100 == 0 {
			for _, it := range batch.Items {
				it.Seq.Out.Take(nil)
			}
		}
	}
}

func TestChunkDoesNotAllocate(t *testing.T) {
	s := newServer(mustResolve(t, simengine.Config{}), &logger{w: io.Discard}, func(simengine.FaultKind) {})
	a := s.newAnswer(generation{
		prompt: []int32{1, 300}, limit: 1 << 20, ignoreEOS: true, continuousUsage: true,
		tokenIDs: true,
	}, "", 1, simengine.Fault{})
	c, out, i := newVLLMChunks(s, a), newEventWriter(sink{http.Header{}}), 0
	if n := testing.AllocsPerRun(1000, func() { c.write(out, simengine.Event{From: i, N: 1}); i++ }); n > 0 {
		t.Errorf("a chunk makes %v allocations, want none", n)
	}
}

// BenchmarkStreams serves 512 streams at 50 tokens/s each for some seconds over
// loopback, to clients that only count bytes, and reports what it cost.
func BenchmarkStreams(b *testing.B) {
	const streams, tokens = 512, 150
	l := &live{log: &safeBuffer{}, ended: make(chan struct{})}
	addr := make(chan string, 1)
	// One device step of about 20 ms: slowed down to that by the speed.
	cfg := simengine.Config{
		AnyPort: true, Model: "Llama-8B", MaxNumSeqs: streams, MaxNumBatchedTokens: 1 << 16,
		Speed: 1, OnListen: func(a string) { addr <- a },
	}
	w := simengine.Work{Tokens: streams, Seqs: streams, Context: streams * 100, Attention: streams * 100}
	cfg.Speed = simengine.NewCosts(mustResolve(b, cfg)).Step(w) / 0.020
	go func() { defer close(l.ended); l.err = Run(b.Context(), cfg, l.log) }()
	l.url = <-addr
	for b.Loop() {
		cpu, begin := cpuTime(b), time.Now()
		var done sync.WaitGroup
		for i := range streams {
			done.Go(func() { drainStream(b, l.url, i, tokens) })
		}
		done.Wait()
		n := float64(streams * tokens)
		b.ReportMetric(n/time.Since(begin).Seconds(), "tok/s")
		b.ReportMetric((cpuTime(b)-cpu).Seconds()/n*1e6, "cpu-us/tok")
	}
	resp, err := http.Get("http://" + l.url + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	_, slip, _ := strings.Cut(string(text), "\nsim:schedule_slip_seconds_total")
	b.Logf("slip: %s", strings.TrimSpace(slip))
	http.DefaultClient.CloseIdleConnections()
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func drainStream(b *testing.B, addr string, i, tokens int) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	body := fmt.Sprintf(`{"prompt":[%d,300,301],"max_tokens":%d,"ignore_eos":true,"stream":true}`, 300+i, tokens)
	_,
		_ = fmt.Fprintf(conn,
		"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		len(body), body)
	r := bufio.NewReaderSize(conn, 4096)
	n := 0
	for {
		line, err := r.ReadSlice('\n')
		if bytes.HasPrefix(line, []byte("data: {")) {
			n++
		}
		if err != nil {
			break
		}
	}
	if n != tokens {
		b.Errorf("stream %d has %d chunks, want %d", i, n, tokens)
	}
}
