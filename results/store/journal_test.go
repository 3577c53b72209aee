package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/results"
)

func readLines(t *testing.T, path string) []JournalLine {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []JournalLine
	for line, err := range ReadJournal(bytes.NewReader(data)) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestJournalNumbersConcurrentEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if err := j.Append(results.Event{Kind: results.StepStarted, Step: fmt.Sprintf("s%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	lines := readLines(t, path)
	if len(lines) != 40 {
		t.Fatalf("journal has %d lines, want 40", len(lines))
	}
	for i, line := range lines {
		if line.Bad != "" || line.Event.Seq != i+1 || line.Event.Time.IsZero() {
			t.Errorf("line %d = %+v, want event %d with a time", i+1, line, i+1)
		}
	}
	if err := j.Append(results.Event{Kind: results.RunFinished}); err == nil {
		t.Error("Append after Close gave no error")
	}
}

func TestJournalGoesOnAfterACutLine(t *testing.T) {
	for _, tt := range []struct {
		name, rest  string
		bad         int // bad lines afterwards
		wantNextSeq int
	}{
		{"nothing cut", "", 0, 3},
		{"half a line", `{"seq":3,"ti`, 1, 3},
		{"whole but for its end", `{"seq":3,"time":"2026-01-01T00:00:00Z","event":"step-started"}`, 0, 4},
		{"zeros of a power cut", "\x00\x00\x00\x00", 1, 3},
		{"damage in the middle", "?!\n", 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			j, err := OpenJournal(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := j.Append(results.Event{Kind: results.StepStarted}); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before = append(before, tt.rest...)
			if err := os.WriteFile(path, before, 0o644); err != nil {
				t.Fatal(err)
			}
			if j, err = OpenJournal(path); err != nil {
				t.Fatal(err)
			}
			if err := j.Append(results.Event{Kind: results.RunFinished}); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.HasPrefix(after, before) {
				t.Errorf("journal lost bytes: %q is not a start of %q (%v)", before, after, err)
			}
			lines := readLines(t, path)
			bad := 0
			for _, line := range lines {
				if line.Bad != "" {
					bad++
				}
			}
			last := lines[len(lines)-1].Event
			if bad != tt.bad || last.Kind != results.RunFinished || last.Seq != tt.wantNextSeq {
				t.Errorf("%d bad lines and last event %+v, want %d and run-finished with seq %d", bad, last, tt.bad,
					tt.wantNextSeq)
			}
		})
	}
}

func TestJournalFailedAppendLeavesNoPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	good := j.f
	if j.f, err = os.Open(path); err != nil { // read only: writing fails
		t.Fatal(err)
	}
	if err := j.Append(results.Event{Kind: results.RunStarted}); err == nil {
		t.Error("Append to a read-only file gave no error")
	}
	if err := j.f.Close(); err != nil {
		t.Fatal(err)
	}
	j.f = good
	if err := j.Append(results.Event{Kind: results.RunStarted}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	lines := readLines(t, path)
	if len(lines) != 1 || lines[0].Event.Seq != 1 {
		t.Errorf("journal = %+v, want the one event with seq 1", lines)
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"seq":1,"time":"2026-01-01T00:00:00Z","event":"run-started"}` + "\n" + `{"seq":2`))
	f.Add([]byte("\n\n{}\nnull\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for line, err := range ReadJournal(bytes.NewReader(data)) {
			n++
			if err != nil {
				t.Fatalf("ReadJournal(%q) error = %v, want none", data, err)
			}
			if line.Number != n {
				t.Fatalf("line number = %d, want %d", line.Number, n)
			}
			if (line.Bad == "") != (line.Event.Seq > 0 && line.Event.Kind != "") {
				t.Fatalf("line %+v is neither an event nor bad", line)
			}
		}
		want := strings.Count(string(data), "\n")
		if len(data) > 0 && data[len(data)-1] != '\n' {
			want++
		}
		if n != want {
			t.Fatalf("ReadJournal(%q) gave %d lines, want %d", data, n, want)
		}
	})
}
