package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	launched "github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// contentions are two benches on one machine.
func contentions() []ordeal {
	// beside runs do while another bench has the machine.
	beside := func(w *world, do func()) {
		w.t.Helper()
		done := make(chan struct{})
		got := w.call(call{args: []string{"run", w.night(slowly, nil)}, once: w.at(kindOf(results.StepStarted), 0,
			func(*os.Process) { defer close(done); do() })})
		<-done
		if got.code != 0 || verdicts(w.readFolder(w.folders()[0])) != "ok, ok" {
			w.t.Errorf("the first run ended with code %d\n%s", got.code, got.stderr)
		}
	}
	return []ordeal{
		{
			"lie", "another bench uses the machine",
			"refused, with the other run's name; exit code 1; the other run is not disturbed",
			func(w *world) {
				beside(w, func() {
					got := w.bench("run", w.path("night.yaml"))
					if got.code != 1 || !strings.Contains(got.stderr, "another bench is using this machine (pid ") ||
						!strings.Contains(got.stderr, "--wait-for-box") {
						w.t.Errorf("exit code %d, want 1, who has the machine, and a way out\n%s", got.code, got.stderr)
					}
				})
			},
		},
		{"slow", "another bench uses the machine, --wait-for-box", "waits, then runs", func(w *world) {
			done := make(chan outcome, 1)
			beside(w, func() { go func() { done <- w.bench("run", "--wait-for-box", w.path("night.yaml")) }() })
			got := <-done
			if folders := w.folders(); got.code != 0 || len(folders) != 2 ||
				verdicts(w.readFolder(folders[1])) != "ok, ok" || !strings.Contains(got.stderr,
				"waiting for this machine: pid ") {
				w.t.Errorf("exit code %d, %d runs, want 0 and two\n%s", got.code, len(w.folders()), got.stderr)
			}
		}},
		{"lie", "clean and resume during a run", "both are refused; the run is not disturbed", func(w *world) {
			beside(w, func() {
				for _, args := range [][]string{{"clean"}, {"clean", w.folder()}, {"resume", w.folder()}} {
					if got := w.bench(args...); got.code != 1 {
						w.t.Errorf("bench %s: exit code %d, want 1\n%s", args[0], got.code, got.stderr)
					}
				}
				if got := w.bench("clean", "--dry-run"); got.code != 0 || !strings.Contains(got.stdout,
					"it is running") {
					w.t.Errorf("bench clean --dry-run: exit code %d, want 0 and that the run continues\n%s%s", got.code,
						got.stdout, got.stderr)
				}
			})
		}},
	}
}

// crowded is an engine whose workers do not end when bench is killed.
func crowded(c *engine) {
	slowly(c)
	worker := fakeengine.Child{Session: true, Name: "VLLM::Worker_TP", Clobber: true}
	core := fakeengine.Child{
		Session: true, Name: "VLLM::EngineCor", Clobber: true,
		Children: []fakeengine.Child{worker, worker},
	}
	children(core, fakeengine.Child{Daemon: true}, fakeengine.Child{Group: true, ClearEnv: true})(c)
}

// stubborn is one that does not end either, as all of its workers.
func stubborn(c *engine) {
	slowly(c)
	children(vllmTree, fakeengine.Child{Daemon: true, IgnoreTerm: true}, fakeengine.Child{
		Group: true, ClearEnv: true,
		IgnoreTerm: true,
	})(c)
	c.IgnoreTerm = true
}

// leftovers are what a killed bench leaves.
func leftovers() []ordeal {
	fast := block{"server": block{"stop": block{"grace": "1s"}}}
	abandon := func(w *world, change func(*engine)) {
		w.t.Helper()
		w.killed(w.night(change, fast), kindOf(results.StepStarted), 500*time.Millisecond)
		if left := w.workers(); len(left) < 2 {
			w.t.Errorf("only %d workers have outlived bench: %v", len(left), left)
		}
	}
	return []ordeal{
		{
			"leak", "bench is killed, its servers survive",
			"clean --dry-run lists them, clean stops only them, resume finishes the run", func(w *world) {
				endsLeftovers(w, abandon)
			},
		},
		{"leak", "bench is killed, its servers survive, without a control group", "likewise", func(w *world) {
			withoutCgroup(w)
			endsLeftovers(w, abandon)
		}},
		{
			"leak", "bench is killed, then the next run starts",
			"the next run stops what was left before it starts a server", func(w *world) {
				abandon(w, stubborn)
				first := w.folder()
				got := w.bench("run", w.night(nil, nil))
				if folders := w.folders(); got.code != 0 || len(folders) != 2 || !strings.Contains(got.stderr,
					"left something behind: "+first) {
					w.t.Errorf("exit code %d, want 0 and what was ended\n%s", got.code, got.stderr)
				}
				if open := openLives(w.readFolder(first).Events); len(open) > 0 {
					w.t.Errorf("journal of the killed run: lives %v have no end", open)
				}
			},
		},
		{
			"leak", "bench is killed, and its folder is removed",
			"clean stops the servers, which it finds by the cookie in the state of the machine", func(w *world) {
				if launched.PlannedCgroup("x") == "" {
					// what drops the cookie, too, is lost then
					abandon(w, func(c *engine) { slowly(c); children(sglangTree...)(c) })
				} else {
					abandon(w, crowded)
				}
				if err := os.RemoveAll(w.folder()); err != nil {
					w.t.Fatal(err)
				}
				if got := w.bench("clean"); got.code != 0 {
					w.t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
				}
			},
		},
		{"lie", "the recorded pid belongs to another process now", "clean leaves it alone and says so", func(w *world) {
			w.killed(w.night(slowly, fast), kindOf(results.StepStarted), 500*time.Millisecond)
			pid := w.bystanders[1].cmd.Process.Pid
			w.forge(func(p *results.Process) { p.PID, p.Session = pid, pid })
			if got := w.bench("clean"); !strings.Contains(got.stdout, fmt.Sprintf("left alone: pid %d", pid)) {
				w.t.Errorf("bench clean does not tell that it left pid %d alone\n%s%s", pid, got.stdout, got.stderr)
			}
		}},
		{
			"lie", "the machine was rebooted since",
			"clean leaves the process with the recorded pid and start time alone",
			func(w *world) {
				w.killed(w.night(slowly, fast), kindOf(results.StepStarted), 500*time.Millisecond)
				w.awaitEnd()
				pid := w.bystanders[1].cmd.Process.Pid
				for _, folder := range w.cgroups() {
					_ = os.Remove(folder) // no group outlives a boot
				}
				w.forge(func(p *results.Process) {
					p.BootID, p.PID, p.Session, p.StartTime = "00000000-0000-0000-0000-000000000000", pid, pid,
						startTime(w, pid)
				})
				if got := w.bench("clean"); got.code != 0 || !strings.Contains(got.stdout, "was rebooted") {
					w.t.Errorf("bench clean: exit code %d, want 0 and that the machine was rebooted\n%s%s", got.code,
						got.stdout, got.stderr)
				}
			},
		},
		{
			"leak", "bench is killed, its container survives", "clean removes the container by its label, and no other",
			func(w *world) {
				w.docker(fakecontainer.Config{})
				config := healthy("vllm")
				slowly(&config)
				container := block{
					"name": "boxed", "env": block{fakeengine.Variable: config.Value()}, "binary": nil,
					"container": block{"image": "registry.example/engine:1", "engine": "docker"},
					"stop":      block{"grace": "2s"},
				}
				foreign := w.foreignContainer()
				w.killed(w.scenario(container, nil), kindOf(results.StepStarted), 500*time.Millisecond)
				if got := w.bench("clean", "--dry-run"); got.code != 3 || !strings.Contains(got.stdout,
					"containers bench-") {
					w.t.Errorf("bench clean --dry-run: exit code %d, want 3 and the container\n%s%s", got.code,
						got.stdout, got.stderr)
				}
				if got := w.bench("clean"); got.code != 0 {
					w.t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
				}
				if left := w.containers(); !slices.Equal(left, []string{foreign}) {
					w.t.Errorf("containers left: %v, want the foreign one alone: %s", left, foreign)
				}
				_ = os.RemoveAll(foreign)
			},
		},
		{"crash", "bench is killed between a hook and its undo", "clean runs the undo, once", func(w *world) {
			owesUndo(w, "clean")
		}},
		{
			"crash", "bench is killed between a hook and its undo, then resumed",
			"resume runs the undo, once, and finishes the run", func(w *world) { owesUndo(w, "resume") },
		},
	}
}

// owesUndo kills bench while what a hook changed is in force.
func owesUndo(w *world, command string) {
	hooks := block{"hooks": block{"run": block{"before": []block{{
		"command": []string{"touch", "changed"},
		"undo":    []string{"sh", "-c", "rm changed; echo once >> undone"},
	}}}}}
	w.killed(w.night(slowly, hooks), kindOf(results.StepStarted), 300*time.Millisecond)
	if _, err := os.Stat(w.path("changed")); err != nil {
		w.t.Errorf("the hook was undone too early: %v", err)
	}
	w.awaitEnd()
	if got := w.bench(command, w.folder()); got.code != 0 {
		w.t.Errorf("bench %s: exit code %d\n%s%s", command, got.code, got.stdout, got.stderr)
	}
	want := map[string]string{"clean": "once\n", "resume": "once\nonce\n"}[command] // that of the resumed run follows
	if text, err := os.ReadFile(w.path("undone")); err != nil || string(text) != want {
		w.t.Errorf("undone %q, %v, want %q", text, err, want)
	}
	w.bench("clean")
	if text, _ := os.ReadFile(w.path("undone")); string(text) != want {
		w.t.Errorf("bench clean afterwards: undone %q, want %q", text, want)
	}
}

// listsAll reports whether a text names all pids.
func listsAll(text string, all []process) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return !slices.ContainsFunc(all, func(p process) bool { return !slices.Contains(words, itoa(p.pid)) })
}

// awaitEnd waits until servers that end when bench does have ended.
func (w *world) awaitEnd() { w.awaitProcesses(0) }

func (w *world) awaitProcesses(most int) {
	for end := time.Now().Add(patience); len(w.processes()) > most && time.Now().Before(end); {
		time.Sleep(poll)
	}
}

// forge changes what the journal and the notes of this machine say of server
// processes. The notes alone decide; the journal says the same.
func (w *world) forge(change func(*results.Process)) {
	w.t.Helper()
	notes, _ := filepath.Glob(w.path("state", "*", "runs", "*.jsonl"))
	if len(notes) != 1 {
		w.t.Fatalf("notes of runs: %q, want one file", notes)
	}
	for _, path := range append(notes, filepath.Join(w.folder(), results.JournalName)) {
		forgeEvents(w.t, path, change)
	}
}

func forgeEvents(t *testing.T, path string, change func(*results.Process)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, err := store.ReadEvents(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}

	var text strings.Builder
	forged := 0
	for _, e := range events {
		if e.Process != nil {
			change(e.Process)
			forged++
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if forged == 0 {
		t.Fatalf("%s names no process", path)
	}

	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startTime is when a process started, in clock ticks since boot.
func startTime(w *world, pid int) uint64 {
	w.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		w.t.Fatal(err)
	}
	const field = 22 - 3 // of proc(5), counted from the state
	var ticks uint64
	if _, err := fmt.Sscan(strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))[field],
		&ticks); err != nil {
		w.t.Fatal(err)
	}
	return ticks
}

// foreignContainer makes a container that looks like ours and belongs to
// nobody of this run, and gives its folder.
func (w *world) foreignContainer() string {
	w.t.Helper()
	cmd := w.bystander("the container of another", w.serverArgs(), func() string {
		twin := healthy("vllm")
		twin.Silent = true
		return twin.Env()
	}())
	machine := block{
		"ID": strings.Repeat("f", 64), "Name": "bench-0123456789ab-01-bad-0", "Image": "registry.example/engine:1",
		"Labels": map[string]string{"benchrig.cookie": "0123456789abcdef0123456789abcdef.ANOTHERRUN"},
		"State":  block{"Running": true, "Pid": cmd.Process.Pid},
	}
	folder := w.path("containers", strings.Repeat("f", 64))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join("containers", strings.Repeat("f", 64), "box.json"), machine)
	return folder
}

// endsLeftovers lists, ends and resumes a run that was killed.
func endsLeftovers(w *world, abandon func(*world, func(*engine))) {
	abandon(w, crowded)
	w.awaitProcesses(5) // the leader ends when bench does
	before := w.processes()
	if got := w.bench("clean", "--dry-run"); got.code != 3 || !listsAll(got.stdout, before) {
		w.t.Errorf("bench clean --dry-run: exit code %d, want 3 and all of %v\n%s%s", got.code, before,
			got.stdout, got.stderr)
	}
	if after := w.processes(); !slices.Equal(before, after) {
		w.t.Errorf("clean --dry-run changed\n%v into\n%v", before, after)
	}
	if got := w.bench("clean"); got.code != 0 {
		w.t.Errorf("bench clean: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	w.clean()
	if got := w.bench("clean"); got.code != 0 || !strings.Contains(got.stdout, "nothing to clean") {
		w.t.Errorf("bench clean again: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	w.resumes()
}
