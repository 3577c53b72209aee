package leftovers

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// place is a machine with a run folder, a living process and a file that an undo
// would remove.
type place struct {
	register *state.Store
	folder   *store.Folder
	pid      int
	ended    <-chan struct{} // closed when the process has ended
	file     string
	events   []results.Event // of a run that left the process and the undo
}

func newPlace(t *testing.T) *place {
	t.Helper()
	register, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := store.Create(t.TempDir(), "night", "run")
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

	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = sleeper.Wait() }()
	t.Cleanup(func() { _ = sleeper.Process.Kill(); <-ended })
	started, ok := proc.System.StartTime(sleeper.Process.Pid)
	if !ok {
		t.Fatal("the process cannot be seen")
	}

	p := &place{register: register, folder: folder, pid: sleeper.Process.Pid, ended: ended, file: folder.Own("changed")}
	if err := os.WriteFile(p.file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.events = []results.Event{
		{Kind: results.LifeStarting, Life: "01-a", Process: &results.Process{Cookie: rand.Text()}},
		{Kind: results.LifeSpawned, Life: "01-a", Process: &results.Process{
			PID: p.pid, StartTime: started, BootID: proc.System.BootID(), Cookie: rand.Text(),
		}},
		{
			Kind: results.HookStarted, Hook: &results.HookRecord{Name: "clocks", Level: "run"}, Message: "/",
			Undo: []string{"/bin/sh", "-c", `rm "$BENCH_RUN_DIR/changed"`},
			Vars: map[string]string{"BENCH_RUN_DIR": folder.Dir()},
		},
	}
	return p
}

// write puts the events into the run's journal, as anybody may write them.
func (p *place) write(t *testing.T) {
	t.Helper()
	journal, err := p.folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	for _, e := range p.events {
		if err := journal.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// note registers the run, with the events in the register's notes.
func (p *place) note(t *testing.T, where *state.Place) {
	t.Helper()
	run := state.Run{Dir: p.folder.Dir(), Cookie: rand.Text(), Place: where}
	if err := p.register.Register(run); err != nil {
		t.Fatal(err)
	}
	notes, err := p.register.OpenNotes(run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notes.Close() }()
	for _, e := range p.events {
		if err := notes.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// touched says what became of the process and the change of the hook.
func (p *place) touched() string {
	var what []string
	select {
	case <-p.ended:
		what = append(what, "process ended")
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := os.Lstat(p.file); err != nil {
		what = append(what, "undone")
	}
	return strings.Join(what, ", ")
}

// A folder is untrusted: what is stopped and undone is what this machine's
// register has noted, in this boot, for this user, in this container.
func TestTheRegisterAloneDecides(t *testing.T) {
	t.Parallel()
	here := func(change func(*state.Place)) *state.Place {
		host, _ := os.Hostname()
		p := &state.Place{
			Host: host, UID: os.Geteuid(), BootID: proc.System.BootID(), PIDNamespace: proc.System.PIDNamespace(),
		}
		change(p)
		return p
	}
	for _, c := range []struct {
		name    string
		begin   func(t *testing.T, p *place)
		touched string
		kept    bool // in the register
		says    string
	}{
		{"a journal of somebody else", func(t *testing.T, p *place) { p.write(t) }, "", false, "has not noted the run"},
		{"a journal that names more than the register", func(t *testing.T, p *place) {
			p.write(t)
			p.events = nil
			p.note(t, nil)
		}, "", false, "nothing is left"},
		{"noted here", func(t *testing.T, p *place) { p.note(t, nil) }, "process ended, undone", false, "01-a"},
		{"noted before a reboot", func(t *testing.T, p *place) {
			p.note(t, here(func(p *state.Place) { p.BootID = "another" }))
		}, "", false, "rebooted since"},
		{"noted on another machine", func(t *testing.T, p *place) {
			p.note(t, here(func(p *state.Place) { p.Host = "elsewhere" }))
		}, "", true, `noted on machine "elsewhere"`},
		{"noted by another user", func(t *testing.T, p *place) {
			p.note(t, here(func(p *state.Place) { p.UID = 12345 }))
		}, "", true, "id 12345"},
		{"noted in another container", func(t *testing.T, p *place) {
			p.note(t, here(func(p *state.Place) { p.PIDNamespace = "pid:[1]" }))
		}, "", true, "another container"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if c.name == "noted before a reboot" { // the server was noted by that boot, too
				p.events[1].Process.BootID = "another"
			}
			c.begin(t, p)

			cleaner := &Cleaner{
				State: p.register, With: cleanup.Cleaner{Grace: time.Second},
				Hooks: &hooks.Runner{Environ: os.Environ()},
			}
			done := cleaner.Clean(t.Context(), p.folder.Dir())
			if got := p.touched(); got != c.touched {
				t.Errorf("touched: %q, want %q; clean says %q", got, c.touched, done.Lines())
			}
			if _, kept := p.register.Lookup(p.folder.Dir()); kept != c.kept {
				t.Errorf("in the register: %v, want %v: %q", kept, c.kept, done.Lines())
			}
			if text := strings.Join(done.Lines(), "\n"); !strings.Contains(text, c.says) {
				t.Errorf("clean says %q, want %q in it", text, c.says)
			}
		})
	}
}

// An undo gets the variables that its hook had, whatever folder bench clean runs
// in: "$BENCH_RUN_DIR/x" must never become "/x".
func TestUndoHasTheVariablesOfItsHook(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	said := filepath.Join(t.TempDir(), "said")
	p.events[2].Undo = []string{"/bin/sh", "-c", `printf '%s %s' "$BENCH_RUN_DIR" "$BENCH_PHASE" >"$1"`, "sh", said}
	p.note(t, nil)
	cleaner := &Cleaner{
		State: p.register, With: cleanup.Cleaner{Grace: time.Second}, Hooks: &hooks.Runner{Environ: os.Environ()},
	}
	cleaner.Clean(t.Context(), p.folder.Dir())
	if text, _ := os.ReadFile(said); string(text) != p.folder.Dir()+" undo" {
		t.Errorf("the undo saw %q, want the run's folder and its phase", text)
	}
	events, err := p.folder.Events()
	if err != nil || len(events) != 2 {
		t.Errorf("the run's journal has %d events, %v, want the two ends", len(events), err)
	}
}

// A register that others can write says nothing.
func TestRegisterThatOthersCanWrite(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.note(t, nil)
	files, _ := filepath.Glob(filepath.Join(p.register.Dir(), "runs", "*"))
	if len(files) != 2 {
		t.Fatalf("the register has %q, want an entry and its notes", files)
	}
	for _, file := range files {
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cleaner := &Cleaner{State: p.register, With: cleanup.Cleaner{}, Hooks: &hooks.Runner{Environ: os.Environ()}}
	if _, err := cleaner.Targets(nil); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("Targets() = %v, want the entry refused", err)
	}
	cleaner.Clean(t.Context(), p.folder.Dir())
	if got := p.touched(); got != "" {
		t.Errorf("touched: %q, want nothing", got)
	}
}
