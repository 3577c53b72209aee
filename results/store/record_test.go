package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func someRecord(i int) results.Record {
	return results.Record{
		Index: i, RequestID: fmt.Sprintf("bench-%d", i), IntendedS: float64(i) / 10, SentS: new(float64(i)/10 + 0.001),
		ChunkS: []float64{0.1, 0.2, 0.30000000000000004}, ChunkKinds: "ttf", EndS: 0.4, OutputTokens: new(2),
		OutputTokensSource: results.CountUsage, FinishReason: "length <&>",
	}
}

func collect(dir string) (records []results.Record, errs []string) {
	for r, err := range ReadRecords(dir) {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		records = append(records, r)
	}
	return records, errs
}

func TestProbesAreReadApart(t *testing.T) {
	dir := t.TempDir()
	lines := `{"index":0}` + "\n" + `{"index":0,"probe":true}` + "\n" + `{"index":1}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}

	every := 0
	for _, err := range ReadEveryRecord(dir) {
		if err != nil {
			t.Fatal(err)
		}
		every++
	}
	got, errs := collect(dir)
	if len(got) != 2 || got[0].Probe || got[1].Probe || len(errs) > 0 || every != 3 || countRecords(dir) != 2 {
		t.Errorf("records %+v, %v, of %d lines; want the two of the load, of 3", got, errs, every)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "step")
	w, err := NewRecordWriter(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []results.Record
	for i := range 50 {
		want = append(want, someRecord(i))
		if err := w.Write(want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if w.Count() != 50 {
		t.Errorf("Count() = %d, want 50", w.Count())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close error = %v, want none", err)
	}
	if err := w.Write(results.Record{}); err == nil {
		t.Error("Write after Close gave no error")
	}
	got, errs := collect(dir)
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("records (-want +got):\n%s\nerrors %v", diff, errs)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "requests.jsonl.zst" {
		t.Errorf("folder holds %v (%v), want only requests.jsonl.zst", files, err)
	}
}

func TestRecordWriterFlushesWhileNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, err := NewRecordWriter(dir, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(someRecord(1)); err != nil {
			t.Fatal(err)
		}
		if got, _ := collect(dir); len(got) != 0 {
			t.Errorf("before the flush %d records are on disk, want 0", len(got))
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if got, _ := collect(dir); len(got) != 1 {
			t.Errorf("after a flush period %d records are on disk, want 1", len(got))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRecordWriterKeepsEarlierAttempts(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		w, err := NewRecordWriter(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(someRecord(i)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// of a killed attempt
	if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := NewRecordWriter(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	want := "requests.earlier-1.jsonl requests.earlier-1.jsonl.zst requests.earlier-2.jsonl.zst " +
		"requests.earlier-3.jsonl.zst requests.jsonl.zst"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("files = %q, want %q", got, want)
	}
	if got, errs := collect(dir); len(got) != 0 || len(errs) != 0 {
		t.Errorf("the last attempt has %d records and errors %v, want none", len(got), errs)
	}
}

func TestRecordWriterReportsTheFirstError(t *testing.T) {
	w, err := NewRecordWriter(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.f.Close(); err != nil { // what a full disk does: every write fails
		t.Fatal(err)
	}
	big := results.Record{Text: strings.Repeat("x", 128<<10)}
	if err := w.Write(big); err == nil {
		t.Error("Write to a broken file gave no error")
	}
	if err := w.Close(); err == nil {
		t.Error("Close after a failed write gave no error")
	}
	if _, err := os.Stat(w.path); err != nil {
		t.Errorf("the plain file is gone: %v", err)
	}
}

func TestReadRecordsReadsAround(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          int
		wantErrs      int
	}{
		{"no file", "-", 0, 0},
		{"empty", "", 0, 0},
		{"whole", `{"index":1}` + "\n" + `{"index":2}` + "\n", 2, 0},
		{"cut last line", `{"index":1}` + "\n" + `{"index":2,"re`, 1, 0},
		{"last line without end", `{"index":1}` + "\n" + `{"index":2}`, 2, 0},
		{"damage in the middle", `{"index":1}` + "\nxx\n" + `{"index":2}` + "\n", 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.content != "-" {
				if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte(tt.content),
					0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, errs := collect(dir)
			if len(got) != tt.want || len(errs) != tt.wantErrs {
				t.Errorf("ReadRecords = %d records, errors %v; want %d and %d errors", len(got), errs,
					tt.want, tt.wantErrs)
			}
		})
	}
}

func TestReadRecordsOfACutCompressedFile(t *testing.T) {
	dir := t.TempDir()
	w, err := NewRecordWriter(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if err := w.Write(someRecord(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, results.RequestsName+".zst")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if _, errs := collect(dir); len(errs) == 0 {
		t.Error("ReadRecords of a cut compressed file gave no error")
	}
}

func TestReadRecordsStopsWhenAsked(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte("{}\n{}\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("read %d records after a break, want 1", n)
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add([]byte(`{"index":1,"chunk_s":[0.1]}` + "\n" + `{"index":`))
	f.Add([]byte("null\n[]\n\n"))
	dir := f.TempDir()
	var mu sync.Mutex // one file for all inputs
	f.Fuzz(func(t *testing.T, data []byte) {
		mu.Lock()
		defer mu.Unlock()
		if err := os.WriteFile(filepath.Join(dir, results.RequestsName), data, 0o644); err != nil {
			t.Fatal(err)
		}
		records, errs := collect(dir)
		if lines := strings.Count(string(data), "\n") + 1; len(records)+len(errs) > lines {
			t.Fatalf("%d records and %d errors out of %d lines", len(records), len(errs), lines)
		}
	})
}

func TestRecordWriterReplace(t *testing.T) {
	dir := t.TempDir()
	w, err := NewRecordWriter(dir, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Write(results.Record{Index: i}); err != nil {
			t.Fatal(err)
		}
	}
	n := 7
	if err := w.Replace([]results.Record{{Index: 0, TextTokens: &n}, {Index: 1, TextTokens: &n}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(results.Record{Index: 9}), w.Close()); err != nil {
		t.Fatal(err)
	}
	var got []int
	for r, err := range ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Index)
		if (r.TextTokens != nil) != (r.Index < 9) {
			t.Errorf("record %d: text tokens %v", r.Index, r.TextTokens)
		}
	}
	if want := []int{0, 1, 9}; !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
}
