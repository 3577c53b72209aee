package simflags

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	base := func(change func(*simengine.Config)) simengine.Config {
		c := simengine.Config{
			Host: simengine.DefaultHost, Port: simengine.DefaultPort, AnyPort: true, Model: simengine.DefaultModel,
			TensorParallelSize: 1, PipelineParallelSize: 1,
			MaxNumBatchedTokens: simengine.DefaultBatchedTokens, BlockSize: 16, GPUMemoryUtilization: 0.9,
			KVCacheDtype: "auto", NumSchedulerSteps: 1,
			Persona: simengine.PersonaVLLM, Device: simengine.DefaultDevice, Speed: 1, Decode: 1, Prefill: 1,
			Noise: flagNoise, LoadTime: flagLoadTime,
			StatsInterval: simengine.DefaultStatsInterval, VocabSize: simengine.DefaultVocabSize, Truth: flagTruth,
			ToolCalls: 1,
		}
		change(&c)
		return c
	}
	for _, c := range []struct {
		name string
		args string
		want simengine.Config
	}{
		{"nothing", "", base(func(*simengine.Config) {})},
		{
			"a recipe",
			"meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 8 --pipeline-parallel-size=2 --gpu_memory_utilization=0.96 --max-num-seqs 2048 " +
				"--num-scheduler-steps 12 --swap-space 4 --trust-remote-code",
			base(func(c *simengine.Config) {
				c.Model, c.TensorParallelSize, c.PipelineParallelSize = "meta-llama/Llama-3.1-70B-Instruct", 8, 2
				c.GPUMemoryUtilization, c.MaxNumSeqs, c.NumSchedulerSteps = 0.96, 2048, 12
			}),
		},
		{
			"old speculation", "--speculative_model draft-1B --num_speculative_tokens 5 --sim-acceptance 0.9,0.8",
			base(func(c *simengine.Config) {
				c.Speculation = simengine.Speculation{
					Model: "draft-1B", BeforeV1: true, Tokens: 5,
					Acceptance: []float64{0.9, 0.8},
				}
			}),
		},
		{
			"new speculation",
			`--sim-acceptance 0.7 --speculative-config {"method":"ngram","num_speculative_tokens":4}`,
			base(func(c *simengine.Config) {
				c.Speculation = simengine.Speculation{Method: "ngram", Tokens: 4, Acceptance: []float64{0.7}}
			}),
		},
		{
			"switches",
			"--no-enable-prefix-caching --enable-chunked-prefill=false --enable-prompt-tokens-details --enforce-eager",
			base(func(c *simengine.Config) {
				c.DisablePrefixCaching, c.DisableChunkedPrefill, c.EnforceEager = true, true, true
			}),
		},
		{
			"slots", "--sim-persona llamacpp --ctx-size 4096 --parallel 16 --kv-unified=false --root-path /team",
			base(func(c *simengine.Config) {
				c.Persona, c.CtxSize, c.MaxNumSeqs, c.RootPath = simengine.PersonaLlamaCpp, 4096, 16, "/team"
			}),
		},
		{"switch and back", "--no-enable-prefix-caching --enable-prefix-caching", base(func(*simengine.Config) {})},
		{
			"server",
			"--host 0.0.0.0 --port 0 --served-model-name a --served-model-name b --api-key k --shutdown-timeout 3 " +
				"--disable-log-stats",
			base(func(c *simengine.Config) {
				c.Host, c.Port, c.ServedModelNames, c.APIKey = "0.0.0.0", 0, []string{"a", "b"}, "k"
				c.ShutdownTimeout, c.DisableLogStats = 3*time.Second, true
			}),
		},
		{
			"simulation",
			"--sim-fault crash@3 --sim-fault ignore-term --sim-device h100 --sim-model llama-8b --sim-speed 10 " +
				"--sim-load-time 5s --sim-kv-blocks 7 --sim-noise 0",
			base(func(c *simengine.Config) {
				c.Faults = []simengine.Fault{
					{Kind: simengine.FaultCrash, Request: 3},
					{Kind: simengine.FaultIgnoreTerm},
				}
				c.Device, c.ModelPreset, c.Speed, c.LoadTime, c.KVBlocks, c.Noise = "h100", "llama-8b", 10,
					5*time.Second, 7, 0
			}),
		},
	} {
		got, err := parseFlags(strings.Fields(c.args))
		if diff := cmp.Diff(c.want, got, cmp.FilterPath(func(p cmp.Path) bool {
			return p.String() == "Exit" || p.String() == "OnListen"
		}, cmp.Ignore())); err != nil || diff != "" {
			t.Errorf("%s: parseFlags(%q): %v, difference (-want +got):\n%s", c.name, c.args, err, diff)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--tensor-parallel 8", "tensor-parallel"},
		{"--sim-fault melt", "melt"},
		{"a b", "unrecognized arguments: b"},
		{"--speculative-config {", "speculative config"},
		{`--speculative-config {"num_speculative_tokens":3}`, "neither model nor method"},
		{"--shutdown-timeout -1", "negative"},
		{"--port many", "many"},
		{"--enable-prefix-caching=maybe", "true or false"},
	} {
		if _, err := parseFlags(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("parseFlags(%q) = %v, want an error with %q", c.args, err, c.want)
		}
	}
}

func TestIgnoresTerm(t *testing.T) {
	t.Parallel()
	c, err := parseFlags([]string{"--sim-fault", "ignore-term"})
	if err != nil || !c.IgnoresTerm() || (simengine.Config{}).IgnoresTerm() {
		t.Errorf("IgnoresTerm() = %v, %v, want true with the fault only", c.IgnoresTerm(), err)
	}
}

func TestModelFromName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{"meta-llama/Llama-3.2-1B-Instruct", "llama-1b"},
		{"Llama-3.2-3B", "llama-3b"},
		{"meta-llama/Llama-3.1-8B-Instruct", "llama-8b"},
		{"meta-llama/Llama-3.1-70B-Instruct", "llama-70b"},
		{"hisa-405b-fp16", "llama-405b"},
		{"Qwen2.5-72B", "llama-70b"},
		{"Qwen2.5-0.5B", "llama-1b"},
		{"tiny-34M-q8", "llama-1b"},
		{"demo", "llama-8b"},
		{"mistral-7b-v0.3", "llama-8b"},
	} {
		if m, err := simengine.FindModel("", c.name); err != nil || m.Name != c.want {
			t.Errorf("findModel(%q) = %s, %v, want %s", c.name, m.Name, err, c.want)
		}
	}
}

// parseFlags parses a command line: the flags of Flags, and the model as a word
// without a flag.
func parseFlags(args []string) (simengine.Config, error) {
	var c simengine.Config
	fs := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	fs.Usage = func() {}
	Register(fs, &c)
	if err := fs.Parse(args); err != nil {
		return simengine.Config{}, fmt.Errorf("parse arguments: %w", err)
	}

	switch fs.NArg() {
	case 0:
	case 1:
		c.Model = fs.Arg(0)
	default:
		return simengine.Config{}, fmt.Errorf("parse arguments: unrecognized arguments: %s",
			strings.Join(fs.Args()[1:], " "))
	}

	return c, nil
}
