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
	"github.com/benchrig/bench/launchers/simserver/simengine"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

var randomRuns = flag.Int("random-runs", 4, "plans that TestKilledRunsComeToTheSameEnd draws")

// drawn is a world of simulated servers in which the fate of every step and
// launch follows from its name: some always fail, some once, others never. It
// counts its moments, and copies the folder at one of them: that is what a kill
// would leave there.
type drawn struct {
	mu sync.Mutex // replicas start side by side; guards fails and moments
	*world
	seed    uint64
	step    results.StepRef // that runs
	fails   map[string]int  // failures so far of what fails once
	drives  map[string]int  // by step
	engine  simengine.Config
	moments int
	killAt  int    // 0: never
	from    string // folder of the run
	to      string // of its copy
}

func newDrawn(seed uint64) *drawn {
	return &drawn{world: &world{}, seed: seed, fails: map[string]int{}, drives: map[string]int{}}
}

// draw is a number from 0 to n-1 that follows from a name.
func (d *drawn) draw(n int, name string) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", d.seed, name)
	return int(h.Sum64() % uint64(n))
}

// failsNow reports whether something fails now: of 12, one fails always and two once.
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
	if err == nil && d.failsNow(fmt.Sprint("launch of ", spec.Args)) {
		err = results.Failf(results.FailExited, "exit code 0")
	}
	if err != nil {
		return nil, err
	}

	d.engine = simengine.Config{Model: spec.Model}
	for _, arg := range spec.Args {
		if tp, ok := arg.Value.(int); ok && arg.Name == "tensor-parallel-size" {
			d.engine.TensorParallelSize = tp
		}
	}
	server.(*fakeServer).onStop = d.moment
	return server, nil
}

func (d *drawn) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport,
	error,
) {
	d.moment()
	d.drives[d.step.ID]++
	if d.failsNow("step " + d.step.ID) {
		return results.ClientReport{DurationS: 1}, results.Failf(results.FailNoProgress, "no token")
	}

	records, took, err := simulate(d.engine, o, prompts)
	if err != nil {
		return results.ClientReport{}, err
	}
	time.Sleep(lasting(took)) // of the bubble's clock
	for _, rec := range records {
		d.tokens += float64(*rec.OutputTokens)
		if err := emit(rec); err != nil {
			return results.ClientReport{}, err
		}
	}
	d.moment()
	return results.ClientReport{DurationS: took}, nil
}

func lasting(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// simulate sends the prompts to the simulator's scheduler, in the time that it
// models. It takes no time and is the same each time.
func simulate(cfg simengine.Config, o load.Options, prompts []load.Prompt) ([]results.Record, float64, error) {
	settings, err := cfg.Resolve()
	if err != nil {
		return nil, 0, err
	}

	core := simengine.NewScheduler(settings)
	began := time.Now()
	now := began
	var sent []*simengine.Sequence
	submit := func(finished int) {
		for n := len(sent); n < len(prompts); n++ {
			if o.MaxConcurrency > 0 && n-finished >= o.MaxConcurrency ||
				o.Arrivals != nil && began.Add(lasting(o.Arrivals[n])).After(now) {
				return
			}
			s := &simengine.Sequence{
				Key: uint64(n), Prompt: make([]int32, max(len(prompts[n].TokenIDs), 1)), Spoken: []int32{400},
				Salt: uint64(n) + 1, Answer: prompts[n].OutputTokens, Target: prompts[n].OutputTokens, Arrival: now,
				Out: simengine.NewStream(),
			}
			sent = append(sent, s)
			core.Submit(s)
		}
	}
	for finished := 0; finished < len(prompts); finished = int(core.Stats.Finished[simengine.FinishLength]) {
		submit(finished)
		batch, took := core.Plan()
		start := now
		if len(batch.Items) == 0 {
			now = began.Add(lasting(o.Arrivals[len(sent)]))
			continue
		}
		now = now.Add(lasting(took))
		core.Commit(batch, start, now)
	}

	return recordsOf(sent, began), now.Sub(began).Seconds(), nil
}

func recordsOf(sent []*simengine.Sequence, began time.Time) []results.Record {
	records := make([]results.Record, len(sent))
	for i, s := range sent {
		at, in, out := s.Arrival.Sub(began).Seconds(), len(s.Prompt), s.Output
		rec := results.Record{
			Index: i, SentS: &at, EndS: s.Last.Sub(began).Seconds(), AskedOutputTokens: out, LocalInputTokens: &in,
			InputTokens: &in, OutputTokens: &out, OutputTokensSource: results.CountUsage, FinishReason: "length",
		}
		for _, e := range s.Out.Take(nil) {
			rec.ChunkS = append(rec.ChunkS, e.At.Sub(began).Seconds())
			rec.ChunkKinds += "t"
		}
		records[i] = rec
	}
	return records
}

func (d *drawn) observe(u status.Update) {
	if u.Kind == status.StepBegun {
		d.step = u.Step
	}
	if u.Kind != status.StepProgress {
		d.moment()
	}
}

// drawScenario is one of all that a plan can be made of, as a file.
func drawScenario(t *testing.T, rng *rand.Rand) *scenarios.Scenario {
	t.Helper()
	of := func(words ...string) string { return words[rng.IntN(len(words))] }
	var src strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&src, format+"\n", values...) }

	search := rng.IntN(4) == 0
	one, order, repeats := of("replicas: 2", "extrapolate: 2"), "grouped", of("2", "{min: 2, max: 3, until: 1%}")
	if search {
		one, repeats = "replicas: 2", "2" // what cannot be combined with a search
	}
	if repeats != "2" || rng.IntN(3) > 0 {
		order = of("interleaved", "shuffled")
	}

	say("schema: 1\nname: drawn\ntelemetry: off\ndisk: {min-free: 0}\nseed: %d", rng.IntN(1000))
	say("order: %s", order)
	say("restart: %s", of("never", "variant", "point", "step"))
	say("retries: %s", of("1", "2", "{no-progress: 2, other: 1}"))
	say("on-failure: %s", of("continue", "continue", "skip-variant"))
	say("server: {launcher: simulator, model: simulated/Llama-3.1-8B-Instruct}")

	say("variants:")
	say("  - name: a${tp}-${k}\n    matrix: {tp: [1, 2], k: [3, %d]}\n    exclude: [{tp: %d, k: 3}]", 4+rng.IntN(3),
		1+rng.IntN(2))
	say("    args: {tensor-parallel-size: \"${tp}\", seed: \"${k}\"}")
	say("  - name: b\n    %s", one)

	say("load:\n  dataset: {kind: random, tokens: ids, vocab-size: 1000}\n  warmups: 0")
	say("  input-len: 1000\n  output-len: 4\n  num-prompts: 16")
	rate := of("", "request-rate: 50, ")
	condition := fmt.Sprintf("p99_ttft_ms: %d", 20+rng.IntN(400))
	if search {
		say("search: {metric: %s, from: 1, to: 16, steps: 5, tolerance: 10%%, slo: {%s}}",
			of("max-concurrency", "request-rate"), condition)
	} else {
		say("  sweep:")
		for i := range 2 + rng.IntN(2) {
			say("    - {%smax-concurrency: %d}", rate, 2<<i)
		}
		if rng.IntN(2) == 0 {
			say("prune: {when: [\"%s\"]}", strings.Replace(condition, ":", " >", 1))
		}
	}
	say("repeats: %s", repeats)

	sc, err := parse.Source("drawn.yaml", []byte(src.String()), parse.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, src.String())
	}
	return sc
}

// carryOut runs a scenario into dir, or continues with what is there.
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

// shape is what a report of a run shows, without figures and attempts: each step
// with its verdict and load, and the columns of summary.csv.
func shape(t *testing.T, run *results.Run) []string {
	t.Helper()
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

	var summary strings.Builder
	if err := export.CSV(&summary, run); err != nil {
		t.Fatal(err)
	}
	columns, rows, _ := strings.Cut(summary.String(), "\n")
	return append(out, columns, fmt.Sprintf("%d rows", strings.Count(rows, "\n")))
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
// and its resumes at random moments and resumes it to its end. Whatever the plan:
// every step ends with one final verdict, none that had one is measured again,
// and the resumed run ends as the one in one go did.
func TestKilledRunsComeToTheSameEnd(t *testing.T) {
	runs, killed := *randomRuns, 0
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 17))
				sc := drawScenario(t, rng)
				folder, err := store.Create(t.TempDir(), sc.Name, "run")
				if err != nil {
					t.Fatal(err)
				}
				steps := len(sc.Variants) * len(sc.Points) * sc.Repeats
				d := newDrawn(seed)
				d.killAt, d.to = 1+rng.IntN(8*steps), filepath.Join(t.TempDir(), "killed")
				want := d.carryOut(t, sc, folder, nil)
				checkFinal(t, want)

				for range 2 { // kills
					if d.moments < d.killAt {
						return // it had ended before
					}
					killed++
					last := d
					d = newDrawn(seed)
					d.killAt, d.to = 1+rng.IntN(8*steps), filepath.Join(t.TempDir(), "killed")
					resumed(t, sc, want, last, d)
				}
			})
		})
	}
	t.Logf("%d kills of %d runs", killed, runs)
	if share := float64(killed) / float64(runs); share < 0.3 {
		t.Errorf("%d kills of %d runs, want a third at least", killed, runs)
	}
}

// resumed continues in next with what the kill of last left, to the end that the
// run in one go had.
func resumed(t *testing.T, sc *scenarios.Scenario, want *results.Run, last, next *drawn) {
	t.Helper()
	left, err := store.Open(last.to)
	if err != nil {
		t.Fatal(err)
	}
	before, err := store.Read(last.to)
	if err != nil {
		t.Fatal(err)
	}
	resume := NewResume(before, false)
	got := next.carryOut(t, sc, left, resume)

	checkFinal(t, got)
	if diff := cmp.Diff(shape(t, want), shape(t, got)); diff != "" {
		t.Errorf("killed at moment %d of %d, the run ends otherwise (-in one go +resumed):\n%s", last.killAt,
			last.moments, diff)
	}
	for id, n := range next.drives {
		if resume.Keeps(id) {
			t.Errorf("step %s had its verdict and was measured %d times more", id, n)
		}
	}
	if !NewResume(got, false).Done(got) && !slices.ContainsFunc(shape(t, got), func(s string) bool {
		return strings.Contains(s, string(results.FailEarlier))
	}) {
		t.Error("the resumed run is not done")
	}
}
