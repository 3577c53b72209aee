package simbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/launchers/simserver/simengine"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Run plays a program that measures an engine without a server: it takes its
// arguments, and prints or writes what it might. An error of the arguments is an
// ArgumentError.
func Run(ctx context.Context, name string, args []string, lookup func(string) (string, bool),
	out io.Writer,
) error {
	if name == results.MethodLlamaBench {
		b, err := parseArgs(args, lookup)
		if err != nil {
			return ArgumentError{err}
		}
		return b.Run(ctx, out)
	}

	p := program{out: out, noise: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	play := map[string]func(context.Context) error{
		results.MethodBatchedBench: p.batched, results.MethodVllmThroughput: p.throughput,
		results.MethodVllmLatency: p.latency, results.MethodVllmStartup: p.startup,
	}[name]
	if play == nil {
		return ArgumentError{fmt.Errorf("unknown program %q", name)}
	}
	if err := p.parse(args); err != nil {
		return ArgumentError{err}
	}
	p.life = simengine.NoiseFactor(p.noise, p.LifeNoise)
	return play(ctx)
}

// ArgumentError is an error of a program's arguments.
type ArgumentError struct{ error }

// program are the arguments of a played program, and what it draws.
type program struct {
	simengine.Config
	prompts, answers, batches []int // of llama-batched-bench
	shared                    bool
	context                   int
	input, output, batch      int // tokens, requests at once
	requests                  int
	iterations, cold, warm    int
	file                      string

	out   io.Writer
	noise *rand.Rand
	life  float64 // how many times as fast this run of the program is
}

// parse reads the arguments that the programs and the simulator share; others of
// the programs are accepted without effect.
func (p *program) parse(args []string) error {
	fs := pflag.NewFlagSet("simulate-program", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVarP(&p.Model, "model", "m", "", "model, of which only the name counts")
	fs.IntSliceVar(&p.prompts, "npp", nil, "tokens of prompts")
	fs.IntSliceVar(&p.answers, "ntg", nil, "tokens generated")
	fs.IntSliceVar(&p.batches, "npl", nil, "sequences at once")
	fs.BoolVar(&p.shared, "pps", false, "one prompt for all sequences")
	fs.IntVarP(&p.context, "ctx-size", "c", 4096, "tokens that the context holds")
	fs.IntVar(&p.input, "input-len", 32, "tokens of a prompt")
	fs.IntVar(&p.output, "output-len", 128, "tokens of an answer")
	fs.IntVar(&p.batch, "batch-size", 8, "requests in a batch")
	fs.IntVar(&p.requests, "num-prompts", 1000, "requests")
	fs.IntVar(&p.iterations, "num-iters", 30, "batches")
	fs.IntVar(&p.cold, "num-iters-cold", 3, "cold starts")
	fs.IntVar(&p.warm, "num-iters-warm", 3, "warm starts")
	fs.StringVar(&p.file, "output-json", "", "file for the figures")
	fs.IntVar(&p.MaxNumSeqs, "max-num-seqs", simengine.DefaultMaxNumSeqs, "sequences at once")
	fs.IntVar(&p.MaxNumBatchedTokens, "max-num-batched-tokens", simengine.DefaultBatchedTokens, "tokens a step")
	fs.IntVar(&p.TensorParallelSize, "tensor-parallel-size", 1, "GPUs of a layer")
	fs.DurationVar(&p.LoadTime, "sim-load-time", 20*time.Second, "of a cold start")
	fs.StringVar(&p.Device, "sim-device", simengine.DefaultDevice, "device to simulate")
	fs.Float64Var(&p.Speed, "sim-speed", 1, "how many times faster it runs; its figures stay the same")
	fs.Float64Var(&p.LifeNoise, "sim-life-noise", 0.006, "relative standard deviation between runs of the program")
	fs.ParseErrorsAllowlist = pflag.ParseErrorsAllowlist{UnknownFlags: true}
	if err := fs.Parse(longFlags(args)); err != nil {
		return err
	}

	least := slices.Concat(p.prompts, p.answers, p.batches, []int{p.input, p.output, p.batch, p.requests, p.iterations})
	if p.Model == "" || !(p.Speed > 0) || slices.Min(least) < 1 || p.cold < 1 || p.warm < 1 {
		return fmt.Errorf("check arguments: want a model, and numbers above 0")
	}
	return nil
}

// costs are those of an engine whose cache holds tokens of context.
func (p *program) costs(persona string, tokens int) (steps, error) {
	cfg := p.Config
	cfg.Persona, cfg.MaxModelLen = persona, tokens+1
	cfg.KVBlocks = max(1, cfg.MaxNumSeqs) * (tokens/simengine.DefaultBlockSize + 2)
	settings, err := cfg.Resolve()
	if err != nil {
		return nil, ArgumentError{err}
	}
	return simengine.NewCosts(settings), nil
}

// steps say how long a step of the engine takes.
type steps interface {
	Step(w simengine.Work) float64
}

// prefillSeconds is the time of prompts, one after the other, in steps of so many tokens.
func prefillSeconds(costs steps, prompts, tokens, step int) float64 {
	seconds := 0.0
	for left := prompts * tokens; left > 0; left -= step {
		n := float64(min(left, step))
		seqs := max(1, min(left, step)/tokens)
		seconds += costs.Step(simengine.Work{
			Tokens: int(n), Seqs: seqs, Context: n, Attention: n * float64(tokens) / 2,
		})
	}
	return seconds
}

// decodeSeconds is the time of answers behind prompts of so many tokens.
func decodeSeconds(costs steps, seqs, prompt, answer int) float64 {
	seconds := 0.0
	for i := range answer {
		all := float64(seqs * (prompt + i + 1))
		seconds += costs.Step(simengine.Work{Tokens: seqs, Seqs: seqs, Context: all, Attention: all})
	}
	return seconds
}

// pass lets modelled seconds pass, and returns how long they were in this run.
func (p *program) pass(ctx context.Context, seconds float64) (float64, error) {
	seconds *= simengine.NoiseFactor(p.noise, 0.004) / p.life
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	if !simengine.WaitUntil(ctx, timer, time.Now().Add(time.Duration(seconds/p.Speed*float64(time.Second)))) {
		return 0, ctx.Err()
	}
	return seconds, nil
}

// batched plays llama-batched-bench, which leaves out what its context does not
// hold.
func (p *program) batched(ctx context.Context) error {
	if p.prompts == nil || p.answers == nil || p.batches == nil {
		return nil // so does the program
	}
	p.MaxNumSeqs = slices.Max(p.batches)
	costs, err := p.costs(simengine.PersonaLlamaCpp, slices.Max(p.prompts)+slices.Max(p.answers))
	if err != nil {
		return err
	}

	for _, pp := range p.prompts {
		for _, tg := range p.answers {
			for _, pl := range p.batches {
				prompts := pl
				if p.shared {
					prompts = 1
				}
				if held := prompts*pp + pl*tg; held <= p.context {
					if err := p.batchedTest(ctx, costs, pp, tg, pl, prompts, held); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (p *program) batchedTest(ctx context.Context, costs steps, pp, tg, pl, prompts, held int) error {
	const batch, micro = 2048, 512

	first, err := p.pass(ctx, prefillSeconds(costs, prompts, pp, micro))
	if err != nil {
		return err
	}
	second, err := p.pass(ctx, decodeSeconds(costs, pl, pp, tg))
	if err != nil {
		return err
	}

	shared := 0
	if p.shared {
		shared = 1
	}

	_, err = fmt.Fprintf(p.out, `{"n_kv_max": %d, "n_batch": %d, "n_ubatch": %d, "flash_attn": -1, `+
		`"is_pp_shared": %d, "n_gpu_layers": 99, "n_threads": 1, "n_threads_batch": 1, `+
		`"pp": %d, "tg": %d, "pl": %d, "n_kv": %d, `+
		`"t_pp": %f, "speed_pp": %f, "t_tg": %f, "speed_tg": %f, "t": %f, "speed": %f}`+"\n",
		p.context, batch, micro, shared, pp, tg, pl, held,
		first, float64(prompts*pp)/first, second, float64(pl*tg)/second, first+second, float64(held)/(first+second))
	return err
}

// batchOf is the modelled time of so many requests of vLLM at once.
func (p *program) batchOf(costs steps, requests int) float64 {
	return prefillSeconds(costs, requests, p.input, p.MaxNumBatchedTokens) +
		decodeSeconds(costs, requests, p.input, p.output)
}

// throughput plays vllm bench throughput: requests as many at once as the engine
// takes.
func (p *program) throughput(ctx context.Context) error {
	costs, err := p.costs(simengine.PersonaVLLM, p.input+p.output)
	if err != nil {
		return err
	}
	seconds := 0.0
	for left := p.requests; left > 0; left -= p.MaxNumSeqs {
		seconds += p.batchOf(costs, min(left, p.MaxNumSeqs))
	}
	took, err := p.pass(ctx, seconds)
	if err != nil {
		return err
	}

	n, out := float64(p.requests), float64(p.requests*p.output)
	all := n*float64(p.input) + out
	fmt.Fprintf(p.out, "Throughput: %.2f requests/s, %.2f total tokens/s, %.2f output tokens/s\n", n/took, all/took,
		out/took)
	return p.write(map[string]any{
		"elapsed_time": took, "num_requests": n, "total_num_tokens": all, "requests_per_second": n / took,
		"tokens_per_second": all / took,
	})
}

// latency plays vllm bench latency: one batch after the other.
func (p *program) latency(ctx context.Context) error {
	costs, err := p.costs(simengine.PersonaVLLM, p.input+p.output)
	if err != nil {
		return err
	}
	samples, err := p.samples(ctx, p.iterations, p.batchOf(costs, p.batch))
	if err != nil {
		return err
	}
	mean := metrics.Mean(samples)
	fmt.Fprintf(p.out, "Avg latency: %v seconds\n", mean)
	return p.write(map[string]any{
		"avg_latency": mean, "std_latency": deviation(samples), "latencies": samples,
		"percentiles": percentilesOf(samples),
	})
}

// startup plays vllm bench startup: a warm start compiles nothing.
func (p *program) startup(ctx context.Context) error {
	const compiling = 0.5 // of a cold start
	load := p.LoadTime.Seconds()
	figures := map[string]any{}

	for _, state := range []struct {
		name    string
		n       int
		compile float64
	}{{"cold", p.cold, compiling * load}, {"warm", p.warm, compiling * load / 10}} {
		starts, err := p.samples(ctx, state.n, (1-compiling)*load+state.compile)
		if err != nil {
			return err
		}

		compiled := slices.Repeat([]float64{state.compile}, state.n)
		for what, samples := range map[string][]float64{"startup": starts, "compilation": compiled} {
			key := state.name + "_" + what
			figures["avg_"+key+"_time"], figures[key+"_times"] = metrics.Mean(samples), samples
			figures[key+"_percentiles"] = percentilesOf(samples)
		}
	}

	return p.write(figures)
}

// samples lets the same modelled time pass n times.
func (p *program) samples(ctx context.Context, n int, seconds float64) ([]float64, error) {
	samples := make([]float64, n)
	for i := range samples {
		took, err := p.pass(ctx, seconds)
		if err != nil {
			return nil, err
		}
		samples[i] = took
	}
	return samples, nil
}

// percentilesOf are those that vLLM's programs write.
func percentilesOf(samples []float64) map[string]float64 {
	sorted := slices.Sorted(slices.Values(samples))
	out := map[string]float64{}
	for _, p := range []int{10, 25, 50, 75, 90, 99} {
		out[fmt.Sprint(p)] = metrics.Percentile(sorted, float64(p))
	}
	return out
}

func (p *program) write(figures map[string]any) error {
	text, err := json.MarshalIndent(figures, "", "    ")
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	if file := p.file; file != "" {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return fmt.Errorf("write figures: %w", err)
		}
	}
	return nil
}
