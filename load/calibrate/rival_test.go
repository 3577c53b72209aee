package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/load/spec"
)

// clientEnv makes the test binary a client of a feeder: Go's net/http, which
// prints its figures as vLLM's client does.
const clientEnv = "BENCH_TEST_CLIENT"

// playClient sends requests to a URL and prints what it saw.
func playClient(url string, streams int) error {
	var mu sync.Mutex
	var ttft, itl []float64
	var failed error
	var all sync.WaitGroup
	began := time.Now()
	for range streams {
		all.Go(func() {
			sent := time.Now()
			body := strings.NewReader(`{"prompt":"x","stream_options":{"include_usage":true}}`)
			resp, err := http.Post(url+"/v1/completions", "application/json", body)
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				return
			}
			defer resp.Body.Close()
			last := sent
			buf := make([]byte, 64<<10)
			for {
				n, err := resp.Body.Read(buf)
				now := time.Now()
				mu.Lock()
				for range bytes.Count(buf[:n], []byte(`"finish_reason":null`)) {
					if last.Equal(sent) {
						ttft = append(ttft, now.Sub(sent).Seconds())
					} else {
						itl = append(itl, now.Sub(last).Seconds())
					}
					last = now
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()

	took := time.Since(began).Seconds()
	slices.Sort(ttft)
	slices.Sort(itl)
	tokens := len(ttft) + len(itl)
	fmt.Printf("============ Serving Benchmark Result ============\n")
	for _, line := range []struct {
		label string
		value float64
	}{
		{"Successful requests:", float64(len(ttft))},
		{"Benchmark duration (s):", took},
		{"Total generated tokens:", float64(tokens)},
		{"Output token throughput (tok/s):", float64(tokens) / took},
		{"Median TTFT (ms):", 1e3 * quantile(ttft, 0.5)},
		{"P99 TTFT (ms):", 1e3 * quantile(ttft, 0.99)},
		{"Median ITL (ms):", 1e3 * quantile(itl, 0.5)},
		{"P99 ITL (ms):", 1e3 * quantile(itl, 0.99)},
	} {
		fmt.Printf("%-40s %-10.2f\n", line.label, line.value)
	}
	fmt.Println("==================================================")
	return failed
}

// TestMeasureRival: any client's command is driven against the feeder, and what it says
// is beside the feeder's own truth; one that fails is a row that says why.
func TestMeasureRival(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(clientEnv, "1")
	o := RivalOptions{
		Options: Options{Feeder: testFeeder, Widths: []int{2, 5}, Tokens: 6, Gap: 5 * time.Millisecond},
		Command: []string{self, "{url}", "{streams}"},
	}
	rows, err := measureRival(t.Context(), o)
	if err != nil || len(rows) != 2 {
		t.Fatalf("rows %+v, %v", rows, err)
	}
	for i, streams := range []int{2, 5} {
		r := rows[i]
		if r.Failed != "" || r.Streams != streams || r.Truth.Requests != streams || r.Truth.Tokens != 6*streams ||
			r.Truth.TTFT.P50 < 0.1 || r.Said.TTFTP50 == nil || r.Said.ITLP99 == nil {
			t.Errorf("%d streams: %+v", streams, r)
			continue
		}
		// A client cannot see a token before it was written; its figures have two decimals of a millisecond.
		if *r.Said.TTFTP50 < r.Truth.TTFT.P50-1e-4 {
			t.Errorf("%d streams: the client says %v s, the truth is %v s", streams, *r.Said.TTFTP50, r.Truth.TTFT.P50)
		}
	}

	var table bytes.Buffer
	o.Command = []string{self, "http://127.0.0.1:1", "{streams}"}
	o.Widths = []int{1}
	rows, err = measureRival(t.Context(), o)
	if err != nil || len(rows) != 1 || !strings.Contains(rows[0].Failed, "refused") {
		t.Fatalf("a client that fails: %+v, %v", rows, err)
	}
	if err := writeRivals(&table, rows); err != nil || !strings.Contains(table.String(), "1 streams: ") {
		t.Errorf("table, %v:\n%s", err, &table)
	}
	o.Command = []string{"no-such-client-anywhere"}
	if rows, err = measureRival(t.Context(), o); err != nil || !strings.Contains(rows[0].Failed, "no-such-client") {
		t.Errorf("no program: %+v, %v", rows, err)
	}
}

// TestTruth: the truth is computed from the feeder's own times.
func TestTruth(t *testing.T) {
	const ms = int64(time.Millisecond)
	got := truthOf([]*served{
		{
			arrived: 10 * ms,
			writes:  []int64{110 * ms, 130 * ms, 160 * ms},
		},
		{arrived: 20 * ms, writes: []int64{140 * ms}},
		{arrived: 5 * ms},
	})
	want := Truth{
		Requests: 2, Tokens: 4, DurationS: 0.15, TTFT: Spread{0.11, 0.11, 0.1198}, ITL: Spread{0.025, 0.025, 0.0299},
		E2EL: Spread{0.135, 0.12, 0.12},
	}
	if got.Requests != want.Requests || got.Tokens != want.Tokens || math.Abs(got.DurationS-want.DurationS) > 1e-9 ||
		math.Abs(got.TTFT.Mean-want.TTFT.Mean) > 1e-9 || math.Abs(got.ITL.Mean-want.ITL.Mean) > 1e-9 ||
		math.Abs(got.E2EL.Mean-want.E2EL.Mean) > 1e-9 || math.Abs(got.TTFT.P50-want.TTFT.P50) > 1e-9 ||
		math.Abs(got.TTFT.P99-want.TTFT.P99) > 1e-9 || math.Abs(got.ITL.P99-want.ITL.P99) > 1e-9 {
		t.Errorf("truth %+v, want %+v", got, want)
	}
	if empty := truthOf(nil); empty != (Truth{}) {
		t.Errorf("truth of nothing: %+v", empty)
	}
}

// TestDensest: the requests of a load are distinguished from those that a client sends before and after.
func TestDensest(t *testing.T) {
	var all []*served
	for _, at := range []int64{10, 500, 501, 503, 900} {
		all = append(all, &served{arrived: at})
	}
	for n, want := range map[int][]*served{
		0: all[:0], 1: all[:1], 2: all[1:3], 3: all[1:4], 4: all[1:5], 5: all, 9: all,
	} {
		if got := densest(all, n); !slices.Equal(got, want) {
			t.Errorf("the %d closest: %d requests from %v on", n, len(got), got)
		}
	}
}

// TestFeederAnswersClients: what clients ask before they send is answered, in a chat as in
// completions; what is unknown ends the connection.
func TestFeederAnswersClients(t *testing.T) {
	feeder, err := startFeeder(testFeeder(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := feeder.stop(); err != nil {
			t.Error(err)
		}
	}()
	if err := feeder.begin(t.Context(), pace{gap: time.Millisecond, tokens: 3}); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, "http://"+feeder.addr+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		req.Close = true
		resp, err := (&http.Transport{}).RoundTrip(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/v1/models", "", `"id":"calibrate"`},
		{"GET", "/health", "", ""},
		{"POST", "/v1/completions", "{}", `"text":"`},
		{"POST", "/v1/chat/completions", `{"stream_options":{"include_usage":true}}`, `"completion_tokens":3`},
		{"POST", "/v1/chat/completions", "{}", `"delta":{"content":"`},
	} {
		got, err := ask(c.method, c.path, c.body)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q, %v, want %q in it", c.method, c.path, got, err, c.want)
		}
	}
	truth, err := feeder.truth(t.Context(), 100)
	if err != nil || truth.Requests != 3 || truth.Tokens != 9 {
		t.Errorf("truth %+v, %v, want 3 requests of 3 tokens", truth, err)
	}
	if truth, err = feeder.truth(t.Context(), 2); err != nil || truth.Requests != 2 {
		t.Errorf("truth of two: %+v, %v", truth, err)
	}
	if got, err := ask("PUT", "/", ""); err == nil {
		t.Errorf("PUT: %q, want no answer", got)
	}
}

func TestSplitCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"vllm bench serve --base-url {url}": {"vllm", "bench", "serve", "--base-url", "{url}"},
		`a 'b c' "d \" e" f\ g ''`:          {"a", "b c", `d " e`, "f g", ""},
		`a $HOME;rm|x`:                      {"a", "$HOME;rm|x"},
	} {
		if got, err := splitCommand(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("splitCommand(%q) = %q, %v, want %q", line, got, err, want)
		}
	}
	for _, bad := range []string{"", "  ", "a 'b", `a "b`, `a \`} {
		if got, err := splitCommand(bad); err == nil {
			t.Errorf("splitCommand(%q) = %q, want an error", bad, got)
		}
	}
}

// TestBoundAgainstTheTruth: what the client says is off from the feeder's own truth
// by no more than its bound, and what the bytes need to get from one to the other.
// A busy machine delays the bytes, so one pass of many counts.
func TestBoundAgainstTheTruth(t *testing.T) {
	feeder, err := startFeeder(testFeeder(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := feeder.stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		const passes = 30
		farOff := []string{"not tried"}
		for pass := 0; pass < passes && len(farOff) > 0; pass++ {
			farOff = beyondBounds(t, feeder, transport)
		}
		if len(farOff) > 0 {
			t.Errorf("%s: in each of %d passes farther off than its bound, last %q", transport, passes, farOff)
		}
	}
}

// beyondBounds drives a pass, and gives the figures that are farther off from the
// truth than the client says.
func beyondBounds(t *testing.T, feeder *feederProcess, transport string) []string {
	t.Helper()
	const transit = 0.002 // s; far above what loopback takes, of medians
	p := pace{ttft: ttft, gap: 10 * time.Millisecond, tokens: 30}
	if err := feeder.begin(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	s, err := driveClient(t.Context(), transport, feeder.addr, p, 20, 20)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := feeder.truth(t.Context(), 20)
	if err != nil || truth.Requests != 20 || s.atMost == nil {
		t.Fatalf("%s: truth %+v, %v, bounds %v", transport, truth, err, s.atMost)
	}

	var farOff []string
	for _, c := range []struct {
		name              string
		said, true, bound float64
	}{
		{"median TTFT", quantile(s.sent, 0.5), truth.TTFT.P50, s.atMost.ttft},
		{"median ITL", quantile(s.itl, 0.5), truth.ITL.P50, s.atMost.itlP50},
	} {
		if math.Abs(c.said-c.true) > c.bound+transit {
			farOff = append(farOff, fmt.Sprintf("%s is %.3f ms, the truth %.3f ms, the bound %.3f ms", c.name,
				1e3*c.said, 1e3*c.true, 1e3*c.bound))
		}
	}
	return farOff
}
