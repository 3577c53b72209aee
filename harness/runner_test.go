package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

var inf = math.Inf(1)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeServer is a server without a process.
type fakeServer struct {
	info     results.Server
	done     chan struct{}
	failure  *results.Failure
	stopErr  error
	resetErr error
	onStop   func() // called by Stop
	log      func(string, ...any)
	tokens   *float64
	extra    map[string]float64 // further counters
}

func (s *fakeServer) Info() results.Server      { return s.info }
func (s *fakeServer) Done() <-chan struct{}     { return s.done }
func (s *fakeServer) Failure() *results.Failure { return s.failure }
func (s *fakeServer) Counters(context.Context) (map[string]float64, error) {
	values := map[string]float64{scrape.OutputTokensTotal: *s.tokens}
	maps.Copy(values, s.extra)
	return values, nil
}

func (s *fakeServer) Abilities() step.Abilities { return step.Abilities{ResetCache: s.resetCache} }

// resetCache is what an engine with such a call has.
func (s *fakeServer) resetCache(context.Context) (string, error) {
	s.log("reset %s", s.info.Life)
	return "reset", s.resetErr
}

func (s *fakeServer) Tokenize(_ context.Context, text string, _ bool) ([]int, error) {
	return make([]int, len(strings.Fields(text))), nil
}

func (s *fakeServer) Detokenize(_ context.Context, ids []int) (string, error) {
	return strings.Repeat("word ", len(ids)), nil
}

func (s *fakeServer) Stop(context.Context) (results.Proof, error) {
	s.log("stop %s", s.info.Life)
	if s.onStop != nil {
		s.onStop()
	}
	return results.Proof{PIDsGone: true, PortFree: true}, s.stopErr
}

func (s *fakeServer) die(why *results.Failure) {
	s.failure = why
	close(s.done)
}

// world is a launcher and a driver whose behaviour a test scripts, and the
// story of what the runner did with them.
type world struct {
	mu       sync.Mutex
	story    []string
	launch   func(n int, spec recipe.Spec) error // n-th launch, from 1; nil: all succeed
	drive    func(ctx context.Context, n int, s *fakeServer) error
	stopErr  error
	launches int
	drives   int
	servers  []*fakeServer
	tokens   float64
	version  string
	resetErr error
	each     time.Duration  // that a pass takes
	counted  bool           // servers count what their prefix caches find
	folders  bool           // launches leave a log, as real ones do
	options  []load.Options // of each drive
	free     func(string) (int64, error)
	hooks    *fakeHooks    // nil: none
	runner   func(*Runner) // changes the runner; nil: nothing
}

func (w *world) log(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

func (w *world) Launch(_ context.Context, _ engines.Kind, spec recipe.Spec) (step.Server, error) {
	w.launches++
	w.log("launch %s", spec.Life)
	if w.folders {
		if err := os.WriteFile(spec.LogPath, []byte("a server's words\n"), 0o644); err != nil {
			return nil, err
		}
	}
	if w.launch != nil {
		if err := w.launch(w.launches, spec); err != nil {
			return nil, err
		}
	}
	s := &fakeServer{
		info: results.Server{
			Launcher: spec.Launcher, Life: spec.Life, Model: spec.Model, Version: w.version,
			BaseURL: "http://127.0.0.1:1", Simulated: true,
		},
		done: make(chan struct{}), log: w.log, stopErr: w.stopErr, tokens: &w.tokens, resetErr: w.resetErr,
		extra: map[string]float64{},
	}
	if w.counted {
		s.extra[scrape.PrefixQueries], s.extra[scrape.PrefixHits] = 0, 0
	}
	w.servers = append(w.servers, s)
	return s, nil
}

// Run answers every prompt in a second, four tokens each.
func (w *world) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport,
	error,
) {
	w.drives++
	w.options = append(w.options, o)
	report := results.ClientReport{DurationS: 1}
	if w.each > 0 {
		select {
		case <-time.After(w.each):
		case <-ctx.Done():
			return report, context.Cause(ctx)
		}
	}
	if w.drive != nil {
		if err := w.drive(ctx, w.drives, w.servers[len(w.servers)-1]); err != nil {
			return report, err
		}
	}
	for i := range prompts {
		sent, in, out := 0.0, 8, 4
		w.tokens += float64(out)
		rec := results.Record{
			Index: i, SentS: &sent, EndS: 1, ChunkS: []float64{0.25, 0.5, 0.75, 1}, ChunkKinds: "tttt",
			AskedOutputTokens: 4,
			LocalInputTokens:  &in, InputTokens: &in, OutputTokens: &out, OutputTokensSource: results.CountUsage,
			FinishReason: "length",
		}
		if err := emit(rec); err != nil {
			return report, err
		}
	}
	return report, nil
}

// run carries a scenario out in w and returns the folder as a reader sees it.
func (w *world) run(ctx context.Context, t *testing.T, sc *scenarios.Scenario) (*results.Run, Outcome) {
	t.Helper()
	machine := plan.Machine{Self: "/bench"}
	p, err := plan.New(sc, machine)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := store.Create(t.TempDir(), sc.Name, "run")
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
	if err := folder.WriteManifest(manifest); err != nil {
		t.Fatal(err)
	}
	return w.carryOut(ctx, t, sc, p, folder, journal, nil)
}

// resume continues with a run in its folder.
func (w *world) resume(ctx context.Context, t *testing.T, sc *scenarios.Scenario, dir string,
	change func(*Resume),
) (*results.Run, Outcome) {
	t.Helper()
	folder, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plan.New(sc, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	before, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	going := NewResume(before, false)
	if change != nil {
		change(going)
	}
	return w.carryOut(ctx, t, sc, plan, folder, journal, going)
}

func (w *world) carryOut(ctx context.Context, t *testing.T, sc *scenarios.Scenario, p *plan.Plan, folder *store.Folder,
	journal *store.Journal, going *Resume,
) (*results.Run, Outcome) {
	t.Helper()
	r := &Runner{
		Scenario: sc, Plan: p, Machine: plan.Machine{Self: "/bench"}, Folder: folder, Journal: journal, Launcher: w,
		Driver: w, Resume: going, Free: w.free,
		RunID: "run",
	}
	if w.hooks != nil {
		r.Hooks, r.Notifier = w.hooks, w.hooks
	}
	if w.runner != nil {
		w.runner(r)
	}
	outcome, err := r.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Read(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return run, outcome
}

// verdicts spells the steps of a run: "a_c1_r1 ok".
func verdicts(run *results.Run) []string {
	var out []string
	for _, s := range run.Steps {
		text := s.Result.Step.ID + " " + string(s.Result.Verdict)
		if s.Result.Failure != nil {
			text += " " + string(s.Result.Failure.Class)
		}
		out = append(out, text)
	}
	return out
}

func TestRunnerVerdicts(t *testing.T) {
	exited := results.Failf(results.FailExited, "exit code 0")
	tests := []struct {
		name   string
		change func(*scenarios.Scenario)
		world  *world
		want   []string
		story  string
	}{
		{
			name:  "all goes well",
			want:  []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 02-b, stop 02-b",
		},
		{
			name:  "a variant that does not start is failed and the next one runs",
			world: &world{launch: failLaunches(exited, 1)},
			want:  []string{"a_c1_r1 failed server-exited", "a_c2_r1 failed server-exited", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, launch 02-b, stop 02-b",
		},
		{
			name:   "a launch that failed is tried again",
			change: func(sc *scenarios.Scenario) { sc.Retries = 1 },
			world:  &world{launch: failLaunches(exited, 1)},
			want:   []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story:  "launch 01-a, launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name:   "a flag that the server does not know is not tried again",
			change: func(sc *scenarios.Scenario) { sc.Retries = 3 },
			world:  &world{launch: failLaunches(results.Failf(results.FailBadFlag, "--x"), 1)},
			want: []string{
				"a_c1_r1 failed unsupported-flag", "a_c2_r1 failed unsupported-flag", "b_c1_r1 ok",
				"b_c2_r1 ok",
			},
			story: "launch 01-a, launch 02-b, stop 02-b",
		},
		{
			name:  "a server that dies under load fails its step and is started again for the next",
			world: &world{drive: dieAt(1, exited)},
			want:  []string{"a_c1_r1 failed server-exited", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name:   "a step whose server died is tried again",
			change: func(sc *scenarios.Scenario) { sc.Retries = 1 },
			world:  &world{drive: dieAt(1, exited)},
			want:   []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story:  "launch 01-a, stop 01-a, launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name:   "skip-variant leaves out the rest of the variant",
			change: func(sc *scenarios.Scenario) { sc.OnFailure = scenarios.SkipVariant },
			world:  &world{drive: dieAt(1, exited)},
			want: []string{
				"a_c1_r1 failed server-exited", "a_c2_r1 not run earlier-failure", "b_c1_r1 ok",
				"b_c2_r1 ok",
			},
			story: "launch 01-a, stop 01-a, launch 02-b, stop 02-b",
		},
		{
			name:   "stop leaves out the rest of the run",
			change: func(sc *scenarios.Scenario) { sc.OnFailure = scenarios.StopRun },
			world:  &world{drive: dieAt(1, exited)},
			want: []string{
				"a_c1_r1 failed server-exited", "a_c2_r1 not run earlier-failure",
				"b_c1_r1 not run earlier-failure", "b_c2_r1 not run earlier-failure",
			},
			story: "launch 01-a, stop 01-a",
		},
		{
			name:  "a server that cannot be proven gone ends the run",
			world: &world{stopErr: results.Failf(results.FailNoProof, "pid 7 is still there")},
			want:  []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 not run not-stopped", "b_c2_r1 not run not-stopped"},
			story: "launch 01-a, stop 01-a",
		},
		{
			name:   "a step over its deadline fails, the next one runs",
			change: func(sc *scenarios.Scenario) { sc.StepDeadline = time.Minute },
			world:  &world{drive: hangAt(2)},
			want:   []string{"a_c1_r1 ok", "a_c2_r1 failed deadline", "b_c1_r1 ok", "b_c2_r1 ok"},
			story:  "launch 01-a, stop 01-a, launch 02-b, stop 02-b",
		},
		{
			name:   "the run's deadline leaves out the rest",
			change: func(sc *scenarios.Scenario) { sc.RunDeadline = time.Hour },
			world:  &world{drive: hangAt(2)},
			want: []string{
				"a_c1_r1 ok", "a_c2_r1 failed deadline", "b_c1_r1 not run deadline",
				"b_c2_r1 not run deadline",
			},
			story: "launch 01-a, stop 01-a",
		},
		{
			name:   "too many open files fail a step, and nothing else",
			change: func(sc *scenarios.Scenario) { sc.Retries = 2 },
			world: &world{drive: func(_ context.Context, n int, _ *fakeServer) error {
				if n == 1 {
					return results.WriteFailure(&os.PathError{Op: "open", Path: "records", Err: syscall.EMFILE})
				}
				return nil
			}},
			want:  []string{"a_c1_r1 failed open-files", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 02-b, stop 02-b",
		},
		{
			name: "a full disk ends the run",
			world: &world{drive: func(context.Context, int, *fakeServer) error {
				return results.Failf(results.FailDisk, "no space left on device")
			}},
			want: []string{
				"a_c1_r1 failed disk", "a_c2_r1 not run disk", "b_c1_r1 not run disk",
				"b_c2_r1 not run disk",
			},
			story: "launch 01-a, stop 01-a",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats = 1
				if tt.change != nil {
					tt.change(sc)
				}
				w := tt.world
				if w == nil {
					w = &world{}
				}
				run, _ := w.run(t.Context(), t, sc)
				if got := verdicts(run); !slices.Equal(got, tt.want) {
					t.Errorf("verdicts =\n %s, want\n %s", strings.Join(got, "\n "), strings.Join(tt.want, "\n "))
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
			})
		})
	}
}

func failLaunches(failure *results.Failure, upTo int) func(int, recipe.Spec) error {
	return func(n int, _ recipe.Spec) error {
		if n <= upTo {
			return failure
		}
		return nil
	}
}

func dieAt(drive int, why *results.Failure) func(context.Context, int, *fakeServer) error {
	return func(ctx context.Context, n int, s *fakeServer) error {
		if n == drive {
			s.die(why)
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}
}

func hangAt(drive int) func(context.Context, int, *fakeServer) error {
	return func(ctx context.Context, n int, _ *fakeServer) error {
		if n == drive {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &world{drive: func(ctx context.Context, n int, _ *fakeServer) error {
			if n == 2 {
				cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}}
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats = 1
		run, outcome := w.run(ctx, t, sc)
		want := []string{
			"a_c1_r1 ok", "a_c2_r1 failed interrupted", "b_c1_r1 not run interrupted",
			"b_c2_r1 not run interrupted",
		}
		if got := verdicts(run); !slices.Equal(got, want) {
			t.Errorf("verdicts = %q, want %q", got, want)
		}
		if outcome.Ended == nil || outcome.Ended.Class != results.FailInterrupted {
			t.Errorf("the run was ended by %v, want an interruption", outcome.Ended)
		}
		outcome.Ended, outcome.Open = nil, 0
		if want := (Outcome{OK: 1, Failed: 1, NotRun: 2}); outcome != want {
			t.Errorf("outcome = %+v, want %+v", outcome, want)
		}
		if w.story[len(w.story)-1] != "stop 01-a" {
			t.Errorf("story = %q, want the server stopped at its end", w.story)
		}
	})
}

func TestReplicasAllStopWhenOneDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{launch: func(n int, _ recipe.Spec) error {
			if n == 3 {
				return errors.New("no")
			}
			return nil
		}}
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Variants = 1, sc.Variants[:1]
		sc.Variants[0].Server.Replicas = 3
		w.run(t.Context(), t, sc)
		want := "launch 01-a, launch 01-a, launch 01-a, stop 01-a, stop 01-a"
		if got := strings.Join(w.story, ", "); got != want {
			t.Errorf("story = %s, want %s", got, want)
		}
	})
}

// A class that a retry seldom cures is tried again where the scenario names it,
// when a server does not start as when a step fails.
func TestNamedClassRetriesServerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{launch: func(n int, _ recipe.Spec) error {
			if n < 3 {
				return results.Failf(results.FailDownload, "no route to the hub")
			}
			if n < 5 {
				return results.Failf(results.FailKVCache, "no room for one request")
			}
			return nil
		}}
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Variants = 1, sc.Variants[:1]
		sc.Retries, sc.RetriesFor = 2, map[string]int{string(results.FailKVCache): 2}
		run, _ := w.run(t.Context(), t, sc)
		want := []string{"a_c1_r1 ok", "a_c2_r1 ok"}
		if got := verdicts(run); !slices.Equal(got, want) || w.launches != 5 {
			t.Errorf("%q after %d launches, want %q after 5", got, w.launches, want)
		}
	})
}
