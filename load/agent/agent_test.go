package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine answers completions with tokens at a steady pace, and remembers what
// it was asked.
type engine struct {
	gap time.Duration

	mu    sync.Mutex
	asked []string
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt    string `json:"prompt"`
		MaxTokens int    `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.asked = append(e.asked, r.Header.Get("X-Request-Id")+" "+body.Prompt)
	e.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for range body.MaxTokens {
		select {
		case <-time.After(e.gap):
		case <-r.Context().Done():
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"text\":\"x\",\"finish_reason\":null}]}\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	fmt.Fprintf(w,
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n",
		body.MaxTokens)
}

// take returns what was asked since the last call, in order.
func (e *engine) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	slices.Sort(asked)
	return asked
}

func serveEngine(t *testing.T, gap time.Duration) (*engine, load.Target) {
	t.Helper()
	e := &engine{gap: gap}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return e, load.Target{BaseURLs: []string{server.URL}, Path: "/v1/completions", API: "completions", Model: "m"}
}

// places run agents in this process, each at the end of a pipe. Closing what
// hang returns is the death of an agent.
func places(t *testing.T, n int, version string) (all []Place, kill func(i int)) {
	t.Helper()
	return placesOf(t, n, version, func(int) Runner { return load.Run })
}

// placesOf are places whose agents drive passes by what run gives.
func placesOf(t *testing.T, n int, version string, run func(i int) Runner) (all []Place, kill func(i int)) {
	t.Helper()
	var mu sync.Mutex
	ends := map[int]net.Conn{}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	for i := range n {
		name := fmt.Sprintf("host%d", i)
		all = append(all, Place{Name: name, Dial: func(context.Context) (io.ReadWriteCloser, error) {
			here, there := net.Pipe()
			mu.Lock()
			ends[i] = there
			mu.Unlock()
			serving.Go(func() {
				_ = Serve(context.Background(), there, Identity{Version: version, Host: name}, run(i), busyHost(name))
			})
			return here, nil
		}})
	}
	return all, func(i int) {
		mu.Lock()
		defer mu.Unlock()
		_ = ends[i].Close()
	}
}

// busyHost samples a host whose CPUs are busy as long as the pass lasts.
func busyHost(name string) Watch {
	return func(context.Context) func(time.Time, float64) results.NodeTelemetry {
		began := time.Now()
		return func(zero time.Time, lastedS float64) results.NodeTelemetry {
			figures := &results.HostFigures{CPUBusyMean: new(1.0), Load1Max: &lastedS}
			if zero.Before(began) {
				figures.CPUBusyMean = nil // it was not sampled from the beginning
			}
			return results.NodeTelemetry{Node: name, Host: figures}
		}
	}
}

// The figures of each agent's host come with its report.
func TestHostsOfAgents(t *testing.T) {
	_, target := serveEngine(t, time.Millisecond)
	all, _ := places(t, 2, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()

	_, report, err := drive(t.Context(), t, d.Run, load.Options{
		Target: target, Settings: spec.Settings{MaxConcurrency: 2},
	}, somePrompts(4, 1))
	if err != nil || len(report.Agents) != 2 {
		t.Fatalf("Run() = %+v, %v, want the reports of two agents", report, err)
	}
	for _, a := range report.Agents {
		host := a.Telemetry
		if host == nil || host.Node != a.Host || host.Host.CPUBusyMean == nil || *host.Host.Load1Max <= 0 {
			t.Errorf("host of agent %s = %+v, want what was sampled beside the whole pass", a.Name, host)
		}
	}
}

func drive(ctx context.Context, t *testing.T, run Runner, opts load.Options,
	prompts []dialect.Prompt,
) (map[int]results.Record, results.ClientReport, error) {
	t.Helper()
	got := map[int]results.Record{}
	report, err := run(ctx, opts, prompts, func(r results.Record) error {
		if _, twice := got[r.Index]; twice {
			t.Errorf("two records of request %d", r.Index)
		}
		got[r.Index] = r
		return nil
	})
	return got, report, err
}

func somePrompts(n, turns int) []dialect.Prompt {
	var out []dialect.Prompt
	for i := range n {
		p := dialect.Prompt{Text: fmt.Sprintf("p%d", i), InputTokens: 3, OutputTokens: 2 + i%3}
		for turn := range turns * (i % 2) {
			p.Turns = append(p.Turns, dialect.Turn{Text: fmt.Sprintf(" t%d", turn), OutputTokens: 2})
		}
		out = append(out, p)
	}
	return out
}

// TestSameAsOneClient: the same requests at the same times, whoever sends them,
// and so the same figures.
func TestSameAsOneClient(t *testing.T) {
	arrivals := func(n int) (at []float64) {
		for i := range n {
			at = append(at, math.Sqrt(float64(i))*0.05)
		}
		return at
	}
	for _, c := range []struct {
		name    string
		opts    load.Options
		prompts []dialect.Prompt
	}{
		{"open loop", load.Options{Arrivals: arrivals(31)}, somePrompts(31, 0)},
		{"all at once", load.Options{}, somePrompts(17, 0)},
		{"capped", load.Options{Settings: spec.Settings{MaxConcurrency: 4}}, somePrompts(12, 0)},
		{"conversations", load.Options{Arrivals: arrivals(9)}, somePrompts(9, 2)},
		{"repeats", load.Options{Arrivals: arrivals(23), Repeat: true, RequestIDPrefix: "own-"}, somePrompts(5, 1)},
		{"fewer requests than agents", load.Options{}, somePrompts(2, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, target := serveEngine(t, 20*time.Millisecond)
			c.opts.Target, c.opts.Body, c.opts.Sampling.Stop = target, map[string]any{"seed": 12345678901234567},
				[]string{"###"}
			alone, aloneReport, err := drive(t.Context(), t, load.Run, c.opts, c.prompts)
			if err != nil {
				t.Fatal(err)
			}
			asked := e.take()
			for n := 1; n <= 3; n++ {
				all, _ := places(t, n, "v1")
				d := &Driver{Places: all, Version: "v1"}
				got, report, err := drive(t.Context(), t, d.Run, c.opts, c.prompts)
				d.Close()
				if err != nil {
					t.Fatalf("%d agents: %v", n, err)
				}
				if diff := cmp.Diff(asked, e.take()); diff != "" {
					t.Errorf("%d agents ask otherwise (-one client +agents):\n%s", n, diff)
				}
				sameRecords(t, alone, got, c.opts)
				sameFigures(t, alone, got, aloneReport, report)
				bounded(t, report, n, len(got))
			}
		})
	}
}

// sameRecords compares what does not depend on the moment.
func sameRecords(t *testing.T, want, got map[int]results.Record, opts load.Options) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.RequestID != w.RequestID || g.Conversation != w.Conversation || g.Turn != w.Turn ||
			g.ChunkKinds != w.ChunkKinds ||
			*g.OutputTokens != *w.OutputTokens || g.Failure != nil || !strings.HasPrefix(g.Agent, "host") {
			t.Errorf("request %d: %+v, want as %+v", i, g, w)
		}
		if opts.Arrivals != nil && w.Turn <= 1 && g.IntendedS != w.IntendedS {
			t.Errorf("request %d is due at %v, want %v", i, g.IntendedS, w.IntendedS)
		}
		if late := *g.SentS - g.IntendedS; opts.MaxConcurrency == 0 && late < 0 {
			t.Errorf("request %d was sent %v s early", i, -late)
		}
	}
}

func sameFigures(t *testing.T, want, got map[int]results.Record, wantReport, report results.ClientReport) {
	t.Helper()
	figures := func(records map[int]results.Record, duration float64) results.Figures {
		var list []results.Record
		for i := range len(records) {
			list = append(list, records[i])
		}
		return metrics.Summarize(list, metrics.Params{DurationS: duration, Asked: len(list)})
	}
	w, g := figures(want, wantReport.DurationS), figures(got, report.DurationS)
	if w.Completed != g.Completed || w.TTFT.N != g.TTFT.N || *w.TotalOutputTokens != *g.TotalOutputTokens {
		t.Errorf("completed %d with %d TTFTs and %d tokens, want %d, %d, %d", g.Completed, g.TTFT.N,
			*g.TotalOutputTokens, w.Completed, w.TTFT.N, *w.TotalOutputTokens)
	}
	last := 0.0
	for _, r := range got {
		last = max(last, r.EndS)
	}
	if report.DurationS != last || report.PeakInFlight < 1 {
		t.Errorf("duration %v, peak %d, want %v, the end of the last request", report.DurationS,
			report.PeakInFlight, last)
	}
}

func bounded(t *testing.T, report results.ClientReport, agents, requests int) {
	t.Helper()
	total := 0
	for _, a := range report.Agents {
		total += a.Requests
		if a.OffsetBoundS <= 0 || a.DriftS == nil || a.Host != a.Name {
			t.Errorf("agent %+v: want a small bound", a)
		}
	}
	if total != requests || len(report.Agents) > agents || report.Stamps != "kernel" {
		t.Errorf("%d requests by %d agents, stamps %q", total, len(report.Agents), report.Stamps)
	}
}

// TestAgentDies: the pass fails and says who was lost; all records that there
// are come, and the next run starts the agent again.
func TestAgentDies(t *testing.T) {
	_, target := serveEngine(t, 20*time.Millisecond)
	all, kill := places(t, 3, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	opts := load.Options{
		Target: target, Settings: spec.Settings{MaxConcurrency: 6},
		ProgressPeriod: 30 * time.Millisecond,
	}
	var once sync.Once
	opts.Progress = func(p load.Progress) {
		if p.Completed > 10 {
			once.Do(func() { kill(1) })
		}
	}
	got, report, err := drive(t.Context(), t, d.Run, opts, somePrompts(3000, 0))
	failure, ok := errors.AsType[*results.Failure](err)
	if !ok || failure.Class != results.FailAgent || !strings.Contains(failure.Message, "host1") ||
		report.Interrupted == "" {
		t.Errorf("Run = %v, interrupted %q, want the loss of host1", err, report.Interrupted)
	}
	by := map[string]int{}
	for _, r := range got {
		if r.Failure == nil {
			by[r.Agent]++
		}
	}
	if len(got) < 10 || by["host0"] == 0 || by["host1"] == 0 || by["host2"] == 0 {
		t.Errorf("%d records, good ones by %v: want some of each", len(got), by)
	}
	if got, _, err := drive(t.Context(), t, d.Run, load.Options{Target: target}, somePrompts(6, 0)); err != nil ||
		len(got) != 6 {
		t.Errorf("the next run: %d records, %v", len(got), err)
	}
}

// TestCancel: what is in flight is recorded as canceled, and agents continue
// serving.
func TestCancel(t *testing.T) {
	_, target := serveEngine(t, 30*time.Millisecond)
	all, _ := places(t, 2, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	for range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		opts := load.Options{Target: target, Settings: spec.Settings{MaxConcurrency: 4}, Started: func(time.Time) {
			time.AfterFunc(150*time.Millisecond, func() { cancel(errors.New("enough")) })
		}}
		got, report, err := drive(ctx, t, d.Run, opts, somePrompts(500, 0))
		canceled := 0
		for _, r := range got {
			if r.Failure != nil && r.Failure.Class == results.FailCanceled {
				canceled++
			}
		}
		if err != nil || canceled == 0 || canceled > 4 || report.Interrupted != "enough" {
			t.Errorf("Run = %v, %d canceled, interrupted %q", err, canceled, report.Interrupted)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _, err := drive(ctx, t, d.Run, load.Options{Target: target}, somePrompts(5, 0)); err == nil ||
		len(got) > 5 {
		t.Errorf("Run of an ended context = %v, %d records", err, len(got))
	}
	if got, _, err := drive(t.Context(), t, d.Run, load.Options{Target: target}, somePrompts(5, 0)); err != nil ||
		len(got) != 5 {
		t.Errorf("the next run: %d records, %v", len(got), err)
	}
}

// TestCountsAcross: the coordinator counts the tokens of answers whose server
// does not.
func TestCountsAcross(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w,
			"data: {\"choices\":[{\"index\":0,\"text\":\"a b c\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	all, _ := places(t, 2, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	opts := load.Options{
		Target: load.Target{
			BaseURLs: []string{server.URL}, Path: "/v1/completions",
			API: "completions", Model: "m",
		},
		CountTokens: func(_ context.Context, text string) (int, error) { return len(strings.Fields(text)), nil },
	}
	got, _, err := drive(t.Context(), t, d.Run, opts, somePrompts(6, 0))
	if err != nil || len(got) != 6 {
		t.Fatalf("Run = %v, %d records", err, len(got))
	}
	for _, r := range got {
		if r.OutputTokens == nil || *r.OutputTokens != 3 || r.OutputTokensSource != results.CountTokenize {
			t.Errorf("request %d has %v tokens by %s, want 3", r.Index, r.OutputTokens, r.OutputTokensSource)
		}
	}
}

// TestTLSReachesAgents: agents believe whom the coordinator does, and nobody
// else.
func TestTLSReachesAgents(t *testing.T) {
	server := httptest.NewUnstartedServer(&engine{})
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are refused
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	all, _ := places(t, 2, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	for _, c := range []struct {
		name string
		tls  *tls.Config
		ca   []byte
		want string // of the pass's error, else of each record's failure; "": none
	}{
		{"an authority", &tls.Config{RootCAs: roots}, ca, ""},
		{"any certificate", &tls.Config{InsecureSkipVerify: true}, nil, ""},
		{"the system's authorities", nil, nil, "certificate"},
		{"no PEM", &tls.Config{RootCAs: x509.NewCertPool()}, []byte("none"), "certificate"},
		{"an authority that cannot travel", &tls.Config{RootCAs: roots}, nil, "only authorities as PEM"},
		{
			"a certificate of one's own", &tls.Config{Certificates: make([]tls.Certificate, 1)}, nil,
			"only authorities as PEM",
		},
	} {
		opts := load.Options{Target: load.Target{
			BaseURLs: []string{server.URL}, Path: "/v1/completions",
			API: "completions", Model: "m", TLS: c.tls, CA: c.ca,
		}}
		got, _, err := drive(t.Context(), t, d.Run, opts, somePrompts(4, 0))
		if err != nil {
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: Run = %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if len(got) != 4 {
			t.Errorf("%s: %d records, want 4", c.name, len(got))
		}
		for i, r := range got {
			if (r.Failure == nil) != (c.want == "") || r.Failure != nil &&
				!strings.Contains(r.Failure.Message, c.want) {
				t.Errorf("%s: request %d: %v, want %q", c.name, i, r.Failure, c.want)
			}
		}
	}
}

// TestEachAgentsCost: what each agent cost is reported, and the calibration
// of its host, which stands for no other.
func TestEachAgentsCost(t *testing.T) {
	_, target := serveEngine(t, time.Millisecond)
	all, _ := placesOf(t, 2, "v1", func(i int) Runner {
		return func(ctx context.Context, opts load.Options, prompts []dialect.Prompt,
			emit load.Emit,
		) (results.ClientReport, error) {
			report, err := load.Run(ctx, opts, prompts, emit)
			report.CPUSeconds, report.GCPauseS, report.CPUs = new(float64(i)+1), new(float64(i)+2), i+3
			if i == 0 {
				report.Calibration = &results.Calibration{CPU: "of host0"}
			}
			return report, err
		}
	})
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	_, report, err := drive(t.Context(), t, d.Run, load.Options{Target: target}, somePrompts(4, 0))
	if err != nil || len(report.Agents) != 2 || report.Calibration != nil {
		t.Fatalf("Run = %+v, %v, want two agents and no calibration of all", report, err)
	}
	for i, a := range report.Agents {
		if a.CPUSeconds == nil || *a.CPUSeconds != float64(i)+1 || a.GCPauseS == nil || *a.GCPauseS != float64(i)+2 ||
			a.CPUs != i+3 || a.LateP99S == nil {
			t.Errorf("agent %d: %+v, want its own cost", i, a)
		}
		if (a.Calibration != nil) != (i == 0) {
			t.Errorf("agent %d has calibration %v", i, a.Calibration)
		}
	}
}

// said is a stream whose other end says something fixed.
type said struct {
	io.Reader

	closed chan struct{}
	once   *sync.Once
}

func newSaid(text string, hang bool) said {
	s := said{closed: make(chan struct{}), once: &sync.Once{}}
	s.Reader = strings.NewReader(text)
	if hang {
		s.Reader = io.MultiReader(s.Reader, waiting{s.closed})
	}
	return s
}

func (s said) Write(p []byte) (int, error) { return len(p), nil }
func (s said) Close() error                { s.once.Do(func() { close(s.closed) }); return nil }

type waiting struct{ until chan struct{} }

func (w waiting) Read([]byte) (int, error) { <-w.until; return 0, io.EOF }

func TestWhoIsNoAgent(t *testing.T) {
	for _, c := range []struct {
		name string
		dial func() (io.ReadWriteCloser, error)
		want string
	}{
		{"a greeting of the shell", func() (io.ReadWriteCloser, error) {
			return newSaid("Welcome to host\n", true), nil
		}, `it sent "Welcome to host`},
		{"ends at once", func() (io.ReadWriteCloser, error) { return newSaid("", false), nil }, "its stream ended"},
		{
			"ends within", func() (io.ReadWriteCloser, error) { return newSaid("\x00\x00\x00\x09abc", false), nil },
			"ends within a message",
		},
		{
			"no JSON", func() (io.ReadWriteCloser, error) { return newSaid("\x00\x00\x00\x03abc", false), nil },
			"read message",
		},
		{"another message", func() (io.ReadWriteCloser, error) {
			return newSaid("\x00\x00\x00\x0e"+`{"kind":"odd"}`, true), nil
		}, `begins with "odd"`},
		{
			"cannot start", func() (io.ReadWriteCloser, error) { return nil, errors.New("no route to host") },
			"no route to host",
		},
		{"silent", func() (io.ReadWriteCloser, error) { return newSaid("", true), nil }, "context deadline exceeded"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.name == "silent" {
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		}
		d := &Driver{Version: "v1", Places: []Place{{Name: "far", Dial: func(context.Context) (io.ReadWriteCloser,
			error,
		) {
			return c.dial()
		}}}}
		err := d.Connect(ctx)
		cancel()
		d.Close()
		if failure, ok := errors.AsType[*results.Failure](err); !ok || failure.Class != results.FailAgent ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Connect = %v, want %q", c.name, err, c.want)
		}
	}
	all, _ := places(t, 1, "v2")
	if err := (&Driver{Places: all, Version: "v1"}).Connect(t.Context()); err == nil || !strings.Contains(err.Error(),
		"is bench v2, this is bench v1: install") {
		t.Errorf("Connect to another version = %v", err)
	}
}

// TestJobsThatCannotBe are refused by both ends.
func TestJobsThatCannotBe(t *testing.T) {
	all, _ := places(t, 2, "v1")
	d := &Driver{Places: all, Version: "v1"}
	defer d.Close()
	_, target := serveEngine(t, time.Millisecond)
	broken := target
	broken.API = "no such"
	for _, c := range []struct {
		opts    load.Options
		prompts []dialect.Prompt
		want    string
	}{
		{load.Options{Target: target}, nil, "no prompts"},
		{load.Options{Target: broken}, somePrompts(4, 0), "no such"},
		{load.Options{Target: target, Arrivals: []float64{1, 0, 2, 3}}, somePrompts(4, 0), "ascending"},
		{load.Options{Target: target, RequestID: func(int) string { return "" }}, somePrompts(4, 0), "request ids"},
	} {
		if got, _, err := drive(t.Context(), t, d.Run, c.opts, c.prompts); err == nil || !strings.Contains(err.Error(),
			c.want) || len(got) > 0 {
			t.Errorf("Run = %v, %d records, want %q", err, len(got), c.want)
		}
	}
	if got, _, err := drive(t.Context(), t, d.Run, load.Options{Target: target}, somePrompts(4, 0)); err != nil ||
		len(got) != 4 {
		t.Errorf("a good job afterwards: %d records, %v", len(got), err)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		sent, until, there, since int64
		want                      reading
	}{
		{1000, 1400, 5000, 200, reading{3900, 100, true}},
		{1000, 1000, 500, 0, reading{-500, 0, true}},
		{0, 3, 10, 0, reading{9, 2, true}},
		{0, 100, 10, 300, reading{10, 0, true}}, // clocks of other speeds
	} {
		if got := compare(c.sent, c.until, c.there, c.since); got != c.want {
			t.Errorf("compare(%d, %d, %d, %d) = %+v, want %+v", c.sent, c.until, c.there, c.since, got, c.want)
		}
	}
}

// FuzzShare: whatever the prompts, each request belongs to exactly one agent,
// under the number that one client gives it.
func FuzzShare(f *testing.F) {
	f.Add(uint8(3), uint8(2), []byte{0, 2, 1})
	f.Fuzz(func(t *testing.T, agents, rounds uint8, turns []byte) {
		n, repeats := int(agents%5)+1, int(rounds%4)+1
		if len(turns) == 0 || len(turns) > 12 {
			return
		}
		var prompts []dialect.Prompt
		for _, extra := range turns {
			prompts = append(prompts, dialect.Prompt{Turns: make([]dialect.Turn, extra%4)})
		}
		opts := load.Options{Repeat: true, Arrivals: make([]float64, repeats*len(prompts))}
		cycle := cycleOf(prompts)
		seen := map[int]bool{}
		for a := range n {
			s := share{Agents: n, Agent: a, Cycle: cycle}
			mine, at := s.deal(opts, prompts)
			s.of(mine)
			if len(mine) == 0 && len(at) > 0 {
				t.Fatalf("agent %d of %d has %d times and no prompts", a, n, len(at))
			}
			i := 0
			for k := range at {
				for turn := range 1 + len(mine[k%len(mine)].Turns) {
					index, conversation := s.number(i)
					if seen[index] || conversation != k*n+a {
						t.Fatalf("agent %d of %d: its request %d is %d of conversation %d, turn %d", a, n, i, index,
							conversation, turn)
					}
					seen[index] = true
					i++
				}
			}
		}
		if len(seen) != repeats*cycle[len(prompts)] || !seen[len(seen)-1] {
			t.Fatalf("%d requests, want %d", len(seen), repeats*cycle[len(prompts)])
		}
	})
}

// FuzzFrames: whatever comes, reading ends without a panic, and what was sent
// comes out again.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x10{\"kind\":\"hello\"}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in := newFrames(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(raw), io.Discard})
		for {
			m, err := in.receive()
			if err != nil {
				return
			}
			var out bytes.Buffer
			if err := newFrames(&out).send(m); err != nil {
				t.Fatalf("send of what was received: %v", err)
			}
			again, err := newFrames(&out).receive()
			if err != nil || again.Kind != m.Kind || again.Text != m.Text || again.Number != m.Number {
				t.Fatalf("%+v came out as %+v, %v", m, again, err)
			}
		}
	})
}

// What is hidden in a message changes its length, which is written before it.
func TestFramesWithoutSecrets(t *testing.T) {
	var stream bytes.Buffer
	f := newFrames(&stream)
	f.hide = secrets.NewRedactor([]string{"sk-0123456789abcdef"}).JSON
	for _, text := range []string{"the key sk-0123456789abcdef is refused", "and so on"} {
		if err := f.send(message{Kind: kindDone, Error: text}); err != nil {
			t.Fatal(err)
		}
	}

	for _, want := range []string{"the key " + secrets.Hidden + " is refused", "and so on"} {
		m, err := f.receive()
		if err != nil || m.Error != want {
			t.Errorf("received %q, %v, want %q", m.Error, err, want)
		}
	}
}
