package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/benchrig/bench/results"
)

// attemptOf writes n records of an attempt and returns its writer, not closed.
func attemptOf(t *testing.T, f *Folder, step string, attempt, n int) *RecordWriter {
	t.Helper()
	if err := f.BeginAttempt(step, attempt); err != nil {
		t.Fatal(err)
	}
	w, err := NewRecordWriter(f.AttemptDir(step, attempt), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Write(results.Record{Index: i}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func resultOf(step string, attempt int) *results.Result {
	return &results.Result{Step: results.StepRef{ID: step, Attempt: attempt}, Verdict: results.OK}
}

// A job that Slurm has given up and its successor carry out the same step at the
// same time, in any order of their ends: all that the successor measured is there.
func TestTwoJobsOnOneStep(t *testing.T) {
	const step, measured = "a_c1_r1", 230
	for round := range 50 {
		folder := jobsRun(t)
		first := part(t, folder, "g001")
		lost := attemptOf(t, first, step, 1, 7)
		second := part(t, folder, "g001")
		own := attemptOf(t, second, step, 1, measured) // the same attempt: neither had ended

		var wg sync.WaitGroup
		wg.Go(func() {
			err := errors.Join(lost.Close(), first.WriteResult(resultOf(step, 1)))
			if !errors.Is(err, ErrSuperseded) {
				t.Errorf("round %d: the first job publishes: %v, want ErrSuperseded", round, err)
			}
		})
		wg.Go(func() {
			if err := errors.Join(own.Close(), second.WriteResult(resultOf(step, 1))); err != nil {
				t.Errorf("round %d: the second job publishes: %v", round, err)
			}
		})
		wg.Wait()

		if n := countRecords(folder.StepDir(step)); n != measured {
			t.Fatalf("round %d: the step has %d records, want %d", round, n, measured)
		}
		if n := countRecords(first.AttemptDir(step, 1)); n != 7 {
			t.Fatalf("round %d: the first job kept %d records of its own, want 7", round, n)
		}
	}
}

// A job that was superseded after it had published leaves its attempt beside the
// one that replaces it.
func TestLaterAttemptReplacesAnEarlierOne(t *testing.T) {
	const step = "a_c1_r1"
	folder := jobsRun(t)
	for attempt := 1; attempt <= 3; attempt++ {
		w := attemptOf(t, folder, step, attempt, attempt)
		if err := errors.Join(w.Close(), folder.WriteResult(resultOf(step, attempt))); err != nil {
			t.Fatal(err)
		}
		again := resultOf(step, attempt) // a write is tried twice where the disk was full
		if err := folder.WriteResult(again); err != nil {
			t.Fatal(err)
		}
		if n := countRecords(folder.StepDir(step)); n != attempt {
			t.Errorf("after attempt %d the step has %d records", attempt, n)
		}
	}

	for attempt := 1; attempt <= 2; attempt++ {
		dir := filepath.Join(folder.Dir(), results.AttemptsName, step, strconv.Itoa(attempt))
		if n := countRecords(dir); n != attempt || attemptIn(dir) != attempt {
			t.Errorf("attempt %d is kept with %d records, as attempt %d", attempt, n, attemptIn(dir))
		}
	}

	late := attemptOf(t, folder, step, 2, 1)
	if err := errors.Join(late.Close(), folder.WriteResult(resultOf(step, 2))); !errors.Is(err, ErrSuperseded) {
		t.Errorf("attempt 2 after attempt 3: %v, want ErrSuperseded", err)
	}
}

// What is at a path by now is removed, compressed or published only if it is
// what was put there.
func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	const step = "a_c1_r1"
	folder := jobsRun(t)
	replace := func(path string) {
		t.Helper()
		if err := errors.Join(os.Rename(path, path+".mine"), os.WriteFile(path, []byte("theirs\n"),
			0o600)); err != nil {
			t.Fatal(err)
		}
	}
	isTheirs := func(what, path string, err error) {
		t.Helper()
		if text, _ := os.ReadFile(path); !errors.Is(err, errReplaced) || string(text) != "theirs\n" {
			t.Errorf("%s: %v, and the file holds %q; want an error and the file as it was", what, err, text)
		}
	}

	records := attemptOf(t, folder, step, 1, 3)
	replace(records.path)
	isTheirs("compress records", records.path, records.Close())

	samples, err := NewSampleWriter(t.TempDir(), results.TelemetryName, 0)
	if err != nil {
		t.Fatal(err)
	}
	replace(samples.path)
	isTheirs("discard samples", samples.path, samples.Discard())

	dir := folder.AttemptDir(step, 1)
	if err := errors.Join(os.Rename(dir, dir+".mine"), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := folder.WriteResult(resultOf(step, 1)); !errors.Is(err, errReplaced) {
		t.Errorf("publish a folder of others: %v, want an error", err)
	}
	if err := folder.BeginAttempt(step, 1); err == nil {
		t.Error("BeginAttempt goes on in a folder of others")
	}
}

// Servers of two jobs never write one log.
func TestServerStartsHaveFoldersOfTheirOwn(t *testing.T) {
	folder := jobsRun(t)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			id, err := folder.NewLife("01-a")
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[id] {
				t.Errorf("NewLife = %q, %v, want one that nobody has", id, err)
			}
			seen[id] = true
		})
	}
	wg.Wait()
	if !seen["01-a"] || !seen["01-a.20"] {
		t.Errorf("NewLife gave %v, want 01-a to 01-a.20", seen)
	}
}
