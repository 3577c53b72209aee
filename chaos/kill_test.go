package chaos

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchrig/internal/fakeengine"
	"benchrig/results"
)

// matrix is a scenario of eight steps over four server lives, which take about
// three seconds.
func (w *world) matrix() string {
	engine := healthy()
	engine.Children = []fakeengine.Child{{Session: true}}
	engine.Chunk = 5 * time.Millisecond
	engine.Loading = 200 * time.Millisecond
	variant := func(name string) block { return block{"name": name, "env": block{fakeengine.Variable: engine.Value()}} }
	return w.scenario(variant("a"), block{
		"variants": []block{variant("a"), variant("b")},
		"repeats":  2,
		"load": block{
			"endpoint": "completions", "dataset": block{"kind": "random", "tokens": "ids", "vocab-size": 1000},
			"input-len": 8, "output-len": 8, "num-prompts": 12, "sweep": block{"max-concurrency": []int{2, 4}},
		},
	})
}

// TestKilledAndResumed kills bench with SIGKILL at a random moment, at times
// twice, and resumes.
func TestKilledAndResumed(t *testing.T) {
	calm := newWorld(t)
	undisturbed := calm.bench(nil, "run", calm.matrix())
	want := steps(calm.read())
	if undisturbed.code != 0 || len(want) != 8 {
		t.Fatalf("undisturbed run: exit code %d, %d steps\n%s", undisturbed.code, len(want), undisturbed.stderr)
	}
	moments := 4
	if whole() {
		moments = 50
	}
	t.Run("all", func(t *testing.T) {
		for i := range moments {
			t.Run(fmt.Sprintf("moment-%02d", i+1), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(i), 1))
				killAndResume(t, want, func() time.Duration {
					return time.Duration(random.Float64() * float64(undisturbed.took))
				}, 1+i%2)
			})
		}
	})
}

func killAndResume(t *testing.T, want []string, moment func() time.Duration, kills int) {
	w := newWorld(t)
	command := []string{"run", w.matrix()}
	var kept map[string][sha256.Size]byte
	for range kills {
		after := moment()
		t.Logf("%v: SIGKILL after %v", command[0], after.Round(time.Millisecond))
		w.bench(func(p *os.Process) {
			time.Sleep(after)
			_ = p.Kill()
		}, command...)
		if !w.begun() {
			continue // it had not come to make its folder
		}
		kept = w.finished()
		command = []string{"resume", w.folder()}
	}
	got := w.bench(nil, command...)
	if got.code != 0 {
		t.Errorf("bench %s: exit code %d\n%s", command[0], got.code, got.stderr)
	}
	w.clean()
	run := w.read()
	w.consistent(run)
	if have := steps(run); !slices.Equal(have, want) {
		t.Errorf("steps\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for path, sum := range w.finished() {
		if before, ok := kept[path]; ok && before != sum {
			t.Errorf("%s was finished before the kill and has changed", path)
		}
		delete(kept, path)
	}
	for path := range kept {
		t.Errorf("%s was finished before the kill and is gone", path)
	}
}

// begun reports whether there is a run folder to resume.
func (w *world) begun() bool {
	found, _ := filepath.Glob(filepath.Join(w.dir, "results", "night", "*", results.ManifestName))
	return len(found) > 0
}

// steps lists a run's steps in order, with whether they were measured.
func steps(run *results.Run) []string {
	var list []string
	for _, s := range run.Steps {
		measured := s.Result.Verdict == results.OK || s.Result.Verdict == results.Suspect
		list = append(list, fmt.Sprintf("%s measured=%v", s.Result.Step.ID, measured))
	}
	return list
}

// finished are the hashes of the results that the journal calls finished.
func (w *world) finished() map[string][sha256.Size]byte {
	w.t.Helper()
	out := map[string][sha256.Size]byte{}
	run := w.read()
	ended := map[string]bool{}
	for _, e := range run.Events {
		if e.Kind == results.StepFinished && (e.Verdict == results.OK || e.Verdict == results.Suspect) {
			ended[e.Step] = true
		}
	}
	for step := range ended {
		path := filepath.Join(run.Dir, "steps", step, results.ResultName)
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Errorf("finished step: %v", err)
			continue
		}
		out[path] = sha256.Sum256(data)
	}
	return out
}
