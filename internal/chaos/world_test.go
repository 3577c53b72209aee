package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/stranger"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// world is one bench run apart from all others: a folder, a port, a state
// folder, and bystanders that look like its engines and must survive.
type world struct {
	t          *testing.T
	dir        string
	port       int
	id         string
	env        []string
	wrapper    []string // that bench is run by
	bystanders []bystander
	stranger   stranger.Config

	strangerPID int
	meddlers    []func(context.Context)

	limit          time.Duration // of a call of bench, if that is longer than usual
	strangerOnPort bool          // somebody else listens there, and keeps it
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), port: freeport.Take(t, 4)}
	w.id = fmt.Sprintf("%d-%d", os.Getpid(), w.port)
	w.env = append(os.Environ(),
		marker+"="+w.id, "BENCH_STATE_DIR="+filepath.Join(w.dir, "state"), "HOME="+w.dir,
		"GORACE="+fakeengine.PromptExit)
	t.Cleanup(w.sweep)
	w.startBystanders()
	return w
}

// setenv sets a variable of bench's own environment.
func (w *world) setenv(name, value string) { w.env = append(w.env, name+"="+value) }

// path is that of a file in the world.
func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// block is a YAML mapping; JSON is YAML.
type block = map[string]any

// lay lays a mapping over another, key by key.
func lay(under, over block) block {
	all := maps.Clone(under)
	for key, value := range over {
		inner, isBlock := value.(block)
		if below, both := all[key].(block); isBlock && both {
			value = lay(below, inner)
		}
		all[key] = value
	}
	return all
}

// Limits of the usual night: far above what a busy machine takes. Faults that hang
// set their own.
const (
	patience = 4 * time.Minute // of whatever must happen, on a machine that is busy with other things
	tight    = 2 * time.Second // of what must not
)

// scenario is a night of two variants: bad, with what is tested, and good.
func (w *world) scenario(bad, changes block) string {
	w.t.Helper()
	good := block{"name": "good", "env": block{fakeengine.Variable: healthy("vllm").Value()}}
	return w.write("night.yaml", lay(block{
		"schema": 1, "name": "night",
		"server": block{
			"launcher": "vllm", "binary": []string{self(w.t)}, "model": "m", "port": w.port, "gpus": "none",
			"ready": block{"timeout": "60s", "stall": "30s"}, "stop": block{"grace": "10s"},
		},
		"variants": []block{bad, good},
		"load": block{
			"endpoint": "completions", "dataset": block{"kind": "random", "tokens": "ids", "vocab-size": 1000},
			"input-len": 8, "output-len": 8, "num-prompts": 8, "max-concurrency": 4,
			"timeouts": block{"first-token": "20s", "stall": "20s"},
		},
	}, changes))
}

// write writes a value as a file of the world.
func (w *world) write(name string, value block) string {
	w.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		w.t.Fatal(err)
	}
	path := w.path(name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// healthy is an engine of a kind without a fault.
func healthy(launcher string) fakeengine.Config {
	kind, _ := engines.Lookup(launcher)
	config := fakeengine.Config{
		Model: "m", Counters: map[string]string{},
		Paths: fakeengine.Paths{
			Health: kind.API.HealthPath, Models: kind.API.ModelsPath, Metrics: kind.MetricsPath,
			Tokenize: kind.API.TokenizePath,
			Version:  kind.API.VersionPath,
		},
	}
	for ours, theirs := range kind.Counters {
		config.Counters[ours] = theirs[0]
	}
	return config
}

// call is a call of bench.
type call struct {
	args   []string
	stdout *os.File            // nil: it is kept
	stderr *os.File            // nil: it is kept
	once   func(p *os.Process) // called once it runs; its end is not waited for
}

// outcome is how a call of bench ended.
type outcome struct {
	code           int // -1: by a signal
	stdout, stderr string
	took           time.Duration
}

// bench runs the program to its end, and the meddlers beside it.
func (w *world) bench(args ...string) outcome { return w.call(call{args: args}) }

func (w *world) call(c call) outcome {
	w.t.Helper()
	limit := max(2*patience, w.limit)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	argv := slices.Concat(w.wrapper, []string{binary}, c.args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.dir, w.env, 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	if c.stderr != nil {
		cmd.Stderr = c.stderr
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	var disturbing sync.WaitGroup // it may report a failure, which must not come after the end of the test
	if c.once != nil {
		disturbing.Go(func() { c.once(cmd.Process) })
	}
	defer disturbing.Wait()
	stop := w.meddle()
	err := cmd.Wait()
	stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		w.t.Fatalf("bench %v: %v\n%s", c.args, err, &stderr)
	}
	if ctx.Err() != nil {
		w.t.Errorf("bench %v did not end within %v\n%s", c.args, limit, &stderr)
	}
	if text := stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic: ") {
		w.t.Errorf("bench %v:\n%s", c.args, text)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began)}
}

// beside runs something beside every call of bench from now on; its ctx ends
// with the call.
func (w *world) beside(meddler func(context.Context)) { w.meddlers = append(w.meddlers, meddler) }

func (w *world) meddle() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, meddler := range w.meddlers {
		all.Go(func() { meddler(ctx) })
	}
	return func() { cancel(); all.Wait() }
}

// folder is the run's folder.
func (w *world) folder() string {
	w.t.Helper()
	found := w.folders()
	if len(found) != 1 {
		w.t.Fatalf("found %d run folders, want 1", len(found))
	}
	return found[0]
}

// folders are those of all runs, the oldest first.
func (w *world) folders() []string {
	found, _ := filepath.Glob(w.path("results", "*", "*", results.ManifestName))
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// read reads the run back.
func (w *world) read() *results.Run {
	w.t.Helper()
	return w.readFolder(w.folder())
}

func (w *world) readFolder(dir string) *results.Run {
	w.t.Helper()
	run, err := store.Read(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// events are those of the journal so far.
func (w *world) events() []results.Event {
	var events []results.Event
	found, _ := filepath.Glob(w.path("results", "*", "*", results.JournalName))
	for _, path := range found {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		for line, err := range store.ReadJournal(file) {
			if err == nil && line.Bad == "" {
				events = append(events, line.Event)
			}
		}
		file.Close()
	}
	return events
}

// journalSize is the length of all journals together.
func (w *world) journalSize() int64 {
	found, _ := filepath.Glob(w.path("results", "*", "*", results.JournalName))
	var sum int64
	for _, path := range found {
		if info, err := os.Stat(path); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

const poll = 10 * time.Millisecond

// await waits for an event of the journal; false if ctx ends before it comes.
func (w *world) await(ctx context.Context, wanted func(results.Event) bool) (results.Event, bool) {
	for seen := int64(-1); ; {
		if now := w.journalSize(); now != seen {
			seen = now
			for _, e := range w.events() {
				if wanted(e) {
					return e, true
				}
			}
		}
		if !pause(ctx, poll) {
			return results.Event{}, false
		}
	}
}

// kindOf wants the first event of a kind.
func kindOf(kind results.EventKind) func(results.Event) bool {
	return func(e results.Event) bool { return e.Kind == kind }
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// once runs do, beside bench, as soon as when holds.
func (w *world) once(when func() bool, do func()) {
	done := false // one call of bench after the other
	w.beside(func(ctx context.Context) {
		for !done {
			if when() {
				done = true
				do()
			} else if !pause(ctx, poll) {
				return
			}
		}
	})
}

// writeFile writes a file of the world.
func (w *world) writeFile(name, text string) string {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := executable.Write(path, text); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func itoa(n int) string { return strconv.Itoa(n) }
