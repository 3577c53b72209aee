package calibrate

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestMeasure: a small calibration gives plausible figures for every reader,
// and stamps that lie behind the writes.
func TestMeasure(t *testing.T) {
	said := 0
	cal, err := Measure(t.Context(), Options{
		Feeder: testFeeder, Widths: []int{3, 20}, Tokens: 5, Gap: 5 * time.Millisecond, Rounds: 1,
		Unpaced: 2000, Answers: 100,
		Readers: Readers(), Said: func(string) { said++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(cal.Requests) != 4 || cal.Requests[1].RequestsPerS != cal.RequestsPerS {
		t.Errorf("requests %+v, want those of each reader", cal.Requests)
	}
	for _, r := range cal.Requests {
		if r.RequestsPerS <= 0 || r.CPUPerRequestS <= 0 {
			t.Errorf("requests of %s: %+v", r.Reader, r)
		}
	}
	if len(cal.Drives) != 8 || cal.Cores < 1 || cal.MeasuredAt == "" || cal.RequestsPerS <= 0 || said == 0 {
		t.Fatalf("calibration %+v", cal)
	}
	for _, d := range cal.Drives {
		if d.CPUPerEventS <= 0 || d.EventsPerS <= 0 || d.UnpacedPerS <= 0 || d.UnpacedCPUPerEventS <= 0 ||
			d.MemoryBytes <= 0 || d.TTFTS < 0.1 || d.RequestTTFTS < 0.1 || d.ITLP50S < 0 || d.ITLP99S < d.ITLP50S {
			t.Errorf("%s, %d streams: %+v", d.Reader, d.Streams, d)
		}
		if d.StampP50S < -0.001 || d.StampP99S < d.StampP50S || d.StampMaxS < d.StampP99S {
			t.Errorf("%s, %d streams: stamps %v, %v, %v after the writes", d.Reader, d.Streams, d.StampP50S,
				d.StampP99S, d.StampMaxS)
		}
		if (d.LagP99S != nil) != (d.Reader != ReaderRaw) {
			t.Errorf("%s: lag %v", d.Reader, d.LagP99S)
		}
	}
	var tables bytes.Buffer
	if err := WriteTables(&tables, cal); err != nil || strings.Count(tables.String(), ReaderHTTPS) != 7 {
		t.Errorf("tables, %v:\n%s", err, &tables)
	}
}

// TestTables: the tables of a stored calibration are those that docs/performance.md shows.
func TestTables(t *testing.T) {
	cal, err := loadCalibration("testdata/calibration.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables bytes.Buffer
	if err := WriteTables(&tables, *cal); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tables.golden")
	if *update {
		if err := os.WriteFile(golden, tables.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || tables.String() != string(want) {
		t.Errorf("tables, %v:\n%s\nwant\n%s", err, &tables, want)
	}
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil || !strings.Contains(string(page), string(want)) {
		t.Errorf("docs/performance.md, %v: it does not show %s", err, golden)
	}
}

// TestTablesOfOlder: what an older calibration did not measure is a dash.
func TestTablesOfOlder(t *testing.T) {
	cal := results.Calibration{CPU: "EPYC", Cores: 2, Drives: []results.CalibratedDrive{{
		Reader: spec.TransportSockets, Streams: 64, EventsPerS: 10, CPUPerEventS: 1e-5, TTFTS: 0.1, ITLP50S: 0.02,
		ITLP99S: 0.03, UnpacedPerS: 1000, MemoryBytes: 5 << 20,
	}}}
	var tables bytes.Buffer
	if err := WriteTables(&tables, cal); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"64  sockets  10 10.00 - 1000 - - - - 5",
		"64  sockets  - - - - - - - - - -",
		"64  sockets  100.000 - 0.000 0.000 0.000 0.000",
	} {
		found := false
		for line := range strings.Lines(tables.String()) {
			found = found || slices.Equal(strings.Fields(line), strings.Fields(row))
		}
		if !found {
			t.Errorf("no row %q in\n%s", row, &tables)
		}
	}
}

func TestMeasureFails(t *testing.T) {
	silent := func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "true") }
	missing := func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(t.TempDir(), "none"))
	}
	for name, feeder := range map[string]func(context.Context) *exec.Cmd{
		"no feeder": nil, "silent": silent,
		"missing": missing,
	} {
		if cal, err := Measure(t.Context(), Options{Feeder: feeder, Widths: []int{1}}); err == nil {
			t.Errorf("%s: %+v, want an error", name, cal)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, Options{Feeder: testFeeder, Widths: []int{1}}); err == nil {
		t.Error("canceled: no error")
	}
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "calibration.json")
	lag := 0.001
	want := results.Calibration{
		MeasuredAt: "2026-01-02T03:04:05Z", CPU: proc.System.CPU().Model, Cores: 2,
		RequestsPerS: 9, Drives: []results.CalibratedDrive{{Reader: "raw", Streams: 3}, {
			Reader:  spec.TransportSockets,
			Streams: 3, LagP99S: &lag,
		}},
	}
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := loadCalibration(path)
	if err != nil || !gocmp.Equal(*got, want) {
		t.Errorf("Load = %+v, %v, want %+v", got, err, want)
	}
	if d, ok := findCalibration(got, "", 3); !ok || d.LagP99S == nil {
		t.Errorf("Find = %+v, %v, want the sockets' drive", d, ok)
	}
	if _, ok := findCalibration(got, ReaderRaw, 4); ok {
		t.Error("Find found a drive of 4 streams")
	}

	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if cal, err := Stored(); cal != nil || err != nil {
		t.Errorf("Stored without a file = %v, %v, want neither", cal, err)
	}
	path, err = DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	if cal, err := Stored(); err != nil || cal == nil || cal.RequestsPerS != 9 {
		t.Errorf("Stored = %v, %v, want the calibration", cal, err)
	}
	want.CPU = "another"
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	if cal, err := Stored(); cal != nil || err != nil {
		t.Errorf("Stored of another processor = %v, %v, want neither", cal, err)
	}
}

func TestDueQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var q dueQueue
	var all []*stream
	for range 500 {
		s := &stream{due: rng.Int64N(100), place: -1}
		all = append(all, s)
		q.push(s)
	}
	var want []int64
	for i, s := range all {
		if i%3 == 0 {
			q.remove(s)
			q.remove(s) // twice is harmless
			continue
		}
		want = append(want, s.due)
	}
	slices.Sort(want)
	var got []int64
	for len(q) > 0 {
		got = append(got, q[0].due)
		q.remove(q[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("taken in the order %v", got)
	}
}

func TestPace(t *testing.T) {
	want := pace{ttft: time.Second, gap: 20 * time.Millisecond, tokens: 7}
	if got, err := parsePace(want.path() + "/v1/completions"); err != nil || got != want {
		t.Errorf("parsePace = %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "/", "/1/2", "/-1/2/3", "/1/2/0", "/1/2/9999999999", "/a/b/c"} {
		if got, err := parsePace(bad); err == nil {
			t.Errorf("parsePace(%q) = %+v, want an error", bad, got)
		}
	}
}

// TestRequest: a request is taken in however it is split; others are refused.
func TestRequest(t *testing.T) {
	const whole = "POST /1/2/3/v1 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
	s := new(stream)
	for i := range whole {
		done, err := s.request([]byte{whole[i]})
		if err != nil || done != (i == len(whole)-1) {
			t.Fatalf("after %d bytes: %v, %v", i+1, done, err)
		}
	}
	for _, bad := range []string{
		"PUT / HTTP/1.1\r\n\r\n", "POST /1/2/3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST /1/2/3 HTTP/1.1\r\nContent-Length: -5\r\n\r\n", strings.Repeat("x", 70<<10),
	} {
		if _, err := new(stream).request([]byte(bad)); err == nil {
			t.Errorf("request(%.40q): no error", bad)
		}
	}
	if _, err := new(stream).request([]byte("x y\r\nContent-Length: 99999999999999999999\r\n\r\n")); !errors.Is(err,
		errRequest) {
		t.Errorf("a huge length: %v", err)
	}
}
