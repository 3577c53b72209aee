package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// blow is one SIGKILL of bench.
type blow struct {
	during string            // "run" (resume, once there is a run), "clean"
	at     results.EventKind // the nth event of that kind; "": the command's start
	nth    int
	later  time.Duration // after that
}

func (b blow) String() string {
	from := "the start"
	if b.at != "" {
		from = fmt.Sprintf("%s no. %d", b.at, b.nth)
	}
	return fmt.Sprintf("%s, %v after %s", b.during, b.later.Round(100*time.Microsecond), from)
}

// moment is when bench is killed, once or more, and what serves meanwhile.
type moment struct {
	server string
	blows  []blow
}

// matrix is a scenario of eight steps over four server lives.
func (w *world) matrix(server string) string {
	w.t.Helper()
	variant := func(name string) block { return lay(block{"name": name}, servers()[server]) }
	return w.scenario(variant("a"), block{
		"variants": []block{variant("a"), variant("b")},
		"repeats":  2,
		"load":     block{"num-prompts": 12, "sweep": block{"max-concurrency": []int{2, 4}}, "max-concurrency": nil},
		"server":   block{"stop": block{"grace": "5s"}},
	})
}

// servers are variants by what their processes look like.
func servers() map[string]block {
	fake := func(launcher string, change func(*engine)) block {
		config := healthy(launcher)
		config.Chunk, config.Loading = 5*time.Millisecond, 200*time.Millisecond
		change(&config)
		return block{"launcher": launcher, "env": block{fakeengine.Variable: config.Value()}}
	}
	worker := fakeengine.Child{Session: true, Name: "VLLM::Worker_TP", Clobber: true}
	return map[string]block{
		"vLLM": fake("vllm", children(fakeengine.Child{
			Session: true, Clobber: true,
			Children: []fakeengine.Child{worker, worker},
		})),
		"SGLang": fake("sglang", children(fakeengine.Child{Daemon: true}, fakeengine.Child{
			Daemon:  true,
			Clobber: true,
		})),
		"TGI": fake("tgi", children(fakeengine.Child{Group: true}, fakeengine.Child{Group: true, ClearEnv: true})),
		"simulator": {
			"launcher": "simulator", "binary": nil, "model": "simulated/Llama-3.2-1B-Instruct",
			"args": block{"sim-load-time": "200ms", "sim-device": "h100"},
		},
	}
}

// moments are the same at every call. The short form takes the first few,
// which are of every sort.
func moments(took time.Duration) []moment {
	random := rand.New(rand.NewPCG(4, 50))
	within := func(d time.Duration) time.Duration { return time.Duration(random.Float64() * float64(d)) }
	sometime := func(during string) blow { return blow{during, "", 0, within(took)} }
	early := func(during string) blow { return blow{during, "", 0, within(200 * time.Millisecond)} }
	around := func(kind results.EventKind, nth int, d time.Duration) blow { return blow{"run", kind, nth, within(d)} }
	all := []moment{
		{"vLLM", []blow{sometime("run"), sometime("run")}},
		{"SGLang", []blow{around(results.StepStarted, 3, took/8), early("clean")}},
		{"simulator", []blow{around(results.LifeStarting, 2, 10*time.Millisecond), around(results.LifeStarting, 3,
			2*time.Millisecond)}},
		{"TGI", []blow{around(results.LifeStopping, 1, 50*time.Millisecond), early("run")}},
	}
	shapes := []string{"vLLM", "SGLang", "TGI", "simulator"}
	kinds := []results.EventKind{
		results.LifeStarting, results.LifeSpawned, results.LifeReady, results.StepStarted,
		results.StepFinished, results.LifeStopping, results.LifeStopped,
	}
	for i := len(all); i < 50; i++ {
		m := moment{server: shapes[random.IntN(len(shapes))]}
		switch i % 5 {
		case 0, 1:
			m.blows = []blow{sometime("run")}
		case 2:
			m.blows = []blow{around(kinds[random.IntN(len(kinds))], 1+random.IntN(3), 20*time.Millisecond)}
		case 3:
			m.blows = []blow{early("run"), around(results.LifeStarting, 1+random.IntN(3), 5*time.Millisecond)}
		case 4:
			m.blows = []blow{sometime("run"), early("clean"), early("run"), sometime("run")}[:2+random.IntN(3)]
		}
		all = append(all, m)
	}
	return all
}

// TestKilledAndResumed kills bench with SIGKILL at any moment of a matrix, at
// times more than once or while it cleans up, and resumes.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	calm := newWorld(t)
	undisturbed := calm.bench("run", calm.matrix("vLLM"))
	want := calm.table()
	if undisturbed.code != 0 || len(want) != 8 {
		t.Fatalf("undisturbed run: exit code %d, %d steps\n%s", undisturbed.code, len(want), undisturbed.stderr)
	}
	calm.clean()
	all := moments(undisturbed.took)
	if !whole() {
		all = all[:4]
	}
	t.Run("moment", func(t *testing.T) {
		for i, m := range all {
			t.Run(fmt.Sprintf("%02d-%s", i+1, m.server), func(t *testing.T) {
				t.Parallel()
				m.strike(newWorld(t), want)
			})
		}
	})
	if !t.Failed() {
		kills := 0
		for _, m := range all {
			kills += len(m.blows)
		}
		t.Logf("killed %d times in %d runs of 8 steps; all were resumed to the table of the undisturbed run",
			kills, len(all))
	}
}

// strike kills and resumes a run and compares what comes of it.
func (m moment) strike(w *world, want []string) {
	night := w.matrix(m.server)
	command := func() []string {
		if len(w.folders()) > 0 {
			return []string{"resume", w.folder()}
		}
		return []string{"run", night}
	}
	kept := map[string][sha256.Size]byte{}
	for _, b := range m.blows {
		args := command()
		if b.during == "clean" {
			args = []string{"clean"}
		}
		w.t.Logf("SIGKILL: %v", b)
		w.call(call{args: args, once: func(p *os.Process) { w.deal(b, p) }})
		for path, sum := range w.finished() {
			if before, known := kept[path]; known && before != sum {
				w.t.Errorf("%s was finished before the kill and has changed", path)
			}
			kept[path] = sum
		}
	}
	args := command()
	if got := w.bench(args...); got.code != 0 {
		w.t.Errorf("bench %s: exit code %d\n%s", args[0], got.code, got.stderr)
	}
	w.clean()
	w.consistent(w.read())
	if have := w.table(); !slices.Equal(have, want) {
		w.t.Errorf("table\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for path, sum := range kept {
		switch data, err := os.ReadFile(path); {
		case err != nil:
			w.t.Errorf("finished before the kill: %v", err)
		case sha256.Sum256(data) != sum:
			w.t.Errorf("%s was finished before the kill and has changed", path)
		}
	}
}

// deal kills bench when the moment has come, or leaves it to end by itself.
func (w *world) deal(b blow, p *os.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if b.at != "" {
		start, word := w.count(b.at), b.nth
		for w.count(b.at) < start+word {
			if ended(p.Pid) || !pause(ctx, time.Millisecond/2) {
				return
			}
		}
	}
	pause(ctx, b.later)
	_ = p.Kill()
}

// count is the number of events of a kind in the journal, by its bytes.
func (w *world) count(kind results.EventKind) int {
	found, _ := filepath.Glob(w.path("results", "night", "*", results.JournalName))
	n := 0
	for _, path := range found {
		text, _ := os.ReadFile(path)
		n += strings.Count(string(text), `"event":"`+string(kind)+`"`)
	}
	return n
}

// table is what the report's table says of each step: which it is, and whether
// it was measured.
func (w *world) table() []string {
	w.t.Helper()
	got := w.bench("report", w.folder(), "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	if err != nil || len(rows) < 2 {
		w.t.Fatalf("bench report: %v\n%s%s", err, got.stdout, got.stderr)
	}
	var list []string
	for _, cells := range rows[1:] {
		var line []string
		for _, column := range []string{"step", "variant", "point", "repeat", "verdict"} {
			at := slices.Index(rows[0], column)
			if at < 0 {
				w.t.Fatalf("the report has no column %q: %v", column, rows[0])
			}
			cell := cells[at]
			if column == "verdict" && measured(results.Verdict(cell)) {
				cell = "measured"
			}
			line = append(line, cell)
		}
		list = append(list, strings.Join(line, " "))
	}
	return list
}

// finished are the hashes of all files of the steps that the journal calls
// finished.
func (w *world) finished() map[string][sha256.Size]byte {
	w.t.Helper()
	out := map[string][sha256.Size]byte{}
	if len(w.folders()) == 0 {
		return out // it had not come to make its folder
	}
	run := w.read()
	for _, e := range run.Events {
		if e.Kind != results.StepFinished || !measured(e.Verdict) {
			continue
		}
		dir := filepath.Join(run.Dir, "steps", e.Step)
		if _, err := os.Stat(filepath.Join(dir, results.ResultName)); err != nil {
			w.t.Errorf("finished step: %v", err)
		}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			out[path] = sha256.Sum256(data)
			return err
		})
		if err != nil {
			w.t.Errorf("finished step: %v", err)
		}
	}
	return out
}
