package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// cleanMachine is a machine of a test with commands that work on it.
type cleanMachine struct {
	env
	*state.Store
	out, err *bytes.Buffer
	root     string
}

func newCleanMachine(t *testing.T) *cleanMachine {
	t.Helper()
	b := &cleanMachine{out: &bytes.Buffer{}, err: &bytes.Buffer{}, root: t.TempDir()}
	b.env = env{stdout: b.out, Process: machine.Process{
		Stderr: b.err, Environ: os.Environ(),
		Lookup: func(name string) (string, bool) {
			if name == "BENCH_STATE_DIR" {
				return filepath.Join(b.root, "state"), true
			}
			return "", false
		},
	}}
	store, err := b.OpenState()
	if err != nil {
		t.Fatal(err)
	}
	b.Store = store
	return b
}

// killedRun is the folder of a run whose bench is gone, with a server that is
// not: it leaves out what the journal would tell after the event named last.
func (b *cleanMachine) killedRun(t *testing.T, last results.EventKind) (*store.Folder, *process.Process) {
	t.Helper()
	folder, err := store.Create(b.root, "night", rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{results.ScenarioName, results.PlanName} {
		if err := folder.WriteFile(name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.WriteManifest(results.Manifest{Scenario: "night"}); err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	cookie := rand.Text()
	if err := b.Register(state.Run{Dir: folder.Dir(), Cookie: cookie}); err != nil {
		t.Fatal(err)
	}
	notes, err := b.OpenNotes(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notes.Close() }() // every event is on disk already
	server := stubborn(t, cookie+".1")
	plan, identity := results.Process{Cookie: cookie + ".1"}, server.Info()
	for _, e := range []results.Event{
		{Kind: results.RunStarted},
		{Kind: results.LifeStarting, Life: "01-a", Process: &plan},
		{Kind: results.LifeSpawned, Life: "01-a", Process: &identity},
		{Kind: results.LifeReady, Life: "01-a"},
	} {
		if err := errors.Join(notes.Append(e), journal.Append(e)); err != nil {
			t.Fatal(err)
		}
		if e.Kind == last {
			break
		}
	}
	return folder, server
}

// stubborn starts a process with a child in another session, both of which do
// not listen to SIGTERM.
func stubborn(t *testing.T, cookie string) *process.Process {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := process.Start(process.Config{
		Argv: []string{"/bin/sh", "-c", `trap "" TERM; setsid sleep 60 & echo up; wait; sleep 60`},
		Env:  []string{"PATH=" + os.Getenv("PATH")}, LogPath: log, Cookie: cookie,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.KillNow()
		_, _ = p.Stop(t.Context(), 0)
	})
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(log); strings.Contains(string(text), "up") {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the process does not come up")
		}
	}
}

func size(t *testing.T, p *process.Process) int {
	t.Helper()
	procs, err := p.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return len(procs)
}

func (b *cleanMachine) clean(t *testing.T, o cleanOptions, code int, dirs ...string) string {
	t.Helper()
	b.out.Reset()
	b.err.Reset()
	if got := finish(b.env, runClean(t.Context(), b.env, o, dirs)); got != code {
		t.Errorf("bench clean exits with %d, want %d; it says %s%s", got, code, b.out, b.err)
	}
	return b.out.String()
}

func TestCleanEndsKilledRun(t *testing.T) {
	t.Parallel()
	for _, last := range []results.EventKind{results.LifeStarting, results.LifeSpawned, results.LifeReady} {
		t.Run(string(last), func(t *testing.T) {
			t.Parallel()
			b := newCleanMachine(t)
			bystander := stubborn(t, rand.Text())
			folder, server := b.killedRun(t, last)
			if text := b.clean(t, cleanOptions{dryRun: true}, exitStepsFailed); !strings.Contains(text, "01-a") ||
				!strings.Contains(text, "still there") {
				t.Errorf("bench clean --dry-run says %q", text)
			}
			if size(t, server) == 0 {
				t.Error("bench clean --dry-run ended the server")
			}
			var told struct{ Runs []leftovers.Run }
			if err := json.Unmarshal([]byte(b.cleanKillNow(t)), &told); err != nil {
				t.Fatal(err)
			}
			if len(told.Runs) != 1 || len(told.Runs[0].Lives) != 1 || len(told.Runs[0].Lives[0].Processes) == 0 ||
				!told.Runs[0].Lives[0].Proof.PIDsGone {
				t.Errorf("bench clean --json says %+v, want one server ended", told.Runs)
			}
			if n := size(t, server); n != 0 {
				t.Errorf("%d processes of the server are left", n)
			}
			if n := size(t, bystander); n == 0 {
				t.Error("the bystander was ended")
			}
			events, err := folder.Events()
			if err != nil || len(cleanup.OpenLives(events)) != 0 || events[len(events)-1].Kind != results.LifeStopped {
				t.Errorf("journal ends with %+v, %v, want the server's end", events[len(events)-1], err)
			}
			if text := b.clean(t, cleanOptions{}, exitOK); !strings.Contains(text, "nothing to clean") {
				t.Errorf("bench clean again says %q", text)
			}
		})
	}
}

// cleanKillNow is clean with a grace of no length, as JSON.
func (b *cleanMachine) cleanKillNow(t *testing.T) string {
	t.Helper()
	b.out.Reset()
	c := &leftovers.Cleaner{State: b.Store, With: cleanup.Cleaner{Grace: time.Millisecond}}
	runs, err := c.Targets(nil)
	if err != nil {
		t.Fatal(err)
	}
	var done []leftovers.Run
	for _, run := range runs {
		done = append(done, c.Clean(t.Context(), run))
	}
	if err := printDone(b.env, cleanOptions{asJSON: true}, done); err != nil {
		t.Errorf("bench clean --json = %v, want exit code 0", err)
	}
	return b.out.String()
}

// A folder that was removed does not hide its processes: the register knows
// the cookie.
func TestCleanWithoutFolder(t *testing.T) {
	t.Parallel()
	b := newCleanMachine(t)
	folder, server := b.killedRun(t, results.LifeReady)
	if err := os.RemoveAll(folder.Dir()); err != nil {
		t.Fatal(err)
	}
	b.cleanKillNow(t)
	if n := size(t, server); n != 0 {
		t.Errorf("%d processes of the server are left", n)
	}
	if runs, err := b.Runs(); len(runs) != 0 || err != nil {
		t.Errorf("Runs() = %v, %v, want none", runs, err)
	}
}

// A run that continues is not a leftover, even without the lock of the machine.
func TestCleanLeavesARunningRunAlone(t *testing.T) {
	t.Parallel()
	b := newCleanMachine(t)
	folder, server := b.killedRun(t, results.LifeReady)
	// Locks are the process's: another one must hold it.
	holder := exec.CommandContext(t.Context(), "flock", "-x", filepath.Join(folder.Dir(), ".lock"), "sh", "-c",
		"echo held; sleep 60")
	holder.WaitDelay = time.Second
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("no flock command here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if text := b.clean(t, cleanOptions{}, exitOK); !strings.Contains(text, "left alone: it is running") {
		t.Errorf("bench clean says %q", text)
	}
	if size(t, server) == 0 {
		t.Error("the server of a running run was ended")
	}
	if runs, _ := b.Runs(); len(runs) != 1 {
		t.Errorf("Runs() = %v, want the running one", runs)
	}
}

func TestCleanRefusesWhileTheBoxIsTaken(t *testing.T) {
	t.Parallel()
	b := newCleanMachine(t)
	lock, err := b.Lock("results/night")
	if err != nil {
		t.Fatal(err)
	}
	b.clean(t, cleanOptions{}, exitError)
	if text := b.err.String(); !strings.Contains(text, "results/night") || !strings.Contains(text, "--dry-run") {
		t.Errorf("bench clean says %q, want who has the machine and what works", text)
	}
	b.clean(t, cleanOptions{dryRun: true}, exitOK)
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	b.clean(t, cleanOptions{}, exitOK)
	b.clean(t, cleanOptions{}, exitUsage, b.root) // not a run folder
}

func TestEndLeftovers(t *testing.T) {
	t.Parallel()
	b := newCleanMachine(t)
	_, server := b.killedRun(t, results.LifeSpawned)
	if err := leftovers.RemoveAll(t.Context(), b.err, b.Store, cleanup.Cleaner{Grace: time.Millisecond}); err != nil {
		t.Errorf("RemoveAll() = %v", err)
	}
	if n := size(t, server); n != 0 {
		t.Errorf("%d processes of the server are left", n)
	}
	if text := b.err.String(); !strings.Contains(text, "an earlier run left something behind") ||
		!strings.Contains(text, "01-a") {
		t.Errorf("RemoveAll() says %q", text)
	}
	b.err.Reset()
	if err := leftovers.RemoveAll(t.Context(), b.err, b.Store, cleanup.Cleaner{}); err != nil || b.err.Len() > 0 {
		t.Errorf("RemoveAll() again = %v, says %q, want nothing", err, b.err)
	}
}

func TestCloseRun(t *testing.T) {
	t.Parallel()
	b := newCleanMachine(t)
	folder, _ := b.killedRun(t, results.LifeReady)
	if err := leftovers.Close(b.Store, folder.Dir()); err != nil {
		t.Fatal(err)
	}
	if runs, _ := b.Runs(); len(runs) != 1 {
		t.Errorf("Runs() = %v, want the run with an open life", runs)
	}
	notes, err := b.OpenNotes(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := notes.Append(results.Event{
		Kind: results.LifeStopped, Life: "01-a",
		Proof: &results.Proof{PIDsGone: true, PortFree: true},
	}); err != nil {
		t.Fatal(err)
	}
	_ = notes.Close()
	if err := leftovers.Close(b.Store, folder.Dir()); err != nil {
		t.Fatal(err)
	}
	if runs, _ := b.Runs(); len(runs) != 0 {
		t.Errorf("Runs() = %v, want none", runs)
	}
}
