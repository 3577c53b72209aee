package engines

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

func tgiKind() Kind {
	return Kind{
		Name:        "tgi",
		Title:       "TGI",
		Program:     Program{Name: "text-generation-launcher", VersionArgs: []string{"--version"}},
		DefaultPort: 3000,
		StopGrace:   90 * time.Second, // it gives each of its processes that long
		Run:         []string{"text-generation-launcher"},
		Command:     tgiCommand,
		Private:     tgiPrivate,
		NeedsModel:  true,
		LocalModel:  true,
		Template:    tgiTemplate,
		MetricsPath: "/metrics",
		Metrics:     tgiMetrics(),
		Args: Args{
			WorldSize: tgiWorldSize,
			Drafts:    tgiDrafts,
			// nothing of a model of tgi's stays outside its GPUs
			WeightsOnGPU: hasNone(tgiSpelling, "quantize"),
			Length:       "max-total-tokens",
		},
		Image: Image{
			Name:  "ghcr.io/huggingface/text-generation-inference:latest",
			AMD:   "ghcr.io/huggingface/text-generation-inference:latest-rocm",
			Entry: []string{"text-generation-launcher"},
			Caches: []container.Cache{{
				Name: "text-generation-inference", Path: "/data",
				Variable: "HUGGINGFACE_HUB_CACHE",
			}},
		},
		Caches: Caches{Compile: compiledCode(), Hub: hubFolder()},
		API: API{
			Tokenize:    TokenizeTGI,
			ServedName:  servedOrModel,
			HealthPath:  "/health",
			VersionPath: "/info",
			Describe: []Description{
				{Path: "/info", Arguments: ".", Facts: map[string]logs.Fact{
					"version": logs.FactVersion, "max_total_tokens": logs.FactContext,
					"max_batch_total_tokens":  logs.FactKVTokens,
					"max_concurrent_requests": logs.FactSlots,
				}},
			},
		},
		Log: logs.Lines{
			Fatal:      tgiFatal(),
			Requests:   regexp.MustCompile(`\b(generate|chat_completions|completions)(_stream)?\{`),
			Milestones: tgiMilestones(),
		},
		Sim: Sim{Args: tgiSimArgs()},
	}.started()
}

// tgiCommand builds `text-generation-launcher --model-id MODEL ...`. sharded
// takes true or false as its value; other switches have no form for false,
// which leaves them out. Lists repeat their option.
func tgiCommand(s recipe.Spec) (recipe.Command, error) {
	spelling := tgiSpelling()
	options, err := spelling.Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := append(s.Binary, "--model-id", s.Model, "--hostname", host, "--port", port)
	var own map[string]string
	if s.APIKey != "" {
		own = map[string]string{"API_KEY": s.APIKey}
	}

	return recipe.Assemble(s, append(argv, options...), own, slices.Concat(torchUnset(), tgiVariables())...)
}

// tgiPrivate replaces names that are the same for all servers of a machine.
func tgiPrivate(p Private, _ recipe.Spec) Settings {
	own := map[string]string{"MASTER_PORT": strconv.Itoa(p.Port)}
	if p.Folder != "" {
		own["SHARD_UDS_PATH"] = p.Folder + "/shard"
	}
	return Settings{Env: own}
}

// tgiVariables are plain names that the launcher takes for options.
func tgiVariables() []string {
	return []string{
		"MODEL_ID", "REVISION", "API_KEY", "SHARDED", "NUM_SHARD", "QUANTIZE", "SPECULATE", "DTYPE", "KV_CACHE_DTYPE",
		"MAX_CONCURRENT_REQUESTS", "MAX_INPUT_TOKENS", "MAX_INPUT_LENGTH", "MAX_TOTAL_TOKENS", "MAX_BATCH_SIZE",
		"MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS", "MAX_WAITING_TOKENS", "WAITING_SERVED_RATIO",
		"CUDA_GRAPHS", "CUDA_MEMORY_FRACTION",
	}
}

// tgiWorldSize is num-shard, 1 for sharded: false; without both the launcher
// takes all GPUs that it sees (0).
func tgiWorldSize(args []recipe.Arg) int {
	s := tgiSpelling()
	if shards, _ := s.Find(args, "num-shard"); shards != nil {
		return sizes(s, args, "num-shard")
	}
	if sharded, _ := s.Find(args, "sharded"); sharded == false || sharded == "false" {
		return 1
	}
	return 0
}

func tgiSpelling() recipe.Spelling {
	return recipe.Spelling{
		Engine: "text-generation-launcher",
		BoolValue: func(name string, on bool) string {
			if name != "sharded" {
				return ""
			}
			return strconv.FormatBool(on)
		},
		List:     func(string) recipe.ListForm { return recipe.Repeated },
		JoinDash: true,
		Owned: map[string]string{
			"hostname": "host", "host": "host", "port": "port", "model-id": "model", "model": "model",
			"api-key": "api-key",
		},
	}
}

func tgiMetrics() scrape.Metrics {
	return scrape.Metrics{
		Counters: map[string][]string{
			scrape.InputTokensTotal:   {"tgi_request_input_length_sum"},
			scrape.OutputTokensTotal:  {"tgi_request_generated_tokens_sum"},
			scrape.RequestsTotal:      {"tgi_request_success"},
			scrape.QueueSecondsTotal:  {"tgi_request_queue_duration_sum"},
			scrape.QueueRequestsTotal: {"tgi_request_queue_duration_count"},
		},
		Gauges: map[string]scrape.Gauge{
			scrape.Running: {Names: []string{"tgi_batch_current_size"}},
			scrape.Waiting: {Names: []string{"tgi_queue_size"}},
		},
	}
}

func tgiMilestones() []logs.Milestone {
	return []logs.Milestone{
		logs.NewMilestone(`Shard ready in ([\d.]+)s`, logs.PhaseWeights),
		logs.NewMilestone(`Setting max batch total tokens to (\d+)`, logs.FactKVTokens),
	}
}

func tgiFatal() []logs.FatalLine {
	return slices.Concat(
		[]logs.FatalLine{
			logs.Fatal(results.FailKVCache, "lower max-batch-prefill-tokens or max-total-tokens",
				`Not enough memory to handle`),
			logs.Fatal(results.FailBadFlag, logs.HintVersion, `error: unexpected argument`, `error: invalid value`),
		},
		logs.Torch(),
		[]logs.FatalLine{
			logs.Fatal(results.FailDownload, "check the network, or fetch the model before the run", `DownloadError`),
			logs.Fatal(results.FailEngineDied, logs.HintTrace, `ShardCannotStart`,
				`Shard \d+ (failed to start|crashed)`,
				`Webserver Crashed`, `WebserverFailed`),
		})
}

func tgiDrafts(args []recipe.Arg) (drafts bool, tokens int) {
	tokens = wholeOption(tgiSpelling(), args, "speculate")
	return tokens > 0, tokens
}

// tgiSimArgs are the arguments that the simulator acts on.
func tgiSimArgs() map[string]string {
	return map[string]string{
		"num-shard": "tensor-parallel-size", "quantize": "quantization", "max-total-tokens": "max-model-len",
		"max-batch-prefill-tokens": "max-num-batched-tokens", "max-batch-size": "max-num-seqs",
	}
}

// tgiTemplate is the starter scenario.
var tgiTemplate = starterHead("Text Generation Inference", "tgi") +
	`server:                            # shared by all variants
  launcher: tgi
  model: meta-llama/Llama-3.1-8B-Instruct
  args:                            # flags of text-generation-launcher without the dashes
    max-input-tokens: 4096
    max-total-tokens: 8192
` + starterToken + `  ready: {timeout: 30m, stall: 5m}

variants:
  - name: shard1
    args: {num-shard: 1}
  - name: shard2
    args: {num-shard: 2}

load:
  endpoint: chat                   # or completions
  dataset: {kind: random, seed: 0} # or sharegpt, jsonl with path: FILE
  num-prompts: 256
  input-len: 1024
  output-len: 128
  sweep: {max-concurrency: [1, 8, 32, 128]}
` + starterEnd
