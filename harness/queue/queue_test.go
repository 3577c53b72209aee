package queue

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

func newQueue(t *testing.T, names ...string) *Queue {
	t.Helper()
	machine, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	q, err := Open(machine)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := q.Add(Entry{Scenario: "/scenarios/" + name, Added: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// runFolder is the folder of a run that ended, perhaps early for a reason.
func runFolder(t *testing.T, ended *results.Failure) string {
	t.Helper()
	folder, err := store.Create(t.TempDir(), "s", "20260131-220000-ab12")
	if err == nil {
		err = folder.WriteManifest(results.Manifest{Scenario: "s"})
	}
	if err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(journal.Append(results.Event{Kind: results.RunStarted}),
		journal.Append(results.Event{Kind: results.RunFinished, Failure: ended}), journal.Close())
	if err != nil {
		t.Fatal(err)
	}
	return folder.Dir()
}

// states are "a done, b failed".
func states(t *testing.T, q *Queue) string {
	t.Helper()
	entries, err := q.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range entries {
		words = append(words, e.Name()+" "+string(e.State))
	}
	return strings.Join(words, ", ")
}

func TestRunCarriesOutWhatIsQueued(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a", "b", "c")
	dir := runFolder(t, nil)
	var ran []string
	r := Runner{Queue: q, Log: &bytes.Buffer{}, Do: func(_ context.Context, e Entry, began func(string)) Outcome {
		ran = append(ran, e.Name())
		switch e.Name() {
		case "b":
			return Outcome{Code: 2, Err: errors.New("b:1:1: no such key")}
		case "c":
			if _, err := q.Add(Entry{Scenario: "/scenarios/added meanwhile"}); err != nil {
				t.Error(err)
			}
			began(dir)
			return Outcome{Code: 3, Ended: true}
		}
		return Outcome{Ended: true}
	}}

	sum, err := r.Run(t.Context())
	if err != nil || sum != (Summary{OK: 2, Bad: 2}) {
		t.Errorf("Run() = %+v, %v", sum, err)
	}
	if want := []string{"a", "b", "c", "added meanwhile"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if got, want := states(t, q), "a done, b failed, c done, added meanwhile done"; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
	entries, _ := q.Entries()
	if e := entries[1]; *e.Code != 2 || e.Result != "b:1:1: no such key" {
		t.Errorf("failed entry: code %d, %q", *e.Code, e.Result)
	}
	if e := entries[2]; *e.Code != 3 || e.Dir != dir || !strings.HasPrefix(e.Result, "0 steps: ") {
		t.Errorf("done entry: %+v", e)
	}
}

// One that the user stops waits, and continues in its folder with the next runner.
func TestStoppedEntryGoesOn(t *testing.T) {
	t.Parallel()
	q, dir := newQueue(t, "a", "b"), runFolder(t, nil)
	do := func(_ context.Context, _ Entry, began func(string)) Outcome {
		began(dir)
		return Outcome{Code: 130, Stopped: true}
	}
	sum, err := (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context())
	if err != nil || sum != (Summary{Stopped: true, Left: 2}) {
		t.Errorf("Run() = %+v, %v", sum, err)
	}

	var dirs []string
	do = func(_ context.Context, e Entry, _ func(string)) Outcome {
		dirs = append(dirs, e.Dir)
		return Outcome{Ended: true}
	}
	if sum, err = (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context()); err != nil || sum.OK != 2 {
		t.Errorf("Run() = %+v, %v", sum, err)
	}
	if want := []string{dir, ""}; !slices.Equal(dirs, want) {
		t.Errorf("went on in %q, want %q", dirs, want)
	}
}

// A runner that dies leaves its entry running; the next takes it up, but not for
// ever. A run whose folder was removed starts over.
func TestKilledRunnersLeaveTheirEntry(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a", "b")
	gone := filepath.Join(t.TempDir(), "gone")
	begun := 0
	var late string
	do := func(_ context.Context, e Entry, began func(string)) Outcome {
		if e.Name() == "b" {
			return Outcome{Ended: true}
		}
		begun++
		late = e.Dir
		began(gone)
		panic("killed")
	}

	for range mostStarts + 1 {
		func() {
			defer func() { _ = recover() }() // releases the runner's lock, as the kernel does
			_, _ = (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context())
		}()
	}
	if begun != mostStarts || late != "" {
		t.Errorf("begun %d times, the last in folder %q; want %d, \"\"", begun, late, mostStarts)
	}
	if got, want := states(t, q), "a failed, b done"; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
}

// After a server that cannot be stopped nothing more is measured.
func TestBrokenMachineEndsTheQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a", "b")
	dir := runFolder(t, results.Failf(results.FailNoProof, "pid 42 is still there"))
	do := func(_ context.Context, _ Entry, began func(string)) Outcome {
		began(dir)
		return Outcome{Code: 3, Ended: true}
	}
	sum, err := (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "pid 42") || sum.Left != 1 {
		t.Errorf("Run() = %+v, %v; want pid 42, one left", sum, err)
	}
	if got, want := states(t, q), "a done, b queued"; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
}

// A machine that cannot be locked leaves all entries as they are: none of them is at fault.
func TestUnusableMachineLeavesTheEntries(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a", "b")
	do := func(context.Context, Entry, func(string)) Outcome {
		err := errors.New("box.lock is a pipe")
		return Outcome{Code: 1, Err: err, Machine: err}
	}
	sum, err := (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context())
	if want := "box.lock is a pipe; a and what follows stay queued"; err == nil || err.Error() != want {
		t.Errorf("Run() = %v, want %q", err, want)
	}
	if got, want := states(t, q), "a queued, b queued"; got != want || sum != (Summary{Left: 2}) {
		t.Errorf("states %q, %+v, want %q", got, sum, want)
	}
}

func TestOneRunner(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a")
	do := func(context.Context, Entry, func(string)) Outcome {
		_, err := (&Runner{Queue: q, Log: &bytes.Buffer{}}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "is active (pid") {
			t.Errorf("a second runner: %v", err)
		}
		if err := q.Remove([]int{1}); err == nil || !strings.Contains(err.Error(), "entry 1 is running") {
			t.Errorf("Remove of what runs = %v", err)
		}
		return Outcome{Ended: true}
	}
	if _, err := (&Runner{Queue: q, Do: do, Log: &bytes.Buffer{}}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNothingBeginsAfterUntil(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a")
	r := Runner{Queue: q, Until: time.Now().Add(-time.Second), Log: &bytes.Buffer{}}
	if sum, err := r.Run(t.Context()); err != nil || sum != (Summary{Left: 1}) {
		t.Errorf("Run() = %+v, %v", sum, err)
	}
}

// Times of the day are those after the adding, whenever the turn of a scenario comes.
func TestTimesOfTheDayAreOfTheDayOfAdding(t *testing.T) {
	t.Parallel()
	moment := func(text string) scenarios.Moment {
		m, err := scenarios.ParseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	now := time.Date(2026, 11, 28, 6, 0, 0, 0, time.Local)
	sc := &scenarios.Scenario{
		Path: "/s.yaml", Sets: []string{"repeats=2"}, StartAt: moment("22:00"), EndBy: moment("07:30"),
	}
	e, err := newEntry(sc, now)
	if err != nil {
		t.Fatal(err)
	}
	start, end := now.Add(16*time.Hour), now.Add(25*time.Hour+30*time.Minute)
	if !e.StartAt.Equal(start) || !e.Until.Equal(end) {
		t.Errorf("start %s, until %s; want %s, %s", e.StartAt, e.Until, start, end)
	}

	for _, c := range []struct{ by, want time.Time }{
		{time.Time{}, end}, {end.Add(time.Hour), end}, {end.Add(-time.Hour), end.Add(-time.Hour)},
	} {
		want := []string{
			"repeats=2", "start-at=" + start.Format(time.RFC3339), "until=" + c.want.Format(time.RFC3339),
		}
		if got, want := e.End(c.by), c.want.Format(time.RFC3339); got != want {
			t.Errorf("End(%s) = %q, want %q", c.by, got, want)
		}
		if got := e.Overrides(c.by); !slices.Equal(got, want) {
			t.Errorf("Overrides(%s) = %q, want %q", c.by, got, want)
		}
	}
	if got := (Entry{}).Overrides(time.Time{}); len(got) > 0 {
		t.Errorf("Overrides of none = %q", got)
	}
}

// What the runner's end cuts stays queued, unlike what an entry's own end or deadline does.
func TestEndOfRunnerOrEntry(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 29, 7, 30, 0, 0, time.UTC)
	byRunner := results.Failf(results.FailDeadline, "not started: 20 s are left")
	byRunner.Until = until.Format(time.RFC3339)
	byDeadline := results.Failf(results.FailDeadline, "the run's deadline of 1h0m0s passed")
	for _, c := range []struct {
		name    string
		own     time.Time
		failure *results.Failure
		want    bool
	}{
		{"the runner's end", time.Time{}, byRunner, true},
		{"the runner's end, before the entry's", until.Add(time.Hour), byRunner, true},
		{"the entry's end", until.Add(-time.Hour), byRunner, false},
		{"a deadline of the run", time.Time{}, byDeadline, false},
		{"another failure", time.Time{}, results.Failf(results.FailExited, "x"), false},
		{"nothing", time.Time{}, nil, false},
	} {
		run := entryRun{Run: &results.Run{Steps: []results.Step{{Result: &results.Result{Failure: c.failure}}}}}
		r := Runner{Until: until}
		if got := r.ends(Entry{Until: c.own}, run); got != c.want {
			t.Errorf("%s: ends() = %v, want %v", c.name, got, c.want)
		}
	}
	if (&Runner{Until: until}).ends(Entry{}, entryRun{}) {
		t.Error("an entry without a run is said to be cut")
	}
}

func TestManyAddAtOnce(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	var adding sync.WaitGroup
	for range 20 {
		adding.Go(func() {
			if _, err := q.Add(Entry{Scenario: "/s.yaml"}); err != nil {
				t.Error(err)
			}
		})
	}
	adding.Wait()
	entries, err := q.Entries()
	if err != nil || len(entries) != 20 || entries[19].ID != 20 {
		t.Errorf("%d entries, %v; want 20, each with an id of its own", len(entries), err)
	}
	if n, err := q.RemoveEnded(); n != 0 || err != nil {
		t.Errorf("RemoveEnded() = %d, %v; want none", n, err)
	}
}

// Entries name programs to be run: a file that others may write is not believed.
func TestQueueOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "a")
	path := filepath.Join(q.state.Dir(), fileName)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Entries(); err == nil || !strings.Contains(err.Error(), "another user can write it") {
		t.Errorf("Entries() = %v", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Add(Entry{}); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("Add to a damaged queue = %v", err)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	at, three := time.Date(2026, 11, 28, 22, 0, 0, 0, time.Local), 3
	entries := []Entry{
		{
			ID: 1, Scenario: "/a.yaml", State: Done, Code: &three, Ended: at, Dir: "/r/a",
			Result: "2 steps: 1 ok, 1 failed",
		},
		{ID: 2, Scenario: "/b.yaml", State: Running, Began: at, Dir: "/r/b"},
		{ID: 3, Scenario: "/c.yaml", Sets: []string{"repeats=5"}, State: Queued, Added: at, EstimateS: 90, Until: at},
	}
	print := func(owner *state.Owner) string {
		p := table.NewPrinter(table.Options{})
		Print(p, entries, owner)
		return p.String()
	}
	for _, want := range []string{
		"1  a.yaml                  done (exit code 3)  2026-11-28 22:00  2 steps: 1 ok, 1 failed; /r/a",
		"2  b.yaml                  running ",
		"3  c.yaml --set repeats=5  queued              2026-11-28 22:00  about 1m30s by the plan; until 2026-11-28 22:00",
		"run by pid 7; next: 3 c.yaml --set repeats=5",
	} {
		if got := print(&state.Owner{PID: 7}); !strings.Contains(got, want) {
			t.Errorf("Print with a runner:\n%s\nwant %q", got, want)
		}
	}
	for _, want := range []string{
		"b.yaml                  killed", "next: 2 b.yaml, then 1 more; to start: bench queue run",
	} {
		if got := print(nil); !strings.Contains(got, want) {
			t.Errorf("Print without a runner:\n%s\nwant %q", got, want)
		}
	}
}
