package web

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a view whose texts would like to be more than texts.
func hostile(state live.RunState) live.View {
	evil := `<script>alert(1)</script>"'\`
	l := results.Live{
		UpdatedAt: time.Unix(1000, 0), RunForS: 60, Phase: results.LiveMeasuring, PhaseS: 5, LeftS: new(10.0),
		RunS:     new(100.0),
		Step:     &results.StepRef{ID: "a_c1_r1", Variant: evil, Point: "c1\nc2", Repeat: 1},
		Requests: &results.LiveRequests{Done: 3, Total: new(10), InFlight: 2, Failed: 1},
		Tokens: &results.LiveTokens{
			PerS: new(12.5), Output: new(int64(300)),
			TTFT: results.LiveTimes{N: 3, P50: new(0.25)},
		},
		Server: &results.LiveServer{KVUse: new(0.5), Running: new(2.0)},
		GPUs:   []results.LiveGPU{{Index: 0, Name: "MI300X", VRAMUsed: new(int64(1 << 30)), PowerW: new(600.0)}},
	}
	step := live.Step{StepRef: *l.Step, State: live.Failed, Why: "requests-failed: " + evil}
	return live.View{
		Name: evil, RunID: "r", State: state, StateText: "running for 60 s",
		Counts: map[live.StepState]int{live.Failed: 1}, Total: 1, Repeats: 1,
		Columns: []string{"c1"}, Rows: []live.Row{{Variant: evil, Cells: [][]live.Step{{step}}}},
		Steps: []live.Step{step},
		Now:   &live.Now{Step: "a c1 r1", Phase: "measuring", Share: new(0.3)}, Live: &l, LogOf: "lives/a/server-0.log",
		Log: []string{evil},
	}
}

func handler(view live.View, token string) *Handler {
	return newHandler(Options{
		View: func() (live.View, error) { return view, nil }, Token: token,
		Hosts: []string{"127.0.0.1", "localhost", "::1"},
	})
}

func get(h http.Handler, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8090/", nil)
	change(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func TestWhoIsLetIn(t *testing.T) {
	const token = "0123456789abcdef"
	tests := []struct {
		name   string
		token  string
		change func(*http.Request)
		want   int
	}{
		{"loopback", "", func(*http.Request) {}, 200},
		{"by name", "", func(r *http.Request) { r.Host = "LOCALHOST:8090" }, 200},
		{"ipv6", "", func(r *http.Request) { r.Host = "[::1]:8090" }, 200},
		{"another name", "", func(r *http.Request) { r.Host = "evil.example:8090" }, 421},
		{"no name", "", func(r *http.Request) { r.Host = "" }, 421},
		{"a name that begins well", "", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 421},
		{"a change", "", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"elsewhere", "", func(r *http.Request) { r.URL.Path = "/etc/passwd" }, 404},
		{"no token", token, func(*http.Request) {}, 401},
		{"another token", token, func(r *http.Request) { r.URL.RawQuery = "token=0123456789abcdeX" }, 401},
		{"a part of it", token, func(r *http.Request) { r.URL.RawQuery = "token=0123456789abcde" }, 401},
		{"in the address", token, func(r *http.Request) { r.URL.RawQuery = "token=" + token }, 303},
		{"as a bearer", token, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }, 200},
		{
			"as a cookie", token, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: token}) },
			200,
		},
		{"metrics without", token, func(r *http.Request) { r.URL.Path = "/metrics" }, 401},
		{"metrics with", token, func(r *http.Request) {
			r.URL.Path = "/metrics"
			r.Header.Set("Authorization",
				"Bearer "+token)
		}, 200},
	}
	for _, test := range tests {
		r := get(handler(hostile(live.RunActive), test.token), test.change)
		if r.StatusCode != test.want {
			t.Errorf("%s: status %d, want %d", test.name, r.StatusCode, test.want)
		}
		if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", test.name, r.Header)
		}
		if test.want == 303 && (r.Header.Get("Location") != "/" ||
			!strings.Contains(r.Header.Get("Set-Cookie"), "HttpOnly")) {
			t.Errorf("%s: headers %v", test.name, r.Header)
		}
	}
}

func TestPage(t *testing.T) {
	r := get(handler(hostile(live.RunActive), ""), func(*http.Request) {})
	page := bodyOf(t, r)
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want 1: names and logs are texts", n)
	}
	for _, want := range []string{
		"running for 60 s", "1 failed", "a c1 r1", `<progress max="1000" value="300">`,
		"&lt;script&gt;alert(1)", "<noscript><meta http-equiv=\"refresh\"", "prefers-color-scheme:dark",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if regexp.MustCompile(`(?i)(src|href)=|https?://|@import|url\(`).MatchString(page) {
		t.Error("the page asks for something else")
	}
	nonce := regexp.MustCompile(`script-src 'nonce-([A-Z0-9]+)'`).FindStringSubmatch(r.Header.Get(
		"Content-Security-Policy"))
	if nonce == nil || !strings.Contains(page, `<script nonce="`+nonce[1]+`">`) || strings.Contains(page, " style=") {
		t.Errorf("policy %q does not fit the page", r.Header.Get("Content-Security-Policy"))
	}
}

// everything is a view in which all is known that metrics can tell.
func everything() live.View {
	v := hostile(live.RunActive)
	v.Counts = map[live.StepState]int{live.Done: 4, live.Failed: 1, live.Running: 1, live.Pending: 6}
	v.Live.StepS = new(2.5)
	v.Live.Tokens.TTFT.P99 = new(0.5)
	v.Live.Tokens.TPOT = results.LiveTimes{N: 3, P50: new(0.01), P99: new(0.02)}
	v.Live.Server.Waiting = new(0.0)
	v.Live.GPUs = []results.LiveGPU{
		{
			Index: 0, Name: "MI300X", VRAMUsed: new(int64(1 << 30)), VRAMTotal: new(int64(192 << 30)),
			PowerW:      new(600.0),
			PowerLimitW: new(750.0), HottestC: new(70.0), Busy: new(0.9),
		},
		{Index: 1, Name: "MI300X", PowerW: new(140.0)},
	}
	return v
}

func metricsText(t *testing.T, v live.View) string {
	t.Helper()
	return bodyOf(t, get(handler(v, ""), func(r *http.Request) { r.URL.Path = "/metrics" }))
}

func TestMetrics(t *testing.T) {
	body := metricsText(t, everything())
	checkExposition(t, body)
	golden := filepath.Join("testdata", "metrics.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if body != string(want) {
		t.Errorf("metrics differ from %s (go test -update writes it anew):\n%s", golden, body)
	}
}

// Families of which nothing is known are not there, not even by their heads.
func TestMetricsOfLittle(t *testing.T) {
	body := metricsText(t, hostile(live.RunActive))
	checkExposition(t, body)
	for _, unknown := range []string{"bench_gpu_busy_ratio", "bench_tpot_seconds", "bench_server_requests_waiting"} {
		if strings.Contains(body, unknown) {
			t.Errorf("metrics have %s, which is not known", unknown)
		}
	}
	v := hostile(live.RunEnded)
	v.Live = nil
	body = metricsText(t, v)
	checkExposition(t, body)
	if strings.Contains(body, "bench_step_seconds") || !strings.Contains(body, "bench_run_running{") {
		t.Errorf("metrics of a run that has ended:\n%s", body)
	}
}

// checkExposition holds text to Prometheus' text format: each family once, its
// HELP, its TYPE, then its samples, each series once.
func checkExposition(t *testing.T, body string) {
	t.Helper()
	const value = `[-+]?(?:[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|Inf)|NaN`
	var (
		help   = regexp.MustCompile(`^# HELP (bench_[a-z_]+) \S[^\\]*\.$`)
		kind   = regexp.MustCompile(`^# TYPE (bench_[a-z_]+) (gauge|counter|summary)$`)
		sample = regexp.MustCompile(
			`^(bench_[a-z_]+)\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*)\} (?:` + value +
				`)$`)
	)
	helped, typed := "", "" // the family that is begun, and whose type is known
	bare := false           // it has no sample yet
	families, series := map[string]bool{}, map[string]bool{}
	quantiles := false
	for line := range strings.Lines(body) {
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			t.Errorf("line %q has no end", line)
		}
		switch h, k, s := help.FindStringSubmatch(line), kind.FindStringSubmatch(line),
			sample.FindStringSubmatch(line); {
		case h != nil:
			if bare || helped != typed || families[h[1]] {
				t.Errorf("%q begins within a family, or once more", line)
			}
			helped, families[h[1]] = h[1], true
		case k != nil:
			if k[1] != helped || typed == helped {
				t.Errorf("%q is not behind its HELP", line)
			}
			typed, bare, quantiles = k[1], true, k[2] == "summary"
		case s != nil:
			if s[1] != typed || helped != typed {
				t.Errorf("%q is in family %q", line, typed)
			}
			if name := s[1] + s[2]; series[name] {
				t.Errorf("series %s twice", name)
			} else {
				series[name] = true
			}
			if strings.Contains(s[2], `,quantile="`) != quantiles {
				t.Errorf("%q: summaries, and only they, have quantiles", line)
			}
			bare = false
		default:
			t.Errorf("line %q is not in the format", line)
		}
	}
	if bare || helped != typed || len(series) == 0 {
		t.Errorf("family %q has no samples", helped)
	}
}

func TestEvents(t *testing.T) {
	var ended atomic.Bool
	h := newHandler(Options{Hosts: []string{"127.0.0.1"}, View: func() (live.View, error) {
		if ended.Load() {
			return hostile(live.RunEnded), nil
		}
		return hostile(live.RunActive), nil
	}})
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := server.Client().Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
	in := bufio.NewReader(r.Body)
	var events []string
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // the server ends the stream with the run
		}
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			events = append(events, strings.TrimSpace(name))
			ended.Store(true)
		}
		if strings.HasPrefix(line, "data: ") && strings.Contains(line, "<script") {
			t.Errorf("event %q has a script", line)
		}
	}
	if len(events) < 2 || events[0] != "view" || events[len(events)-1] != "end" {
		t.Errorf("events %q, want view ... end", events)
	}
}

// However many ask, the folder is read once a period, and readers are bounded.
func TestLoad(t *testing.T) {
	looks := 0
	h := newHandler(Options{
		Hosts: []string{"127.0.0.1"},
		View:  func() (live.View, error) { looks++; return hostile(live.RunActive), nil },
	})
	for range 50 {
		get(h, func(*http.Request) {})
	}
	if looks > 2 {
		t.Errorf("%d looks for 50 requests", looks)
	}
	for range maxReaders {
		h.readers <- struct{}{}
	}
	if r := get(h, func(r *http.Request) { r.URL.Path = "/events" }); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d with all readers taken, want 503", r.StatusCode)
	}
}

func TestFolderCannotBeRead(t *testing.T) {
	h := newHandler(Options{
		Hosts: []string{"127.0.0.1"},
		View:  func() (live.View, error) { return live.View{}, errors.New("read run: gone") },
	})
	for _, path := range []string{"/", "/metrics"} {
		if r := get(h, func(r *http.Request) { r.URL.Path = path }); r.StatusCode != http.StatusInternalServerError ||
			!strings.Contains(bodyOf(t, r), "gone") {
			t.Errorf("%s: status %d, want 500 with the reason", path, r.StatusCode)
		}
	}
}

// The page shows the results so far as a table and as charts that grow.
func TestPageHasResultsSoFar(t *testing.T) {
	view := hostile(live.RunActive)
	done := view.Rows[0].Cells[0][0]
	done.State, done.TokensPerS, done.TTFTS, done.TPOTS = live.Done, new(123.4), new(0.02), new(0.004)
	view.Rows[0].Cells[0][0] = done

	answer := get(handler(view, ""), func(*http.Request) {})
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<h2>Results so far</h2>", `<td class="n">123.4</td>`, `<svg xmlns=`, "Throughput against speed per user",
		"Output tokens per second over the load", `class="narrow"><svg xmlns=`, `viewBox="0 0 330 `,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(body), "<script>alert") {
		t.Error("a variant's name became a script")
	}
}

func TestLoadsOfPoints(t *testing.T) {
	for _, tt := range []struct {
		points []string
		want   int
	}{
		{[]string{"c1", "c4", "c16"}, 3},
		{[]string{"rate-0.5", "rate-2"}, 2},
		{[]string{"all"}, 0},
		{[]string{"c4", "c1"}, 0},
		{[]string{"c1", "c1-long"}, 0},
		{nil, 0},
	} {
		if got := loadsOf(tt.points); len(got) != tt.want {
			t.Errorf("loadsOf(%q) = %v, want %d numbers", tt.points, got, tt.want)
		}
	}
}
