// Package simflags reads the command line of the simulator.
//
// What goes in: flags as vLLM spells them, and the simulator's own. What comes out:
// a configuration of package simengine.
package simflags

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// Defaults that only the command line has; a zero Config has none of these.
const (
	flagNoise    = 0.02
	flagLoadTime = 2 * time.Second
	flagTruth    = 256
)

// Register adds all settings, engine flags spelled as vLLM spells them and
// the simulator's own with the prefix sim-. Underscores in names are taken for
// dashes. Parsing writes to c, which gets the command line's defaults now.
func Register(fs *pflag.FlagSet, c *simengine.Config) {
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	c.AnyPort = true
	serverFlags(fs, c)
	engineFlags(fs, c)
	speculationFlags(fs, c)
	simulatorFlags(fs, c)
	ignoredFlags(fs)
}

func serverFlags(fs *pflag.FlagSet, c *simengine.Config) {
	fs.StringVar(&c.Host, "host", simengine.DefaultHost, "address to listen on")
	fs.IntVar(&c.Port, "port", simengine.DefaultPort, "port to listen on; 0 takes any free one")
	fs.StringVar(&c.Model, "model", simengine.DefaultModel,
		"name of the model to simulate; its size is read from the name")
	fs.Var((*nameList)(&c.ServedModelNames), "served-model-name", "name in answers and in the model list (repeatable)")
	fs.Var((*adapterList)(&c.Adapters), "lora-modules",
		"LoRA adapters to serve as models of their own, `NAME=PATH` (repeatable)")
	fs.StringVar(&c.APIKey, "api-key", "", "key that requests must carry")
	fs.Var(seconds{&c.ShutdownTimeout}, "shutdown-timeout",
		"limit for requests in flight after SIGTERM, seconds or a duration")
	fs.Lookup("shutdown-timeout").DefValue = simengine.DefaultShutdownTimeout.String()
	fs.BoolVar(&c.DisableLogStats, "disable-log-stats", false, "no statistics lines in the log")
	fs.StringVar(&c.RootPath, "root-path", "", "path beneath which the same is served as well, as behind a proxy")
	toggle(fs, "prompt-tokens-details", &c.HidePromptDetails, "cached tokens in usage")
}

func engineFlags(fs *pflag.FlagSet, c *simengine.Config) {
	fs.IntVar(&c.TensorParallelSize, "tensor-parallel-size", 1, "devices that share each layer")
	fs.IntVar(&c.PipelineParallelSize, "pipeline-parallel-size", 1, "pipeline stages")

	fs.IntVar(&c.MaxModelLen, "max-model-len", 0,
		"context length in tokens (default 32768, or what the KV cache holds)")
	fs.IntVar(&c.MaxNumSeqs, "max-num-seqs", 0, "sequences in a step (default 256; with --sim-persona llamacpp 4)")
	fs.IntVar(&c.MaxNumSeqs, "parallel", 0, "with --sim-persona llamacpp: slots, the same as --max-num-seqs")
	fs.IntVar(&c.CtxSize, "ctx-size", 0, "with --sim-persona llamacpp: context that the slots share, in equal parts "+
		"without --kv-unified")
	fs.BoolVar(&c.KVUnified, "kv-unified", false, "with --sim-persona llamacpp: one slot may use all of --ctx-size")
	fs.StringVar(&c.Projector, "mmproj", "", "with --sim-persona llamacpp: takes images")

	fs.IntVar(&c.MaxNumBatchedTokens, "max-num-batched-tokens", simengine.DefaultBatchedTokens, "tokens in a step")
	fs.IntVar(&c.BlockSize, "block-size", simengine.DefaultBlockSize, "tokens in a KV block")
	fs.Float64Var(&c.GPUMemoryUtilization, "gpu-memory-utilization", simengine.DefaultUtilization,
		"share of device memory to use")

	fs.StringVar(&c.Quantization, "quantization", "",
		"fp8, awq, gptq, w8a8, q4_k_m, ...: smaller weights (default by the model's name)")
	fs.StringVar(&c.KVCacheDtype, "kv-cache-dtype", "auto", "fp8: half the KV cache a token")
	fs.IntVar(&c.NumSchedulerSteps, "num-scheduler-steps", 1, "steps that share one scheduling overhead")
	fs.BoolVar(&c.EnforceEager, "enforce-eager", false, "no graphs: more overhead a step")
	fs.StringVar(&c.SchedulingPolicy, "scheduling-policy", "", "fcfs (the default): requests are admitted as they "+
		"arrive; priority: by the priority in their bodies, the lowest first")
	fs.Int64Var(&c.Seed, "seed", 0, "seed of answers, lengths, acceptance and noise")

	toggle(fs, "prefix-caching", &c.DisablePrefixCaching, "reuse of KV blocks between requests")
	toggle(fs, "chunked-prefill", &c.DisableChunkedPrefill, "long prompts in several steps, beside decoding")
}

func speculationFlags(fs *pflag.FlagSet, c *simengine.Config) {
	s := &c.Speculation
	fs.Var(specConfig{s}, "speculative-config", "speculative decoding as JSON: model, method, num_speculative_tokens")
	fs.Var(specModel{s}, "speculative-model", "draft model, or [ngram]; as engines before V1 had it, with their log "+
		"lines")
	fs.IntVar(&s.Tokens, "num-speculative-tokens", 0, "tokens drafted a step")
	fs.IntVar(&s.DraftTP, "speculative-draft-tensor-parallel-size", 0,
		"tensor-parallel size of the draft (default: the target's)")
	fs.Float64SliceVar(&s.Acceptance, "sim-acceptance", nil,
		"acceptance by position, given that all before were accepted; the last value repeats (default by the models' "+
			"sizes)")
}

func simulatorFlags(fs *pflag.FlagSet, c *simengine.Config) {
	fs.StringVar(&c.Persona, "sim-persona", simengine.PersonaVLLM, "whose dialect to speak: vllm or llamacpp")
	fs.StringVar(&c.Device, "sim-device", simengine.DefaultDevice,
		"device to simulate: "+strings.Join(simengine.Devices(), ", "))
	fs.StringVar(&c.ModelPreset, "sim-model", "",
		"shape of the model: "+strings.Join(simengine.ModelPresets(), ", ")+" (default by the model's name)")

	fs.IntVar(&c.KVBlocks, "sim-kv-blocks", 0, "KV blocks in all (default: what device memory leaves)")
	fs.Float64Var(&c.Speed, "sim-speed", 1, "how many times faster than the modelled engine")
	fs.Float64Var(&c.Noise, "sim-noise", flagNoise, "relative standard deviation of a step's time")
	fs.Float64Var(&c.LifeNoise, "sim-life-noise", 0, "relative standard deviation of server speed per start")
	fs.Float64Var(&c.Decode, "sim-decode", 1, "speed of everything but the arithmetic of prefill, "+
		"relative to the model of the device")
	fs.Float64Var(&c.Prefill, "sim-prefill", 1, "speed of the arithmetic of prefill, "+
		"relative to the model of the device")

	fs.DurationVar(&c.LoadTime, "sim-load-time", flagLoadTime, "time to load, before --sim-speed")
	fs.DurationVar(&c.StatsInterval, "sim-stats-interval", simengine.DefaultStatsInterval,
		"interval of the statistics lines")
	fs.IntVar(&c.VocabSize, "sim-vocab-size", simengine.DefaultVocabSize, "token ids in prompts must be below")
	fs.Float64Var(&c.ToolCalls, "sim-tool-calls", 1, "share of chat requests with tools that are answered by a call")
	fs.Float64Var(&c.BadToolCalls, "sim-bad-tool-calls", 0,
		"share of chat requests with tools whose call, if there is one, is wrong")
	fs.IntVar(&c.Truth, "sim-truth", flagTruth, "requests kept for GET /sim/truth")

	fs.StringVar(&c.FaultText, "sim-fault-text", "", "what the log says where a crash fault strikes")
	fs.Var((*faultList)(&c.Faults), "sim-fault",
		"what goes wrong (repeatable): crash@n, exit0@n, hang@n, stall@n, error@n, truncate@n, "+
			"refuse@n[:status], slow-start@duration, oom, wrong-model, ignore-term, no-tokens, "+
			"wrong-answers@in-flight, cached-answers")
}

// ignoredFlags are vLLM's flags that recipes carry and that change nothing
// here.
func ignoredFlags(fs *pflag.FlagSet) {
	for _, name := range []string{
		"dtype", "tokenizer", "tokenizer-mode", "swap-space", "cpu-offload-gb", "revision", "load-format",
		"download-dir", "max-seq-len-to-capture", "distributed-executor-backend", "uvicorn-log-level", "chat-template",
		"generation-config", "compilation-config",
		"scheduler-delay-factor", "preemption-mode", "device", "attention-backend",
	} {
		fs.String(name, "", "accepted, no effect")
		_ = fs.MarkHidden(name) // registered one line above
	}

	for _, name := range []string{
		"trust-remote-code", "disable-log-requests", "enable-log-requests", "disable-uvicorn-access-log",
		"disable-frontend-multiprocessing", "disable-custom-all-reduce", "async-scheduling", "use-v2-block-manager",
		"enable-lora", "enable-auto-tool-choice", "multi-step-stream-outputs", "disable-logprobs-during-spec-decoding",
	} {
		fs.Bool(name, false, "accepted, no effect")
		_ = fs.MarkHidden(name)
	}
}

// toggle registers --enable-NAME and --no-enable-NAME for a setting whose zero
// value is "on".
func toggle(fs *pflag.FlagSet, name string, off *bool, help string) {
	fs.Var(boolFlag{off, true}, "enable-"+name, help+" (on by default)")
	fs.Lookup("enable-" + name).NoOptDefVal = "true"
	fs.Var(boolFlag{off, false}, "no-enable-"+name, "no "+help)
	fs.Lookup("no-enable-" + name).NoOptDefVal = "true"
}

// boolFlag sets a bool, inverted if asked to.
type boolFlag struct {
	to     *bool
	invert bool
}

func (b boolFlag) Type() string   { return "bool" }
func (b boolFlag) String() string { return strconv.FormatBool(b.to != nil && *b.to != b.invert) }
func (b boolFlag) Set(s string) error {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("want true or false")
	}
	*b.to = v != b.invert
	return nil
}

// nameList collects names; a value may hold several with spaces between.
type nameList []string

func (n *nameList) Type() string   { return "name" }
func (n *nameList) String() string { return strings.Join(*n, " ") }
func (n *nameList) Set(s string) error {
	if len(strings.Fields(s)) == 0 {
		return fmt.Errorf("the name is empty")
	}
	*n = append(*n, strings.Fields(s)...)
	return nil
}

// adapterList collects names of LoRA adapters; their paths are not looked at.
type adapterList []string

func (a *adapterList) Type() string   { return "name" }
func (a *adapterList) String() string { return strings.Join(*a, " ") }
func (a *adapterList) Set(s string) error {
	for word := range strings.FieldsSeq(s) {
		name, _, _ := strings.Cut(word, "=")
		if name == "" {
			return fmt.Errorf("%q has no name: want NAME=PATH", word)
		}
		*a = append(*a, name)
	}
	return nil
}

// faultList collects faults.
type faultList []simengine.Fault

func (l *faultList) Type() string { return "fault" }
func (l *faultList) String() string {
	var s []string
	for _, f := range *l {
		s = append(s, f.String())
	}
	return strings.Join(s, " ")
}

func (l *faultList) Set(s string) error {
	f, err := simengine.ParseFault(s)
	if err == nil {
		*l = append(*l, f)
	}
	return err
}

// specModel reads --speculative-model, the flag of vLLM before V1.
type specModel struct{ to *simengine.Speculation }

func (s specModel) Type() string   { return "string" }
func (s specModel) String() string { return "" }
func (s specModel) Set(text string) error {
	s.to.Model, s.to.BeforeV1 = text, true
	return nil
}

// specConfig reads --speculative-config.
type specConfig struct{ to *simengine.Speculation }

func (s specConfig) Type() string   { return "json" }
func (s specConfig) String() string { return "" }
func (s specConfig) Set(text string) error {
	c, err := simengine.ParseSpeculativeConfig(text)
	if err == nil {
		c.Acceptance = s.to.Acceptance
		*s.to = c
	}
	return err
}

// seconds reads a duration; a bare number is seconds, as in vLLM.
type seconds struct{ to *time.Duration }

func (s seconds) Type() string   { return "seconds" }
func (s seconds) String() string { return s.to.String() }
func (s seconds) Set(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		text = fmt.Sprintf("%gs", n)
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%v is negative", d)
	}
	if err != nil {
		return err
	}
	*s.to = max(d, time.Nanosecond) // 0 means at once, not the default
	return nil
}
