package store

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func samples() []results.TelemetrySample {
	return []results.TelemetrySample{
		{AtS: -0.1, GPU: &results.GPUReading{
			Device: "GPU-1", VRAMUsedBytes: new(int64(298647552)), PowerW: new(140.5),
			PowerKind: "instant", Throttle: []string{},
		}},
		{AtS: 0, Gap: &results.TelemetryGap{Source: "amd-smi", Why: "no answer <within> 5 s"}},
		{AtS: 0.1, Host: &results.HostReading{CPUBusy: new(0.5), MemoryUsedBytes: new(int64(1 << 33))}},
	}
}

func readAll(t *testing.T, dir string) []results.TelemetrySample {
	t.Helper()
	var got []results.TelemetrySample
	for s, err := range ReadTelemetry(dir) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	return got
}

func TestTelemetryRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "steps", "s")
	for attempt := range 3 {
		w, err := NewSampleWriter(dir, results.TelemetryName, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples()[attempt:] {
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("second Close() = %v, want nil", err)
		}
		if err := w.Write(samples()[0]); err == nil {
			t.Error("Write after Close gave no error")
		}
		if diff := cmp.Diff(samples()[attempt:], readAll(t, dir)); diff != "" {
			t.Errorf("attempt %d (-want +got):\n%s", attempt, diff)
		}
	}
	for _, name := range []string{
		"telemetry.jsonl.zst", "telemetry.earlier-1.jsonl.zst",
		"telemetry.earlier-2.jsonl.zst",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("no %s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, results.TelemetryName)); err == nil {
		t.Error("the plain file is still there")
	}
}

// A process that is killed leaves the plain file with a cut last line.
func TestTelemetryOfAKilledRun(t *testing.T) {
	dir := t.TempDir()
	w, err := NewSampleWriter(dir, results.TelemetryName, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, s := range samples() {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	plain := filepath.Join(dir, results.TelemetryName)
	var data []byte
	for deadline := time.Now().Add(time.Minute); bytes.Count(data, []byte("\n")) < 3; {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was flushed: %q", data)
		}
		if data, err = os.ReadFile(plain); err != nil {
			t.Fatal(err)
		}
	}
	killed := t.TempDir()
	cut := append(bytes.Clone(data), []byte("not json\n")...)
	cut = append(cut, data[:20]...)
	if err := os.WriteFile(filepath.Join(killed, results.TelemetryName), cut, 0o644); err != nil {
		t.Fatal(err)
	}
	var got []results.TelemetrySample
	bad := 0
	for s, err := range ReadTelemetry(killed) {
		if err != nil {
			bad++
			continue
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(samples(), got); diff != "" || bad != 1 {
		t.Errorf("%d bad lines, want 1; samples (-want +got):\n%s", bad, diff)
	}
}

func TestTelemetryOfAStepWithout(t *testing.T) {
	if got := readAll(t, t.TempDir()); got != nil {
		t.Errorf("ReadTelemetry of an empty folder = %v, want none", got)
	}
}

func TestSampleWriterKeepsLinesWhole(t *testing.T) {
	dir := t.TempDir()
	w, err := NewSampleWriter(dir, results.ServerMetricsName, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 250 {
				if err := w.Write(results.ServerSample{
					Replica: i,
					Values:  map[string]float64{"running": 1},
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range ReadSamples[results.ServerSample](dir, results.ServerMetricsName) {
		if err != nil || s.Values["running"] != 1 {
			t.Fatalf("line %d: %v, %v", n+1, s, err)
		}
		n++
	}
	if n != 1000 {
		t.Errorf("read %d lines, want 1000", n)
	}
}

// Whatever is on disk, reading ends, and what it yields can be written.
func FuzzReadTelemetry(f *testing.F) {
	f.Add([]byte(`{"at_s":1,"gpu":{"device":"a","power_w":null}}` + "\n" + `{"at_s":`))
	f.Add([]byte("\n\n{}\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, yielded := bytes.Count(data, []byte("\n"))+1, 0
		decodeLines(bytes.NewReader(data), "samples", func(results.TelemetrySample, error) bool {
			yielded++
			return true
		})
		if yielded > lines {
			t.Fatalf("%d values from %d lines", yielded, lines)
		}
	})
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	w, err := NewSampleWriter(dir, results.TelemetryName, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(samples()[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
	if err := w.Discard(); err != nil {
		t.Errorf("second Discard() = %v, want nil", err)
	}
}
