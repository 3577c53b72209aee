package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/plan/identity"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// passWorld is a world whose answers are as long as asked, and whose passes
// take time.
type passWorld struct {
	*world
	takes  [2]time.Duration // whole answers, answers of one token
	server func(n int, info *results.Server)
	extra  map[string]float64                 // counters after a pass, of its server
	pass   func(n int, recs []results.Record) // changes what comes back from the n-th drive
	asked  [][]load.Prompt
}

func (w *passWorld) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	server, err := w.world.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	fake := server.(*fakeServer)
	fake.info.BaseURL = fmt.Sprintf("http://127.0.0.1:%d", spec.Port)
	fake.info.Argv, fake.info.Env = []string{"serve", "--port", fmt.Sprint(spec.Port)},
		map[string]string{"NO_COLOR": "1"}
	fake.extra = map[string]float64{scrape.QueueSecondsTotal: 0, scrape.QueueRequestsTotal: 0}
	if w.server != nil {
		w.server(w.launches, &fake.info)
	}
	return fake, nil
}

func (w *passWorld) Run(ctx context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	w.drives++
	w.asked = append(w.asked, prompts)
	fake := w.servers[len(w.servers)-1]
	takes := w.takes[0]
	if prompts[0].OutputTokens == 1 {
		takes = w.takes[1]
	}
	report := results.ClientReport{DurationS: takes.Seconds()}
	if o.Started != nil {
		o.Started(time.Now())
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return report, context.Cause(ctx)
	}
	if w.drive != nil {
		if err := w.drive(ctx, w.drives, fake); err != nil {
			return report, err
		}
	}
	var records []results.Record
	for i, p := range prompts {
		in, out := 8, p.OutputTokens
		w.tokens += float64(out)
		rec := results.Record{
			Index: i, SentS: new(0.0), EndS: takes.Seconds(), AskedOutputTokens: out, LocalInputTokens: &in,
			InputTokens: &in, OutputTokens: &out,
			OutputTokensSource: results.CountUsage, FinishReason: "length",
		}
		for k := range out {
			rec.ChunkS = append(rec.ChunkS, 0.5+float64(k)*0.25)
			rec.ChunkKinds += "t"
		}
		records = append(records, rec)
	}
	if w.pass != nil {
		w.pass(w.drives, records)
	}
	for _, rec := range records {
		if err := emit(rec); err != nil {
			return report, err
		}
	}
	maps.Copy(fake.extra, w.extra)
	return report, nil
}

func newPassWorld(change func(*passWorld)) *passWorld {
	w := &passWorld{world: &world{}, takes: [2]time.Duration{5 * time.Second, 2 * time.Second}}
	if change != nil {
		change(w)
	}
	return w
}

// run carries out one variant at one point with method sqzb, in a folder that
// can be gone on with.
func (w *passWorld) run(ctx context.Context, t *testing.T, change func(*scenarios.Scenario)) (*results.Run, Outcome) {
	t.Helper()
	w.runner = func(r *Runner) { r.Launcher, r.Driver = w, w }
	return w.world.run(ctx, t, sqzbScenario(change))
}

func sqzbScenario(change func(*scenarios.Scenario)) *scenarios.Scenario {
	sc := testScenario(scenarios.Interleaved, scenarios.RestartNever)
	sc.Method, sc.Repeats, sc.Variants, sc.Points = scenarios.SQZB, 1, sc.Variants[:1], sc.Points[:1]
	sc.Points[0].Dataset = scenarios.Dataset{Kind: "random", TokenIDs: true, VocabSize: 100, Vary: true}
	sc.Points[0].IgnoreEOS, sc.Variants[0].Server.Port = true, 8000
	if change != nil {
		change(sc)
	}
	return sc
}

const bothPasses = "launch 01-a, stop 01-a, launch 01-a-pass-2, stop 01-a-pass-2"

func TestTwoPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPassWorld(func(w *passWorld) {
			w.extra = map[string]float64{scrape.QueueSecondsTotal: 0.8, scrape.QueueRequestsTotal: 4}
		})
		run, outcome := w.run(t.Context(), t, nil)
		result := run.Steps[0].Result
		if got := verdicts(run); !slices.Equal(got, []string{"a_c1_r1 ok"}) || outcome.OK != 1 {
			t.Fatalf("verdicts = %q, outcome %+v, warnings %v", got, outcome, result.Warnings)
		}
		if got := strings.Join(w.story, ", "); got != bothPasses {
			t.Errorf("story = %s, want %s", got, bothPasses)
		}
		s := result.SQZB
		got := fmt.Sprintf("in %d out %d, %g - %g = %g s, %g %g %g tok/s, ttft %g - %g = %g, tpot %g %g, first %d, "+
			"undefined %q",
			*s.InputTokens, *s.OutputTokens, *s.E2ELatencyS, *s.SummarizationLatencyS, *s.GenerationLatencyS,
			*s.SummarizationThroughput, *s.E2EThroughput, *s.GenerationThroughput, *s.TTFTMeanS, *s.QueueMeanS,
			*s.TTFTUnqueuedS, *s.TPOTMeanS, *s.TPOTByTokensS, s.FirstTokens, s.Undefined)
		want := `in 32 out 16, 5 - 2 = 3 s, 16 3.2 5.333333333333333 tok/s, ttft 0.5 - 0.2 = 0.3, tpot 0.25 0.1875, first 4, undefined ""`
		if got != want {
			t.Errorf("figures =\n %s, want\n %s", got, want)
		}
		if *result.Figures.TotalOutputTokens != 16 || *s.OneTokenPass.TotalOutputTokens != 4 {
			t.Errorf("output tokens: %d in the step's figures, %d in pass 2, want 16 and 4",
				*result.Figures.TotalOutputTokens, *s.OneTokenPass.TotalOutputTokens)
		}
		if result.Servers[0].Life != "01-a" || s.OneTokenServer[0].Life != "01-a-pass-2" || s.OneTokenClient == nil ||
			s.OneTokenCache == nil {
			t.Errorf("servers %v and %v, client %v, cache %v", result.Servers, s.OneTokenServer, s.OneTokenClient,
				s.OneTokenCache)
		}
		for i, p := range w.asked[1] {
			if first := w.asked[0][i]; !slices.Equal(p.TokenIDs, first.TokenIDs) || p.OutputTokens != 1 ||
				first.OutputTokens != 4 {
				t.Fatalf("prompt %d: %+v in pass 2, %+v in pass 1, want the same with an answer of one token", i, p,
					first)
			}
		}
		for dir, tokens := range map[string]int{"": 4, results.SecondPassName: 1} {
			n := 0
			for rec, err := range store.ReadRecords(filepath.Join(run.Dir, "steps", "a_c1_r1", dir)) {
				if err != nil || *rec.OutputTokens != tokens {
					t.Errorf("record in %q: %v, %v, want %d tokens", dir, rec, err, tokens)
				}
				n++
			}
			if n != 4 {
				t.Errorf("%d records in %q, want 4", n, dir)
			}
		}
	})
}

func TestTwoPassesAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPassWorld(nil)
		gpus := &fakeGPUs{began: time.Now(), period: 100 * time.Millisecond, say: calm}
		w.runner = func(r *Runner) {
			r.Launcher, r.Driver, r.Telemetry = w, w, gpus
			r.Machine.Devices = []device.Device{
				{Index: 0, Vendor: device.AMD, UUID: "GPU-a"},
				{Index: 1, Vendor: device.AMD, UUID: "GPU-b"},
			}
		}
		run, _ := w.world.run(t.Context(), t, sqzbScenario(nil))
		result := run.Steps[0].Result
		for pass, c := range map[string]struct {
			telemetry *results.Telemetry
			lastedS   float64
		}{"": {result.Telemetry, 5}, results.SecondPassName: {result.SQZB.OneTokenTelemetry, 2}} {
			if c.telemetry == nil || len(c.telemetry.GPUs) != 2 {
				t.Fatalf("telemetry of pass %q = %+v, want two GPUs", pass, c.telemetry)
			}
			if energy := c.telemetry.GPUs[0].Pass.EnergyJ; energy == nil || *energy < 139*c.lastedS ||
				*energy > 141*c.lastedS {
				t.Errorf("energy of pass %q = %v J, want 140 W for %g s", pass, energy, c.lastedS)
			}
			readings := 0
			for _, err := range store.ReadTelemetry(filepath.Join(run.Dir, "steps", "a_c1_r1", pass)) {
				if err != nil {
					t.Fatal(err)
				}
				readings++
			}
			if readings < int(20*c.lastedS) {
				t.Errorf("%d readings of pass %q on disk", readings, pass)
			}
		}
	})
}

func TestTwoPassesGoWrong(t *testing.T) {
	exited := results.Failf(results.FailExited, "exit code 1")
	tests := []struct {
		name    string
		world   func(*passWorld)
		change  func(*scenarios.Scenario)
		want    string // verdict
		says    string // of the failure
		story   string
		figures bool   // of pass 1
		undef   string // of the generation
	}{
		{
			name: "the first pass does not start", world: func(w *passWorld) { w.launch = failLaunches(exited, 1) },
			want: "failed server-exited", story: "launch 01-a",
		},
		{
			name: "the first pass fails", world: func(w *passWorld) { w.drive = dieAt(1, exited) },
			want: "failed server-exited", story: "launch 01-a, stop 01-a",
		},
		{
			name: "the second pass does not start", world: func(w *passWorld) { w.launch = failLaunch(exited, 2) },
			want: "failed server-exited", says: "second pass: exit code 1",
			story: "launch 01-a, stop 01-a, launch 01-a-pass-2", figures: true, undef: "second pass: exit code 1",
		},
		{
			name: "the second pass fails", world: func(w *passWorld) { w.drive = dieAt(2, exited) },
			want: "failed server-exited", says: "second pass: ", story: bothPasses, figures: true,
			undef: "second pass: ",
		},
		{
			name: "a failure is tried again as a whole", world: func(w *passWorld) { w.drive = dieAt(2, exited) },
			change: func(sc *scenarios.Scenario) { sc.Retries = 1 },
			want:   "ok", story: bothPasses + ", launch 01-a.2, stop 01-a.2, launch 01-a-pass-2.2, stop 01-a-pass-2.2",
			figures: true,
		},
		{
			name: "other arguments", world: func(w *passWorld) {
				w.server = func(n int, info *results.Server) {
					if n == 2 {
						info.Argv = append(info.Argv, "--enforce-eager")
					}
				}
			},
			want:  "failed passes-differ",
			says:  `command "serve --port 8000 --enforce-eager", in the first pass "serve --port 8000"`,
			story: bothPasses, figures: true, undef: "not of one configuration",
		},
		{
			name: "another model", world: func(w *passWorld) {
				w.server = func(n int, info *results.Server) { info.Model = fmt.Sprintf("m%d", n) }
			},
			want: "failed passes-differ", says: `model "m2", in the first pass "m1"`, story: bothPasses, figures: true,
			undef: "not of one configuration",
		},
		{
			name: "another variable", world: func(w *passWorld) {
				w.server = func(n int, info *results.Server) { info.Env["SWITCH"] = fmt.Sprint(n) }
			},
			want: "failed passes-differ", says: `variable SWITCH "2", in the first pass "1"`, story: bothPasses,
			figures: true, undef: "not of one configuration",
		},
		{
			name: "other prompts", world: func(w *passWorld) {
				w.pass = func(n int, recs []results.Record) {
					if n == 2 {
						recs[0].InputTokens = new(9)
					}
				}
			},
			want: "failed passes-differ", says: "the first pass had 32 input tokens and the second 33",
			story: bothPasses, figures: true, undef: "the first pass had",
		},
		{
			name: "nothing is left for the generation", world: func(w *passWorld) { w.takes[1] = 6 * time.Second },
			want: "ok", story: bothPasses, figures: true, undef: "what is left for the generation is not positive",
		},
		{
			name: "the deadline is that of both", change: func(sc *scenarios.Scenario) {
				sc.StepDeadline = 6 * time.Second
			},
			want: "failed deadline", says: "second pass: the step's deadline of 6s", story: bothPasses, figures: true,
			undef: "deadline",
		},
		{
			name: "the first server is not proven gone", world: func(w *passWorld) {
				w.stopErr = results.Failf(results.FailNoProof, "pid 7 is still there")
			},
			want: "failed not-stopped", says: "pid 7", story: "launch 01-a, stop 01-a", figures: true, undef: "pid 7",
		},
		{
			name: "what is computed differs", world: func(w *passWorld) {
				w.pass = func(n int, recs []results.Record) {
					for i := range recs {
						recs[i].CachedTokens = new(4 * (n - 1))
					}
				}
			},
			want: "suspect", story: bothPasses, figures: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPassWorld(tt.world)
				run, _ := w.run(t.Context(), t, tt.change)
				result := run.Steps[0].Result
				if got := verdicts(run); !slices.Equal(got, []string{"a_c1_r1 " + tt.want}) {
					t.Fatalf("verdicts = %q, want %s (failure %v, warnings %v)", got, tt.want, result.Failure,
						result.Warnings)
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				if result.Failure != nil && !strings.Contains(result.Failure.Message, tt.says) {
					t.Errorf("failure = %v, want one with %q", result.Failure, tt.says)
				}
				if (result.Figures != nil && result.SQZB != nil) != tt.figures {
					t.Fatalf("figures %v, two passes %v; want them: %t", result.Figures, result.SQZB, tt.figures)
				}
				if !tt.figures {
					return
				}
				s := result.SQZB
				if defined := s.GenerationThroughput != nil; defined != (tt.undef == "") ||
					!strings.Contains(s.Undefined, tt.undef) {
					t.Errorf("generation throughput %v, undefined %q, want %q", s.GenerationThroughput,
						s.Undefined, tt.undef)
				}
				if s.E2ELatencyS == nil || *s.E2ELatencyS != 5 {
					t.Errorf("end-to-end latency = %v, want that of pass 1", s.E2ELatencyS)
				}
				if result.Verdict == results.Suspect && !hasWarning(result, results.WarnPrefixCache,
					"the second pass found 50.0 %") {
					t.Errorf("warnings = %v, want one about the prefix cache", result.Warnings)
				}
			})
		})
	}
}

func hasWarning(r *results.Result, code results.WarningCode, says string) bool {
	return slices.ContainsFunc(r.Warnings, func(w results.Warning) bool {
		return w.Code == code && strings.Contains(w.Message, says)
	})
}

// failLaunch fails the n-th launch alone.
func failLaunch(failure *results.Failure, n int) func(int, recipe.Spec) error {
	return func(i int, _ recipe.Spec) error {
		if i == n {
			return failure
		}
		return nil
	}
}

// The second pass is launched on the port of the first, whatever else is free.
func TestSecondPassTakesThePort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ports []int
		w := newPassWorld(func(w *passWorld) {
			w.server = func(_ int, info *results.Server) { info.BaseURL = "http://127.0.0.1:4711" }
			w.launch = func(_ int, spec recipe.Spec) error {
				ports = append(ports, spec.Port)
				return nil
			}
		})
		w.run(t.Context(), t, nil)
		if len(ports) != 2 || ports[1] != 4711 {
			t.Errorf("ports = %v, want the second to be that of the first server, 4711", ports)
		}
	})
}

func TestInterruptBetweenPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newPassWorld(nil)
		w.launch = func(n int, _ recipe.Spec) error {
			if n == 2 {
				why := results.Failf(results.FailInterrupted, "stopped by SIGINT")
				cancel(why)
				return why
			}
			return nil
		}
		two := func(sc *scenarios.Scenario) { sc.Repeats = 2 }
		run, outcome := w.run(ctx, t, two)
		want := []string{"a_c1_r1 failed interrupted", "a_c1_r2 not run interrupted"}
		if got := verdicts(run); !slices.Equal(got, want) || outcome.Failed != 1 || outcome.NotRun != 1 {
			t.Fatalf("verdicts = %q, want %q", got, want)
		}
		first := run.Steps[0].Result
		if first.Figures == nil || first.SQZB == nil || first.SQZB.OneTokenPass != nil ||
			first.SQZB.GenerationLatencyS != nil {
			t.Errorf("figures %v, two passes %+v, want those of the first pass alone", first.Figures, first.SQZB)
		}

		w.story, w.launch = nil, nil
		run, _ = w.resume(t.Context(), t, sqzbScenario(two), run.Dir, nil)
		if got, want := verdicts(run), []string{"a_c1_r1 ok", "a_c1_r2 ok"}; !slices.Equal(got, want) {
			t.Errorf("after the resume: %q, want %q", got, want)
		}
		story := "launch 01-a.2, stop 01-a.2, launch 01-a-pass-2.2, stop 01-a-pass-2.2, launch 02-a, stop 02-a, " +
			"launch 02-a-pass-2, stop 02-a-pass-2"
		if got := strings.Join(w.story, ", "); got != story {
			t.Errorf("story = %s, want %s", got, story)
		}
		again := run.Steps[0].Result
		if again.Step.Attempt != 2 || len(again.Earlier) != 1 || again.Earlier[0].Class != results.FailInterrupted ||
			again.SQZB.GenerationLatencyS == nil {
			t.Errorf("the step that was interrupted: attempt %d after %v, want the second after an interruption",
				again.Step.Attempt, again.Earlier)
		}
		if _, err := os.Stat(filepath.Join(run.Dir, "attempts", "a_c1_r1", "1", "requests.jsonl.zst")); err != nil {
			t.Errorf("records of the first attempt: %v", err)
		}
	})
}

// What ends the run in a second pass is known again: the step is not done.
func TestRunDeadlineInSecondPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPassWorld(nil)
		limited := func(sc *scenarios.Scenario) { sc.RunDeadline = 6 * time.Second }
		run, _ := w.run(t.Context(), t, limited)
		if got := verdicts(run); !slices.Equal(got, []string{"a_c1_r1 failed deadline"}) {
			t.Fatalf("verdicts = %q, want the run's deadline", got)
		}
		run, _ = w.resume(t.Context(), t, sqzbScenario(nil), run.Dir, nil)
		if got := verdicts(run); !slices.Equal(got, []string{"a_c1_r1 ok"}) {
			t.Errorf("after the resume: %q, want ok", got)
		}
	})
}

// A run that was killed in the second pass leaves one beginning of an attempt.
func TestKilledInSecondPass(t *testing.T) {
	events := []results.Event{
		{Kind: results.StepStarted, Step: "a_c1_r1", Attempt: 1},
		{Kind: results.PassStarted, Step: "a_c1_r1", Attempt: 1},
	}
	if got := earlierOf(events); len(got) != 1 || got[0].Class != results.FailInterrupted {
		t.Errorf("earlier attempts = %v, want one that was interrupted", got)
	}
}

func TestPlanOfTwoPasses(t *testing.T) {
	sc := sqzbScenario(func(sc *scenarios.Scenario) { sc.Repeats = 2 })
	p, err := plan.New(sc, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, life := range p.Lives {
		if len(life.Steps) != 1 || life.SecondPass == nil || len(life.SecondPass.Steps) != 0 {
			t.Fatalf("life %+v, want one step and a second pass", life)
		}
		if a, b := life.Servers[0], life.SecondPass.Servers[0]; !slices.Equal(a.Argv, b.Argv) ||
			!maps.Equal(a.Env, b.Env) {
			t.Errorf("servers %v and %v, want the same command", a, b)
		}
		got = append(got, life.ID, life.SecondPass.ID)
	}
	if want := []string{"01-a", "01-a-pass-2", "02-a", "02-a-pass-2"}; !slices.Equal(got, want) {
		t.Errorf("lives = %q, want %q, whatever restart: says", got, want)
	}
	if p.Starts() != 4 || len(p.Refs()) != 2 || p.Method != "sqzb" {
		t.Errorf("%d starts for %d steps of method %q, want 4 for 2", p.Starts(), len(p.Refs()), p.Method)
	}
	serving := *sc
	serving.Method = scenarios.Serving
	once, err := plan.New(&serving, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	if p.EstimateS <= once.EstimateS {
		t.Errorf("estimate %g s, of one pass %g s, want more", p.EstimateS, once.EstimateS)
	}
	stored, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := identity.PlanChanges(stored, p); err != nil || len(changes) != 0 {
		t.Errorf("Changes = %v, %v of the same plan", changes, err)
	}
}

func TestPassesDiffer(t *testing.T) {
	server := func(change func(*results.Server)) []results.Server {
		s := results.Server{
			Launcher: "vllm", Model: "m", Version: "0.10", Argv: []string{
				"docker", "run", "-d", "--name", "bench-r7f3-01-a-0", "--label", "benchrig.cookie=r7f3.1", "-e",
				"BENCH_COOKIE=r7f3.1", "image", "--tp", "8",
			},
			Container: &results.ContainerInfo{Name: "bench-r7f3-01-a-0", Label: "benchrig.cookie=r7f3.1"},
			Env:       map[string]string{"A": "1"}, GPUs: []int{0, 1},
			Startup: &results.Startup{ContextLen: new(int64(2048))},
		}
		if change != nil {
			change(&s)
		}
		return []results.Server{s}
	}
	tests := []struct {
		name   string
		second []results.Server
		want   string
	}{
		{"the same", server(nil), ""},
		{"another life of a container", server(func(s *results.Server) {
			s.Argv = slices.Clone(s.Argv)
			s.Argv[4], s.Argv[6] = "bench-r7f3-01-a-pass-2-0", "benchrig.cookie=r7f3.2"
			s.Argv[8] = "BENCH_COOKIE=r7f3.2"
			s.Container = &results.ContainerInfo{Name: s.Argv[4], Label: s.Argv[6]}
		}), ""},
		{
			"an argument", server(func(s *results.Server) { s.Argv = append(slices.Clone(s.Argv), "-x") }),
			`command "docker run -d --name NAME --label benchrig.cookie=COOKIE -e BENCH_COOKIE=COOKIE image --tp 8 -x", ` +
				`in the first pass "docker run -d --name NAME --label benchrig.cookie=COOKIE -e BENCH_COOKIE=COOKIE image --tp 8"`,
		},
		{
			"a version", server(func(s *results.Server) { s.Version = "0.11" }),
			`engine version "0.11", in the first pass "0.10"`,
		},
		{
			"a variable that is gone", server(func(s *results.Server) { s.Env = nil }),
			`variable A "", in the first pass "1"`,
		},
		{"GPUs", server(func(s *results.Server) { s.GPUs = []int{2, 3} }), `GPUs "[2 3]", in the first pass "[0 1]"`},
		{"what it says of itself", server(func(s *results.Server) {
			s.Startup = &results.Startup{ContextLen: new(int64(4096))}
		}), `context length "4096", in the first pass "2048"`},
		{"a replica less", nil, "0 servers, in the first pass 1"},
	}
	for _, tt := range tests {
		if got := passesDiffer(server(nil), tt.second); got != tt.want {
			t.Errorf("%s: passesDiffer = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestQueueMean(t *testing.T) {
	server := func(seconds, requests float64) results.Server {
		return results.Server{Counters: map[string]float64{
			scrape.QueueSecondsTotal:  seconds,
			scrape.QueueRequestsTotal: requests,
		}}
	}
	tests := []struct {
		name    string
		servers []results.Server
		want    *float64
	}{
		{"one", []results.Server{server(3, 12)}, new(0.25)},
		{"over replicas", []results.Server{server(3, 12), server(1, 4)}, new(0.25)},
		{"one that does not count", []results.Server{server(3, 12), {}}, nil},
		{"no request", []results.Server{server(0, 0)}, nil},
		{"no server", nil, nil},
	}
	for _, tt := range tests {
		if got := queueMean(tt.servers); (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: queueMean = %v, want %v", tt.name, got, tt.want)
		}
	}
}
