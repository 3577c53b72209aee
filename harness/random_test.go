package harness

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

var randomRuns = flag.Int("random-runs", 16, "plans that TestKilledRunsComeToTheSameEnd draws")

// drawn is a world in which the fate of every step and launch follows from its
// name: some always fail, some once, others never. It counts its moments, and
// copies the folder at one of them: that is what a kill would leave there.
type drawn struct {
	mu sync.Mutex // replicas start side by side; guards fails and moments
	*world
	seed    uint64
	step    results.StepRef // that runs
	fails   map[string]int  // failures so far of what fails once
	drives  map[string]int  // by step
	moments int
	killAt  int    // 0: never
	from    string // folder of the run
	to      string // of its copy
}

// draw is a number from 0 to n-1 that follows from a name.
func (d *drawn) draw(n int, name string) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", d.seed, name)
	return int(h.Sum64() % uint64(n))
}

// fails says whether something fails now: of 12, one fails always and two once.
func (d *drawn) failsNow(name string) bool {
	switch d.draw(12, name) {
	case 0:
		return true
	case 1, 2:
		d.mu.Lock()
		defer d.mu.Unlock()
		d.fails[name]++
		return d.fails[name] == 1
	}
	return false
}

func (d *drawn) moment() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.moments++; d.moments != d.killAt {
		return
	}
	if err := os.CopyFS(d.to, os.DirFS(d.from)); err != nil {
		panic(err)
	}
}

func (d *drawn) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	d.moment()
	if err := os.MkdirAll(filepath.Dir(spec.LogPath), 0o755); err != nil {
		return nil, err
	}
	server, err := d.world.Launch(ctx, kind, spec)
	if err == nil && d.failsNow("launch of "+spec.Model) {
		err = results.Failf(results.FailExited, "exit code 0")
	}
	if err != nil {
		return nil, err
	}
	server.(*fakeServer).onStop = d.moment
	return server, nil
}

func (d *drawn) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport,
	error,
) {
	d.moment()
	d.drives[d.step.ID]++
	report := results.ClientReport{DurationS: 1 + 0.02*float64(d.draw(5, d.step.ID))}
	if d.failsNow("step " + d.step.ID) {
		return report, results.Failf(results.FailNoProgress, "no token")
	}
	time.Sleep(time.Minute)
	first := 0.01 * float64(max(o.MaxConcurrency, 1)) * float64(1+d.draw(3, d.step.Variant))
	for i := range prompts {
		sent, in, out := 0.0, 8, 4
		d.tokens += float64(out)
		rec := results.Record{
			Index: i, SentS: &sent, EndS: first + 1, ChunkS: []float64{first, first + 0.1, first + 0.2, first + 0.3},
			ChunkKinds:        "tttt",
			AskedOutputTokens: 4, LocalInputTokens: &in, InputTokens: &in, OutputTokens: &out,
			OutputTokensSource: results.CountUsage,
			FinishReason:       "length",
		}
		if err := emit(rec); err != nil {
			return report, err
		}
	}
	d.moment()
	return report, nil
}

func (d *drawn) observe(u status.Update) {
	if u.Kind == status.StepBegun {
		d.step = u.Step
	}
	if u.Kind != status.StepProgress {
		d.moment()
	}
}

// drawScenario is one of all that a plan can be made of.
func drawScenario(rng *rand.Rand) *scenarios.Scenario {
	orders := []scenarios.Order{scenarios.Interleaved, scenarios.Grouped, scenarios.Shuffled}
	restarts := []scenarios.Restart{
		scenarios.RestartNever, scenarios.RestartVariant, scenarios.RestartPoint,
		scenarios.RestartStep,
	}
	sc := testScenario(orders[rng.IntN(len(orders))], restarts[rng.IntN(len(restarts))])
	sc.Repeats, sc.Retries, sc.Seed = 1+rng.IntN(3), 1+rng.IntN(2), rng.Uint64()
	if rng.IntN(3) == 0 {
		sc.OnFailure = scenarios.SkipVariant
	}

	sc.Variants, sc.Points = nil, nil
	for i := range 1 + rng.IntN(3) {
		v := testVariant(string(rune('a' + i)))
		if v.Server.Replicas = 1 + rng.IntN(2); v.Server.Replicas == 1 {
			v.Extrapolate = rng.IntN(3)
		}
		sc.Variants = append(sc.Variants, v)
	}
	for i := range 1 + rng.IntN(4) {
		sc.Points = append(sc.Points, testPoint(fmt.Sprintf("c%d", 1<<i), 1<<i))
	}

	condition := scenarios.Condition{Figure: "p99_ttft_ms", Op: ">", Value: 10 + float64(rng.IntN(100))}
	switch rng.IntN(4) {
	case 0:
		sc.Prune.When = []scenarios.Condition{condition}
	case 1:
		sc.Repeats, sc.Until = 4, scenarios.Until{Min: 2, Width: 0.03}
	case 2:
		condition.Op = "<="
		sc.Search = scenarios.Search{
			Metric: scenarios.SearchConcurrency, From: 1, To: 16, Steps: 5, Tolerance: 0.1,
			SLO: []scenarios.Condition{condition},
		}
		sc.Points = nil
		for i := range sc.Search.Steps {
			sc.Points = append(sc.Points, testPoint(fmt.Sprintf("search-%d", i+1), 4))
		}
	}
	return sc
}

// carryOut runs a scenario into dir, or goes on with what lies there.
func (d *drawn) carryOut(t *testing.T, sc *scenarios.Scenario, folder *store.Folder, from *Resume) *results.Run {
	t.Helper()
	p, err := plan.New(sc, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	manifest := results.Manifest{
		Format: results.FormatVersion, Scenario: sc.Name, Run: "run", Planned: p.Refs(),
		Search: plan.SearchPolicy(sc),
	}
	if err := folder.WriteManifest(manifest); from == nil && err != nil {
		t.Fatal(err)
	}

	d.from = folder.Dir()
	r := &Runner{
		Scenario: sc, Plan: p, Machine: plan.Machine{Self: "/bench"}, Folder: folder, Journal: journal,
		Launcher: d, Driver: d,
		Resume: from, RunID: "run", Observe: d.observe,
	}
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	run, err := store.Read(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// shape is what a report of a run would show, without figures and attempts.
func shape(run *results.Run) []string {
	var out []string
	for _, steps := range [][]results.Step{run.Steps, run.NotNeeded} {
		for _, s := range steps {
			r := s.Result
			line := fmt.Sprintf("%s %s", r.Step.ID, r.Verdict)
			if r.Failure != nil {
				line += " " + string(r.Failure.Class)
			}
			if c := r.Asked.MaxConcurrency; c != nil {
				line += fmt.Sprintf(" at %d", *c)
			}
			if r.Extrapolated != nil {
				line += " extrapolated"
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// checkFinal holds a journal to one final verdict a step.
func checkFinal(t *testing.T, run *results.Run) {
	t.Helper()
	final := map[string]int{}
	for _, e := range run.Events {
		if e.Kind == results.StepFinished && e.Verdict != results.NotRun && !e.Retry {
			final[e.Step]++
		}
	}
	for _, steps := range [][]results.Step{run.Steps, run.NotNeeded} {
		for _, s := range steps {
			id, want := s.Result.Step.ID, 1
			if s.Result.Verdict == results.NotRun {
				want = 0
			}
			if s.State != results.StepDone || final[id] != want {
				t.Errorf("step %s is %s with %d final verdicts, want done with %d", id, s.State, final[id], want)
			}
		}
	}
}

// TestKilledRunsComeToTheSameEnd draws plans and fates at random, kills each run
// at a random moment and resumes it. Whatever the plan: every step ends with one
// final verdict, none that had one is measured again, and the resumed run ends
// as the one in one go did.
func TestKilledRunsComeToTheSameEnd(t *testing.T) {
	runs, killed := *randomRuns, 0
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 17))
				sc := drawScenario(rng)
				folder, err := store.Create(t.TempDir(), sc.Name, "run")
				if err != nil {
					t.Fatal(err)
				}
				steps := len(sc.Variants) * len(sc.Points) * sc.Repeats
				whole := &drawn{
					world: &world{}, seed: seed, fails: map[string]int{}, drives: map[string]int{},
					killAt: 1 + rng.IntN(8*steps), to: filepath.Join(t.TempDir(), "killed"),
				}
				want := whole.carryOut(t, sc, folder, nil)
				checkFinal(t, want)
				if whole.moments < whole.killAt {
					return // it had ended before
				}

				killed++
				left, err := store.Open(whole.to)
				if err != nil {
					t.Fatal(err)
				}
				before, err := store.Read(whole.to)
				if err != nil {
					t.Fatal(err)
				}
				resume := NewResume(before, false)
				second := &drawn{world: &world{}, seed: seed, fails: map[string]int{}, drives: map[string]int{}}
				got := second.carryOut(t, sc, left, resume)

				checkFinal(t, got)
				if diff := cmp.Diff(shape(want), shape(got)); diff != "" {
					t.Errorf("killed at moment %d of %d, the run ends otherwise (-in one go +resumed):\n%s",
						whole.killAt, whole.moments, diff)
				}
				for id, n := range second.drives {
					if resume.Keeps(id) {
						t.Errorf("step %s had its verdict and was measured %d times more", id, n)
					}
				}
				if !NewResume(got, false).Done(got) && !slices.ContainsFunc(shape(got), func(s string) bool {
					return strings.Contains(s, string(results.FailEarlier))
				}) {
					t.Error("the resumed run is not done")
				}
			})
		})
	}
	if share := float64(killed) / float64(runs); share < 0.3 {
		t.Errorf("%d of %d runs were killed before their end, want a third at least", killed, runs)
	}
}
