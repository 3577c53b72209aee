package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// printed is a line of llama-bench's output.
func printed(prompt, generated int, build string, rate float64) string {
	return fmt.Sprintf(
		`{"build_commit": %q, "build_number": 1, "cpu_info": "c", "gpu_info": "g", "backends": "ROCm", "model_filename": "/m/a.gguf", `+
			`"model_type": "llama 7B Q8_0", "model_size": 7000, "model_n_params": 6000, "n_batch": 2048, "n_ubatch": 512, "n_threads": 8, "n_gpu_layers": 99, `+
			`"flash_attn": 1, "n_prompt": %d, "n_gen": %d, "n_depth": 0, "avg_ts": %g, "stddev_ts": 1.5, "samples_ns": [1000000000, 2000000000]}`+"\n", build, prompt, generated, rate)
}

const bothTests = "load_backend: loaded ROCm backend\n"

// fakePrograms plays a program: what it prints, how long it takes, how it ends.
type fakePrograms struct {
	story  []string
	print  func(n int, spec recipe.Spec) string
	write  string        // into its file; "": nothing
	takes  time.Duration // 0: a minute
	fails  func(n int) *results.Failure
	starts func(n int) error
	stops  error
	n      int
	specs  []recipe.Spec
}

type fakeProgram struct {
	of      *fakePrograms
	info    results.Server
	done    chan struct{}
	failure *results.Failure
	stopped chan struct{}
}

func (p *fakeProgram) Info() results.Server      { return p.info }
func (p *fakeProgram) Done() <-chan struct{}     { return p.done }
func (p *fakeProgram) Failure() *results.Failure { return p.failure }
func (p *fakeProgram) OwnPIDs() []int            { return []int{4711} }
func (p *fakeProgram) Stop(context.Context) (results.Proof, error) {
	close(p.stopped)
	p.of.story = append(p.of.story, "stop "+p.info.Life)
	return results.Proof{PIDsGone: true, PortFree: true}, p.of.stops
}

func (p *fakePrograms) Start(_ context.Context, kind engines.Kind, spec recipe.Spec) (Program, error) {
	p.n++
	n := p.n
	p.story = append(p.story, "start "+spec.Life)
	p.specs = append(p.specs, spec)
	if p.starts != nil {
		if err := p.starts(n); err != nil {
			return nil, err
		}
	}
	command, err := launchers.Plan(kind, spec)
	if err != nil {
		return nil, err
	}
	text := bothTests + printed(512, 0, "abc", 900) + "some noise\n" + printed(0, 128, "abc", 40)
	if p.print != nil {
		text = p.print(n, spec)
	}
	if err := os.WriteFile(spec.LogPath, []byte(text), 0o644); err != nil {
		return nil, err
	}
	if p.write != "" {
		if err := os.WriteFile(spec.OutputPath, []byte(p.write), 0o644); err != nil {
			return nil, err
		}
	}
	prog := &fakeProgram{
		of: p, info: results.Server{Launcher: kind.Name, Life: spec.Life, Argv: command.Argv},
		done: make(chan struct{}), stopped: make(chan struct{}),
	}
	if p.fails != nil {
		prog.failure = p.fails(n)
	}
	takes := p.takes
	if takes == 0 {
		takes = time.Minute
	}
	go func() {
		select {
		case <-time.After(takes):
			close(prog.done)
		case <-prog.stopped:
		}
	}()
	return prog, nil
}

func benchScenario(change func(*scenarios.Scenario)) *scenarios.Scenario {
	variant := func(name string) scenarios.Variant {
		return scenarios.Variant{Name: name, Server: scenarios.Server{
			Launcher: "llamacpp",
			Host:     "127.0.0.1", Replicas: 1,
		}}
	}
	sc := &scenarios.Scenario{
		Name: "t", Dir: "/", Method: results.MethodLlamaBench, Variants: []scenarios.Variant{
			variant("plain"),
			variant("blaslt"),
		}, Points: []scenarios.Load{{Label: "all"}},
		Repeats: 1, Order: scenarios.Interleaved, Restart: scenarios.RestartNever, OnFailure: scenarios.Continue,
		Program: scenarios.ProgramRun{
			Binary: []string{"/bin/llama-bench"}, Models: []string{"/m/a.gguf"}, Repetitions: 2,
			Args: []scenarios.Arg{{Name: "n-prompt", Value: "512"}, {Name: "n-gen", Value: "128"}},
		},
	}
	sc.Variants[1].Server.Env = map[string]scenarios.EnvValue{"ROCBLAS_USE_HIPBLASLT": {Value: "1"}}
	if change != nil {
		change(sc)
	}
	return sc
}

func (p *fakePrograms) run(ctx context.Context, t *testing.T, sc *scenarios.Scenario) (*results.Run, *world) {
	t.Helper()
	w := &world{runner: func(r *Runner) { r.Programs = p }}
	run, _ := w.run(ctx, t, sc)
	return run, w
}

func TestLlamaBench(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePrograms{}
		run, _ := p.run(t.Context(), t, benchScenario(nil))
		if got, want := verdicts(run), []string{"plain_all_r1 ok", "blaslt_all_r1 ok"}; !slices.Equal(got, want) {
			t.Fatalf("verdicts = %q, want %q: %v", got, want, run.Steps[0].Result.Failure)
		}
		if got, want := strings.Join(p.story, ", "),
			"start 01-plain, stop 01-plain, start 02-blaslt, stop 02-blaslt"; got != want {
			t.Errorf("story = %s, want %s", got, want)
		}
		result := run.Steps[0].Result
		var rows []string
		for _, row := range result.LlamaBench {
			rows = append(rows, fmt.Sprintf("%s %s %g sd %g of %v, fa %s, %d B, %s", row.Test, row.Build,
				row.TokensPerS, *row.TokensPerSD, row.SamplesS, row.FlashAttn, row.SizeBytes, row.Model))
		}
		want := []string{
			"pp512 abc (1) 900 sd 1.5 of [1 2], fa 1, 7000 B, llama 7B Q8_0",
			"tg128 abc (1) 40 sd 1.5 of [1 2], fa 1, 7000 B, llama 7B Q8_0",
		}
		if !slices.Equal(rows, want) {
			t.Errorf("rows =\n %s, want\n %s", strings.Join(rows, "\n "), strings.Join(want, "\n "))
		}
		s := result.Servers[0]
		if s.Version != "abc (1)" || s.Model != "a" || s.Life != "01-plain" || s.Launcher != "llama-bench" {
			t.Errorf("server = %+v", s)
		}
		if got, want := strings.Join(s.Argv, " "),
			"/bin/llama-bench -m /m/a.gguf --n-prompt 512 --n-gen 128 -r 2 -o jsonl"; got != want {
			t.Errorf("argv = %s, want %s", got, want)
		}
		if result.Figures != nil || result.Client != nil || result.Asked.NumPrompts != 0 {
			t.Errorf("figures %v, client %v, asked %+v of a step without requests", result.Figures,
				result.Client, result.Asked)
		}
		if p.specs[1].Env["ROCBLAS_USE_HIPBLASLT"] != "1" || p.specs[0].Env["ROCBLAS_USE_HIPBLASLT"] != "" {
			t.Errorf("env = %v and %v, want the switch in the second alone", p.specs[0].Env, p.specs[1].Env)
		}
		tests := 0
		for _, e := range run.Events {
			if e.Kind == results.TestMeasured && e.Step == "plain_all_r1" {
				tests++
			}
		}
		if tests != 2 {
			t.Errorf("the journal has %d tests, want 2", tests)
		}
	})
}

func TestLlamaBenchGoesWrong(t *testing.T) {
	oom := results.Failf(results.FailOutOfMemory, "llama-bench log says out of memory")
	flag := results.Failf(results.FailBadFlag, "--mmp")
	tests := []struct {
		name   string
		p      *fakePrograms
		change func(*scenarios.Scenario)
		want   string // of the first step
		says   string
		rows   int
		story  string // of the first step
	}{
		{
			name: "after a test it has no memory", p: &fakePrograms{
				fails: func(n int) *results.Failure { return first(n, oom) }, print: func(int, recipe.Spec) string {
					return printed(512, 0, "abc", 900) + "error\n"
				},
			},
			want: "failed out-of-memory", rows: 1, story: "start 01-plain, stop 01-plain",
		},
		{
			name: "no program", p: &fakePrograms{starts: func(n int) error {
				if n == 1 {
					return results.Failf(results.FailNotFound, "no such file")
				}
				return nil
			}},
			change: func(sc *scenarios.Scenario) { sc.Retries = 2 },
			want:   "failed binary-not-found", story: "start 01-plain",
		},
		{
			name: "it says nothing and ends well",
			p:    &fakePrograms{print: func(int, recipe.Spec) string { return "usage\n" }},
			want: "failed protocol", says: "gave no result", story: "start 01-plain, stop 01-plain",
		},
		{
			name: "its time is up", p: &fakePrograms{takes: time.Hour}, change: func(sc *scenarios.Scenario) {
				sc.StepDeadline = time.Minute
			},
			want: "failed deadline", rows: 2, story: "start 01-plain, stop 01-plain",
		},
		{
			name: "an exit is tried again", p: &fakePrograms{fails: func(n int) *results.Failure {
				return first(n, results.Failf(results.FailExited, "code 139"))
			}},
			change: func(sc *scenarios.Scenario) { sc.Retries = 1 },
			want:   "ok", rows: 2, story: "start 01-plain, stop 01-plain, start 01-plain.2, stop 01-plain.2",
		},
		{
			name: "a flag that it does not know is not", p: &fakePrograms{fails: func(n int) *results.Failure {
				return first(n, flag)
			}, print: func(n int, _ recipe.Spec) string {
				return map[bool]string{true: "usage", false: printed(512, 0, "abc", 1)}[n == 1]
			}},
			change: func(sc *scenarios.Scenario) { sc.Retries = 1 },
			want:   "failed unsupported-flag", story: "start 01-plain, stop 01-plain",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := benchScenario(tt.change)
				run, _ := tt.p.run(t.Context(), t, sc)
				result := run.Steps[0].Result
				if got := verdicts(run)[0]; got != "plain_all_r1 "+tt.want {
					t.Fatalf("verdict = %s, want %s: %v", got, tt.want, result.Failure)
				}
				if result.Failure != nil && !strings.Contains(result.Failure.Message, tt.says) {
					t.Errorf("failure = %v, want one with %q", result.Failure, tt.says)
				}
				if len(result.LlamaBench) != tt.rows {
					t.Errorf("%d tests, want %d", len(result.LlamaBench), tt.rows)
				}
				if got := strings.Join(p1(tt.p.story), ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				if second := run.Steps[1].Result; second.Verdict == results.NotRun {
					t.Errorf("the other variant was not run: %v", second.Failure)
				}
			})
		})
	}
}

// first is a failure of the first run of the program alone.
func first(n int, f *results.Failure) *results.Failure {
	if n == 1 {
		return f
	}
	return nil
}

// p1 is the story of the first variant.
func p1(story []string) (out []string) {
	for _, s := range story {
		if strings.Contains(s, "01-") {
			out = append(out, s)
		}
	}
	return out
}

func TestLlamaBenchNotProvenGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePrograms{stops: results.Failf(results.FailNoProof, "memory is not free")}
		run, _ := p.run(t.Context(), t, benchScenario(nil))
		if got, want := verdicts(run), []string{
			"plain_all_r1 ok",
			"blaslt_all_r1 not run not-stopped",
		}; !slices.Equal(got, want) {
			t.Errorf("verdicts = %q, want %q", got, want)
		}
	})
}

func TestLlamaBenchInterruptedAndResumed(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("another build %t", other), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				p := &fakePrograms{print: func(int, recipe.Spec) string { return printed(512, 0, "abc", 900) }}
				sc := benchScenario(func(sc *scenarios.Scenario) { sc.Variants = sc.Variants[:1]; sc.Repeats = 2 })
				go func() {
					time.Sleep(90 * time.Second) // in the second run
					cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
				}()
				run, w := p.run(ctx, t, sc)
				if got, want := verdicts(run), []string{
					"plain_all_r1 ok",
					"plain_all_r2 failed interrupted",
				}; !slices.Equal(got, want) {
					t.Fatalf("verdicts = %q, want %q", got, want)
				}
				if rows := run.Steps[1].Result.LlamaBench; len(rows) != 1 {
					t.Errorf("%d tests of the interrupted step, want the one that was measured", len(rows))
				}
				if other {
					p.print = func(int, recipe.Spec) string { return printed(512, 0, "def", 900) }
				}
				run, _ = w.resume(t.Context(), t, sc, run.Dir, nil)
				want := "plain_all_r2 ok"
				if other {
					want = "plain_all_r2 failed changed"
				}
				if got := verdicts(run)[1]; got != want {
					t.Errorf("after the resume: %s, want %s: %v", got, want, run.Steps[1].Result.Failure)
				}
			})
		})
	}
}

func TestLlamaBenchIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &gpuWorld{world: &world{}, gpus: &fakeGPUs{period: time.Second}}
		w.gpus.say = func(_ string, at time.Duration) *results.GPUReading {
			r := calm("", at)
			r.PowerW = new(300.0)
			return r
		}
		p := &fakePrograms{}
		w.gpus.began = time.Now()
		w.runner = func(r *Runner) {
			r.Programs, r.Telemetry = p, w.gpus
			r.Machine.Devices = []device.Device{
				{Index: 0, Vendor: device.AMD, UUID: "GPU-a"},
				{Index: 1, Vendor: device.AMD, UUID: "GPU-b"},
			}
		}
		run, _ := w.world.run(t.Context(), t, benchScenario(func(sc *scenarios.Scenario) {
			sc.Variants = sc.Variants[:1]
		}))
		tel := run.Steps[0].Result.Telemetry
		if tel == nil || len(tel.GPUs) != 2 {
			t.Fatalf("telemetry = %+v, want two GPUs", tel)
		}
		if energy := tel.GPUs[0].Pass.EnergyJ; energy == nil || *energy < 300*59 || *energy > 300*61 {
			t.Errorf("energy = %v J, want about 300 W for the minute that the program ran", energy)
		}
	})
}

func TestLlamaBenchPlan(t *testing.T) {
	sc := benchScenario(func(sc *scenarios.Scenario) {
		sc.Program.Models = []string{"/m/a.gguf", "/m/b.gguf"}
		sc.Variants[0].Server.Args = []scenarios.Arg{
			{Name: "n_prompt", Value: []any{"512", "1024"}},
			{Name: "fa", Value: []any{"0", "1"}},
		}
	})
	p, err := plan.New(sc, plan.Machine{Self: "/bench"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/bin/llama-bench -m /m/a.gguf -m /m/b.gguf --n-gen 128 --n-prompt 512,1024 -fa 0,1 -r 2 -o jsonl",
		"ROCBLAS_USE_HIPBLASLT=1 /bin/llama-bench -m /m/a.gguf -m /m/b.gguf --n-prompt 512 --n-gen 128 -r 2 -o jsonl",
	}
	for i, life := range p.Lives {
		if got := plan.CommandLine(life.Servers[0]); got != want[i] {
			t.Errorf("command = %s, want %s", got, want[i])
		}
		if life.Servers[0].BaseURL != "" || len(life.Steps) != 1 {
			t.Errorf("life = %+v", life)
		}
	}
	// Two models and two values of fa: 4 times (512+1024 prompt tokens at 500/s,
	// 128 at 50/s) three times over, and 10 s to load.
	if got, want := p.Lives[0].Steps[0].EstimateS, 4*(3*(1536.0/500+128.0/50)+10); got < want-0.01 || got > want+0.01 {
		t.Errorf("estimate = %g s, want %g", got, want)
	}
	sim := benchScenario(func(sc *scenarios.Scenario) {
		sc.Program.Binary = []string{scenarios.BenchProgram, engines.SimulateProgram, "llama-bench"}
		sc.Variants[0].Server.Launcher = "simulator"
	})
	p, err = plan.New(sim, plan.Machine{Self: "/usr/bin/bench"})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Lives[0].Servers[0].Argv[:2]; !slices.Equal(got, []string{"/usr/bin/bench", engines.SimulateProgram}) {
		t.Errorf("simulated program = %q, want bench itself", got)
	}
}

// batchedRow is a line of llama-batched-bench.
func batchedRow(pp, tg, pl int) string {
	return fmt.Sprintf(`{"n_kv_max": 512, "pp": %d, "tg": %d, "pl": %d, "t_pp": 1.0, "speed_pp": %d.0, "t_tg": 2.0, `+
		`"speed_tg": %g, "t": 3.0, "speed": 7.5}`+"\n", pp, tg, pl, pp*pl, float64(tg*pl)/2)
}

func numbered(name, text string) scenarios.Arg {
	return scenarios.Arg{Name: name, Value: json.Number(text)}
}

// Programs with figures of their own: what they print and write becomes measures of
// the step, and what is wrong with it a warning.
func TestProgramsOfFigures(t *testing.T) {
	batches := []scenarios.Arg{
		numbered("npp", "128"), numbered("ntg", "32"),
		{Name: "npl", Value: []any{json.Number("1"), json.Number("4")}},
	}
	tests := []struct {
		name, method, launcher string
		args                   []scenarios.Arg
		p                      *fakePrograms
		want                   string // verdict
		figures                string
		warns                  string // part of the only warning; "": none
	}{
		{
			name: "batches", method: results.MethodBatchedBench, launcher: "llamacpp", args: batches,
			p: &fakePrograms{print: func(int, recipe.Spec) string {
				return "build: 12 (abc)\n" + batchedRow(128, 32, 1) + "\n" + batchedRow(128, 32, 4)
			}},
			want: "ok", figures: "pp128_tg32_b1_decode_tokens_per_s 16, pp128_tg32_b4_decode_tokens_per_s 64",
		},
		{
			name: "a batch that the context does not hold", method: results.MethodBatchedBench, launcher: "llamacpp",
			args: batches, p: &fakePrograms{print: func(int, recipe.Spec) string { return batchedRow(128, 32, 1) }},
			want: "ok", figures: "pp128_tg32_b1_decode_tokens_per_s 16",
			warns: "the context of 512 tokens does not hold 1 of 2 tests: raise ctx-size",
		},
		{
			name: "a batch whose row was lost", method: results.MethodBatchedBench, launcher: "llamacpp",
			args: batches, p: &fakePrograms{print: func(int, recipe.Spec) string {
				return strings.Replace(batchedRow(128, 32, 1), "512", "640", 1)
			}},
			want: "ok", figures: "pp128_tg32_b1_decode_tokens_per_s 16",
			warns: "the program ended before it had printed 1 of 2 tests: run it again",
		},
		{
			name: "throughput, of its file and its log", method: results.MethodVllmThroughput, launcher: "vllm",
			p: &fakePrograms{
				print: func(int, recipe.Spec) string {
					return "Throughput: 5.00 requests/s, 2000.00 total tokens/s, 400.00 output tokens/s\n"
				},
				write: `{"elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 40000, ` +
					`"requests_per_second": 5.0, "tokens_per_second": 2000.0}`,
			},
			want: "ok", figures: "tokens_per_s 2000, output_tokens_per_s 400",
		},
		{
			name: "latency", method: results.MethodVllmLatency, launcher: "vllm", p: &fakePrograms{
				print: func(int, recipe.Spec) string { return "Avg latency: 2.0 seconds\n" },
				write: `{"avg_latency": 2.0, "latencies": [1.0, 3.0], "percentiles": {"50": 2.0}}`,
			},
			want: "ok", figures: "batch_latency_s 2, p50_batch_latency_s 2",
		},
		{
			name: "starts, one of which is not a number", method: results.MethodVllmStartup, launcher: "vllm",
			p: &fakePrograms{
				print: func(int, recipe.Spec) string { return "STARTUP TIME\n" },
				write: `{"avg_cold_startup_time": 60.0, "cold_startup_times": [60.0], "avg_warm_startup_time": NaN}`,
			},
			want: "ok", figures: "cold_startup_s 60", warns: "warm startup is not a number",
		},
		{
			name: "it ends well and writes nothing", method: results.MethodVllmLatency, launcher: "vllm",
			p:    &fakePrograms{print: func(int, recipe.Spec) string { return "Avg latency: 2.0 seconds\n" }},
			want: "failed protocol",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run, _ := tt.p.run(t.Context(), t, benchScenario(func(sc *scenarios.Scenario) {
					sc.Method, sc.Variants = scenarios.Method(tt.method), sc.Variants[:1]
					sc.Variants[0].Server.Launcher, sc.Variants[0].Server.Model = tt.launcher, "/m/a"
					sc.Program = scenarios.ProgramRun{Binary: []string{"/bin/program"}, Args: tt.args}
				}))
				result := run.Steps[0].Result
				if got := verdicts(run)[0]; got != "plain_all_r1 "+tt.want {
					t.Fatalf("verdict = %s, want %s: %v, %v", got, tt.want, result.Failure, result.Warnings)
				}
				for figure := range strings.SplitSeq(tt.figures, ", ") {
					name, value, _ := strings.Cut(figure, " ")
					if m := result.Measure(name); name != "" && (m.Value == nil || fmt.Sprint(*m.Value) != value) {
						t.Errorf("%s is %+v, want %s", name, m, value)
					}
				}
				if tt.figures != "" && result.Method() != tt.method {
					t.Errorf("method = %s, want %s", result.Method(), tt.method)
				}
				var warnings []string
				for _, w := range result.Warnings {
					warnings = append(warnings, w.Message)
				}
				all := strings.Join(warnings, "; ")
				if tt.warns == "" && all != "" || !strings.Contains(all, tt.warns) {
					t.Errorf("warnings %q, want %q", all, tt.warns)
				}
				if s := result.Servers; tt.figures != "" && (s[0].Launcher != tt.method || s[0].Model != "/m/a") {
					t.Errorf("server = %+v", s)
				}
			})
		})
	}
}

// Each program has a line with its time, so that a plan of it has an estimate.
func TestProgramPlans(t *testing.T) {
	for _, tt := range []struct {
		method, launcher string
		args             []scenarios.Arg
		want             float64
	}{
		// 128 and 512 prompt tokens at 500/s, 32 tokens at 50/s twice, 10 s to load.
		{results.MethodBatchedBench, "llamacpp", []scenarios.Arg{
			numbered("npp", "128"), numbered("ntg", "32"),
			{Name: "npl", Value: []any{json.Number("1"), json.Number("4")}},
		}, 10 + 128.0/500 + 512.0/500 + 2*32.0/50},
		{results.MethodVllmThroughput, "vllm", []scenarios.Arg{numbered("num-prompts", "100")}, 120 + 100*200/2000.0},
		{results.MethodVllmLatency, "vllm", []scenarios.Arg{numbered("num-iters", "5")}, 120 + 15*128/50.0},
		{results.MethodVllmStartup, "vllm", nil, 7 * 120},
	} {
		sc := benchScenario(func(sc *scenarios.Scenario) {
			sc.Method, sc.Variants = scenarios.Method(tt.method), sc.Variants[:1]
			sc.Variants[0].Server.Launcher, sc.Variants[0].Server.Model = tt.launcher, "/m/a"
			sc.Program = scenarios.ProgramRun{Binary: []string{"/bin/program"}, Args: tt.args}
		})
		p, err := plan.New(sc, plan.Machine{Self: "/bench"})
		if err != nil {
			t.Errorf("%s: %v", tt.method, err)
			continue
		}
		if got := p.Lives[0].Steps[0].EstimateS; got < tt.want-0.01 || got > tt.want+0.01 {
			t.Errorf("%s: estimate = %g s, want %g", tt.method, got, tt.want)
		}
	}
}
