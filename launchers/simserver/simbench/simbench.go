// Package simbench stands in for programs that measure without a server, under --sim.
//
// What goes in: the arguments of a program. What comes out: results as it prints
// them, by the cost model of package simengine, after the time that it would take.
package simbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/launchers/simserver/simengine"
	"github.com/benchrig/bench/metrics"
)

// Settings are the settings of a simulated llama-bench: every combination of
// the lists is one test after the other.
type Settings struct {
	Models      []string
	Prompts     []int
	Generates   []int
	Pairs       []string // "512,128": a prompt and then an answer
	Depths      []int
	FlashAttn   []int
	GPULayers   []int
	Batch       int
	Threads     int
	Repetitions int
	Output      string // "md", "json", "jsonl"
	Device      string
	Speed       float64
	Prefill     float64 // factor of the arithmetic of prefill
	LifeNoise   float64 // relative standard deviation between runs of the program
}

// parseArgs reads the arguments of llama-bench, and from the environment what
// makes its prefill faster.
func parseArgs(args []string, lookup func(string) (string, bool)) (Settings, error) {
	var b Settings
	fs := pflag.NewFlagSet("simulate-llama-bench", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	registerFlags(fs, &b)
	if err := fs.Parse(longFlags(args)); err != nil {
		return b, err
	}

	const faster = 1.1
	if v, _ := lookup("ROCBLAS_USE_HIPBLASLT"); v == "1" && !fs.Changed("sim-prefill") {
		b.Prefill = faster
	}
	return b, nil
}

// registerFlags registers the flags that llama-bench and the simulator share;
// others of llama-bench are accepted without effect.
func registerFlags(fs *pflag.FlagSet, b *Settings) {
	fs.StringSliceVarP(&b.Models, "model", "m", nil, "model file, of which only the name counts (repeatable)")
	fs.IntSliceVarP(&b.Prompts, "n-prompt", "p", []int{512}, "tokens of a prompt; 0 tests none")
	fs.IntSliceVarP(&b.Generates, "n-gen", "n", []int{128}, "tokens generated; 0 tests none")
	fs.StringArrayVar(&b.Pairs, "pg", nil, "PROMPT,GENERATED: both in one test (repeatable)")
	fs.IntSliceVarP(&b.Depths, "n-depth", "d", []int{0}, "tokens in the context before")
	fs.IntSliceVar(&b.FlashAttn, "flash-attn", []int{0}, "0 or 1")
	fs.IntSliceVar(&b.GPULayers, "n-gpu-layers", []int{99}, "layers on the GPU; no effect")
	fs.IntVarP(&b.Batch, "batch-size", "b", 2048, "tokens a step")
	fs.IntVarP(&b.Threads, "threads", "t", 1, "threads; no effect")
	fs.IntVarP(&b.Repetitions, "repetitions", "r", 5, "of each test")
	fs.StringVarP(&b.Output, "output", "o", "md", "md, json or jsonl")
	fs.StringVar(&b.Device, "sim-device", simengine.DefaultDevice,
		"device to simulate: "+strings.Join(simengine.Devices(), ", "))
	fs.Float64Var(&b.Speed, "sim-speed", 1, "how many times faster than the modelled program it runs; its figures "+
		"stay the same")
	fs.Float64Var(&b.Prefill, "sim-prefill", 1, "how many times as fast as the model says prefill is")
	fs.Float64Var(&b.LifeNoise, "sim-life-noise", 0.006, "relative standard deviation between runs of the program")
	fs.ParseErrorsAllowlist = pflag.ParseErrorsAllowlist{UnknownFlags: true}
}

// longFlags turns llama.cpp's short forms of several letters, which pflag cannot know,
// into long ones.
func longFlags(args []string) []string {
	long := map[string]string{
		"-fa": "--flash-attn", "-ngl": "--n-gpu-layers", "-pg": "--pg",
		"-npp": "--npp", "-ntg": "--ntg", "-npl": "--npl", "-pps": "--pps",
	}
	out := make([]string, 0, len(args))
	for _, a := range args {
		if l, ok := long[a]; ok {
			a = l
		}
		out = append(out, a)
	}
	return out
}

// test is one line of the output to be.
type test struct {
	model                string
	prompt, gen, depth   int
	flashAttn, gpuLayers int
}

// Run plays every test, Speed times as fast as it would take, and prints the
// results to out: those of the program played, whatever Speed is.
func (b Settings) Run(ctx context.Context, out io.Writer) error {
	tests, err := b.tests()
	if err != nil {
		return err
	}

	life := simengine.NoiseFactor(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), b.LifeNoise)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	printed := printer{form: b.Output, out: out}
	for _, t := range tests {
		seconds, cfg, err := b.seconds(t)
		if err != nil {
			return err
		}
		row := newResult(t, b, cfg)
		noise := rand.New(rand.NewPCG(rand.Uint64(), 3))
		for range b.Repetitions {
			took := seconds / life * simengine.NoiseFactor(noise, 0.004)
			if !simengine.WaitUntil(ctx, timer, time.Now().Add(time.Duration(took/b.Speed*float64(time.Second)))) {
				return ctx.Err()
			}
			row.add(took, t.prompt+t.gen)
		}
		if err := printed.row(row); err != nil {
			return fmt.Errorf("print result: %w", err)
		}
	}

	return printed.end()
}

// tests are all combinations, in llama-bench's order: the model varies
// slowest; of each, prompts, then answers, then pairs.
func (b Settings) tests() ([]test, error) {
	if len(b.Models) == 0 || b.Repetitions < 1 || !(b.Speed > 0) || !(b.Prefill > 0) {
		return nil, fmt.Errorf("check settings: models %v, repetitions %d, sim-speed %v and sim-prefill %v: want a "+
			"model, and numbers above 0",
			b.Models, b.Repetitions, b.Speed, b.Prefill)
	}

	if !slices.Contains([]string{"md", "json", "jsonl"}, b.Output) {
		return nil, fmt.Errorf("check --output: unknown format %q: want md, json or jsonl", b.Output)
	}

	sizes, err := b.sizes()
	if err != nil {
		return nil, err
	}

	var out []test
	for _, m := range b.Models {
		for _, ngl := range b.GPULayers {
			for _, fa := range b.FlashAttn {
				for _, d := range b.Depths {
					for _, s := range sizes {
						out = append(out, test{
							model: m, prompt: s[0], gen: s[1], depth: d, flashAttn: fa,
							gpuLayers: ngl,
						})
					}
				}
			}
		}
	}

	return out, nil
}

func (b Settings) sizes() (sizes [][2]int, err error) {
	for _, p := range b.Prompts {
		sizes = append(sizes, [2]int{p, 0})
	}

	for _, n := range b.Generates {
		sizes = append(sizes, [2]int{0, n})
	}

	for _, pair := range b.Pairs {
		p, n, _ := strings.Cut(pair, ",")
		prompt, e1 := strconv.Atoi(p)
		gen, e2 := strconv.Atoi(n)
		if e1 != nil || e2 != nil || prompt < 1 || gen < 1 {
			return nil, fmt.Errorf("check --pg: %q is not PROMPT,GENERATED", pair)
		}
		sizes = append(sizes, [2]int{prompt, gen})
	}

	sizes = slices.DeleteFunc(sizes, func(s [2]int) bool { return s[0] <= 0 && s[1] <= 0 })
	return sizes, nil
}

// seconds is the time of one test by the cost model of a server with one slot.
func (b Settings) seconds(t test) (float64, simengine.Settings, error) {
	cfg, err := simengine.Config{
		Persona: simengine.PersonaLlamaCpp, Model: t.model, Device: b.Device, MaxNumSeqs: 1, Prefill: b.Prefill,
		MaxModelLen: t.depth + t.prompt + t.gen +
			1, MaxNumBatchedTokens: max(1, b.Batch), KVBlocks: (t.depth+t.prompt+t.gen)/simengine.DefaultBlockSize + 2,
	}.Resolve()
	if err != nil {
		return 0, cfg, err
	}

	costs := simengine.NewCosts(cfg)
	seconds, done := 0.0, t.depth
	for left := t.prompt; left > 0; {
		n := min(left, cfg.MaxNumBatchedTokens)
		done += n
		left -= n
		seconds += costs.Step(simengine.Work{
			Tokens: n, Seqs: 1, Context: float64(done),
			Attention: float64(done) * float64(n),
		})
	}

	for range t.gen {
		done++
		seconds += costs.Step(simengine.Work{Tokens: 1, Seqs: 1, Context: float64(done), Attention: float64(done)})
	}

	return seconds, cfg, nil
}

// result is one result as llama-bench prints it.
type result struct {
	Commit     string    `json:"build_commit"`
	Number     int       `json:"build_number"`
	CPU        string    `json:"cpu_info"`
	GPU        string    `json:"gpu_info"`
	Backends   string    `json:"backends"`
	File       string    `json:"model_filename"`
	Type       string    `json:"model_type"`
	Size       int64     `json:"model_size"`
	Parameters int64     `json:"model_n_params"`
	Batch      int       `json:"n_batch"`
	MicroBatch int       `json:"n_ubatch"`
	Threads    int       `json:"n_threads"`
	GPULayers  int       `json:"n_gpu_layers"`
	FlashAttn  bool      `json:"flash_attn"`
	Prompt     int       `json:"n_prompt"`
	Generated  int       `json:"n_gen"`
	Depth      int       `json:"n_depth"`
	TestTime   string    `json:"test_time"`
	MeanNS     int64     `json:"avg_ns"`
	DeviNS     int64     `json:"stddev_ns"`
	Rate       float64   `json:"avg_ts"`
	RateDev    float64   `json:"stddev_ts"`
	SamplesNS  []int64   `json:"samples_ns"`
	SamplesTS  []float64 `json:"samples_ts"`
}

func newResult(t test, b Settings, cfg simengine.Settings) *result {
	form := simengine.FormatNamed(simengine.QuantizationOf("", path.Base(t.model))).Name
	if form == simengine.SixteenBit {
		form = "f16"
	}
	return &result{
		Commit: "simulator", Number: 1, CPU: "simulated", GPU: "simulated " + cfg.Hardware.Name, Backends: "simulated",
		File: t.model, Type: strings.ReplaceAll(cfg.Network.Name, "-", " ") + " " +
			strings.ToUpper(form), Size: int64(cfg.Network.WeightBytes(cfg.Quantization)),
		Parameters: int64(cfg.Network.Billions * 1e9), Batch: b.Batch, MicroBatch: 512, Threads: b.Threads,
		GPULayers: t.gpuLayers, FlashAttn: t.flashAttn > 0,
		Prompt: t.prompt, Generated: t.gen, Depth: t.depth, TestTime: time.Now().UTC().Format(time.RFC3339),
	}
}

func (r *result) add(seconds float64, tokens int) {
	r.SamplesNS = append(r.SamplesNS, int64(seconds*1e9))
	r.SamplesTS = append(r.SamplesTS, float64(tokens)/seconds)
}

// deviation is the sample deviation; 0 of one value, as llama-bench writes it.
func deviation(values []float64) float64 {
	if sd := metrics.SampleStd(values); sd != nil {
		return *sd
	}
	return 0
}

// printer writes rows in one of llama-bench's forms.
type printer struct {
	form string
	out  io.Writer
	rows []*result
}

func (p *printer) row(r *result) error {
	r.Rate, r.RateDev = metrics.Mean(r.SamplesTS), deviation(r.SamplesTS)
	var ns []float64
	for _, v := range r.SamplesNS {
		ns = append(ns, float64(v))
	}

	r.MeanNS, r.DeviNS = int64(metrics.Mean(ns)), int64(deviation(ns))
	p.rows = append(p.rows, r)
	switch p.form {
	case "jsonl":
		return json.NewEncoder(p.out).Encode(r)
	case "md":
		return p.markdown(r)
	}

	return nil
}

func (p *printer) markdown(r *result) error {
	if len(p.rows) == 1 {
		_, err := fmt.Fprint(p.out, "| model | size | params | backend | ngl | fa | test | t/s |\n| --- | ---: | "+
			"---: | --- | --: | -: | ---: | ---: |\n")
		if err != nil {
			return err
		}
	}

	var parts []string
	if r.Prompt > 0 {
		parts = append(parts, fmt.Sprintf("pp%d", r.Prompt))
	}
	if r.Generated > 0 {
		parts = append(parts, fmt.Sprintf("tg%d", r.Generated))
	}

	test := strings.Join(parts, "+")
	if r.Depth > 0 {
		test += fmt.Sprintf(" @ d%d", r.Depth)
	}

	flash := 0
	if r.FlashAttn {
		flash = 1
	}

	_, err := fmt.Fprintf(p.out, "| %s | %.2f GiB | %.2f B | %s | %d | %d | %s | %.2f ± %.2f |\n",
		r.Type, float64(r.Size)/simengine.Gib, float64(r.Parameters)/1e9, r.Backends, r.GPULayers, flash, test, r.Rate,
		r.RateDev)
	return err
}

func (p *printer) end() error {
	switch p.form {
	case "json":
		enc := json.NewEncoder(p.out)
		enc.SetIndent("", "  ")
		return enc.Encode(p.rows)
	case "md":
		_, err := fmt.Fprint(p.out, "\nbuild: simulator (1)\n")
		return err
	}
	return nil
}
