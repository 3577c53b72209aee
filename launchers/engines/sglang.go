package engines

import (
	"maps"
	"net"
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

// SglangKind describes SGLang: its command line, its protocol and its log.
func SglangKind() Kind {
	return Kind{
		Name:        "sglang",
		Title:       "SGLang",
		Program:     Program{Name: "sglang", VersionArgs: []string{"version"}, Package: "sglang"},
		DefaultPort: 30000,
		StopGrace:   30 * time.Second,
		Run:         []string{"python3", "-m", "sglang.launch_server"},
		Command:     sglangCommand,
		Companions:  sglangCompanions,
		Private:     sglangPrivate,
		NeedsModel:  true,
		LocalModel:  true,
		Template:    sglangTemplate,
		MetricsPath: "/metrics",
		Metrics:     sglangMetrics(),
		Args: Args{
			Spellings: parallelSpellings(),
			WorldSize: sglangWorldSize,
			Drafts:    sglangDrafts,
			WeightsOnGPU: hasNone(sglangSpelling, "quantization", "cpu-offload-gb", "torchao-config", "load-format",
				"device"),
			File: namedFile(sglangSpelling, "tokenizer-path", "chat-template", "speculative-draft-model-path",
				"lora-paths", "quantization-param-path"),
			Length: "context-length",
		},
		Image: Image{
			Name:    "lmsysorg/sglang:latest",
			AMD:     "lmsysorg/sglang:v0.5.14-rocm720-mi30x",
			Entry:   []string{"sglang"},
			Program: []string{"python3", "-m", "sglang.launch_server"},
			Caches: append([]container.Cache{
				hubCache(), {Name: "deep_gemm", Path: "/root/.cache/deep_gemm", Variable: "SGLANG_DG_CACHE_DIR"},
			}, kernelCaches()...),
		},
		Caches: Caches{Compile: compiledCode("SGLANG_DG_CACHE_DIR"), Hub: hubFolder()},
		API: API{
			Owners:      []string{"sglang"},
			ServedName:  servedOrModel,
			HealthPath:  "/health", // generates a token and takes up to 20 s
			ModelsPath:  "/v1/models",
			VersionPath: "/get_server_info",
			Reset:       sglangReset(),
			Describe: []Description{
				{Path: "/get_server_info", Arguments: ".", Facts: map[string]logs.Fact{
					"version": logs.FactVersion, "max_total_num_tokens": logs.FactKVTokens,
					"internal_states.0.effective_max_running_requests_per_dp": logs.FactSlots,
				}},
				{Path: "/v1/models", Facts: map[string]logs.Fact{"data.0.max_model_len": logs.FactContext}},
			},
		},
		Log: logs.Lines{
			Fatal:      sglangFatal(),
			Requests:   logs.TorchRequests,
			Milestones: sglangMilestones(),
		},
		Sim: Sim{Args: sglangSimArgs()},
	}.started()
}

// sglangCommand builds `python3 -m sglang.launch_server --model-path MODEL`.
// Binary stands for all of the program ("sglang", "serve"). --enable-metrics
// is added unless the arguments name it. Its switches have no form for false:
// it is left out.
func sglangCommand(s recipe.Spec) (recipe.Command, error) {
	spelling := sglangSpelling()
	if err := generates(spelling, s, map[string][]any{"is-embedding": {true}}); err != nil {
		return recipe.Command{}, err
	}
	options, err := spelling.Across(s.Span, "nnodes", "node-rank", "dist-init-addr", "nccl-init-addr").Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := append(s.Binary, "--model-path", s.Model, "--host", host, "--port", port)
	if s.ServedName != "" {
		argv = append(argv, spelling.Pair("--served-model-name", s.ServedName)...)
	}
	if s.APIKey != "" {
		argv = append(argv, spelling.Pair("--api-key", s.APIKey)...) // it reads no variable for it
	}

	argv = append(argv, sglangAcross(s.Span)...)
	if mode, _ := spelling.Find(s.Args, "disaggregation-mode"); mode == "prefill" && s.SideChannel > 0 &&
		!spelling.Has(s.Args, "disaggregation-bootstrap-port") {
		argv = append(argv, "--disaggregation-bootstrap-port", strconv.Itoa(s.SideChannel))
	}
	if !spelling.Has(s.Args, "enable-metrics") {
		argv = append(argv, "--enable-metrics")
	}

	own := maps.Clone(s.Span.InterfaceEnv())
	if _, apart := spelling.Find(s.Args, "disaggregation-mode"); apart && len(s.Span.Nodes) == 1 {
		// the address at which prefill and decode servers find each other, which it would guess
		own = map[string]string{"SGLANG_HOST_IP": s.Span.Self().Address}
	}
	return recipe.Assemble(s, append(argv, options...), own, append(torchUnset(), "SGLANG_*", "SGL_*")...)
}

// sglangWorldSize is tp*pp*dp; with dp attention the dp ranks are within the
// tp ranks. It is unknown (0) for a server over several nodes.
func sglangWorldSize(args []recipe.Arg) int {
	s := sglangSpelling()
	if nodes := sizes(s, args, "nnodes"); nodes != 1 {
		return 0
	}
	names := []string{"tensor-parallel-size", "pipeline-parallel-size"}
	if within, _ := s.Find(args, "enable-dp-attention"); within != true {
		names = append(names, "data-parallel-size")
	}
	return sizes(s, args, names...)
}

func sglangSpelling() recipe.Spelling {
	return recipe.Spelling{
		Engine:    "sglang",
		Canonical: sglangCanonical,
		JoinDash:  true,
		Owned: map[string]string{
			"host": "host", "port": "port", "model-path": "model", "served-model-name": "served-name",
			"api-key": "api-key",
		},
	}
}

func sglangCanonical(name string) string {
	switch name {
	case "tp", "tp-size":
		return "tensor-parallel-size"
	case "pp", "pp-size":
		return "pipeline-parallel-size"
	case "dp", "dp-size":
		return "data-parallel-size"
	case "model":
		return "model-path"
	}
	return name
}

// sglangPrivate replaces ports that SGLang derives from the port of its API: the
// one of NCCL by a random number, those of data-parallel attention by a fixed
// distance, so that two servers meet there.
func sglangPrivate(p Private, s recipe.Spec) Settings {
	spelling := sglangSpelling()
	var args []string
	if !spelling.Has(s.Args, "nccl-port") {
		args = append(args, "--nccl-port", strconv.Itoa(p.Port))
	}
	if on, _ := spelling.Find(s.Args, "enable-dp-attention"); on == true && !spelling.Has(s.Args, "dist-init-addr") {
		args = append(args, "--dist-init-addr", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port+1)))
	}
	return Settings{Args: args}
}

// sglangAcross are the options by which SGLang's nodes find each other.
func sglangAcross(span recipe.Span) []string {
	if !span.Several() {
		return nil
	}
	return []string{
		"--nnodes", strconv.Itoa(len(span.Nodes)), "--node-rank", strconv.Itoa(span.Rank),
		"--dist-init-addr", span.Meeting(),
	}
}

func sglangCompanions(s recipe.Spec) ([]recipe.Companion, error) {
	return workersOf("sglang", sglangCommand, s)
}

func sglangMetrics() scrape.Metrics {
	return scrape.Metrics{
		Counters: map[string][]string{
			scrape.InputTokensTotal:   {"sglang:prompt_tokens_total"},
			scrape.OutputTokensTotal:  {"sglang:generation_tokens_total"},
			scrape.RequestsTotal:      {"sglang:num_requests_total"},
			scrape.PrefixQueries:      {"sglang:prompt_tokens_total"}, // it looks all of them up
			scrape.PrefixHits:         {"sglang:cached_tokens_total"},
			scrape.CachedTokensTotal:  {"sglang:cached_tokens_total"},
			scrape.PreemptionsTotal:   {"sglang:num_retracted_reqs_total"},
			scrape.QueueSecondsTotal:  {"sglang:queue_time_seconds_sum"},
			scrape.QueueRequestsTotal: {"sglang:queue_time_seconds_count"},
		},
		Gauges: map[string]scrape.Gauge{
			scrape.Running: {Names: []string{"sglang:num_running_reqs"}},
			scrape.Waiting: {Names: []string{"sglang:num_queue_reqs"}},
			scrape.KVUse:   {Names: []string{"sglang:token_usage"}, Highest: true},

			scrape.DraftLength: {Names: []string{"sglang:spec_accept_length"}, Highest: true},
			scrape.DraftRate:   {Names: []string{"sglang:spec_accept_rate"}, Highest: true},
		},
	}
}

func sglangReset() *Reset {
	return &Reset{
		Path: "/flush_cache", Needs: "another version",
		Done: regexp.MustCompile(`Cache flushed successfully`), Refused: regexp.MustCompile(`Cache not flushed`),
	}
}

func sglangMilestones() []logs.Milestone {
	return []logs.Milestone{
		logs.NewMilestone(`server_args=ServerArgs\((.*)\)`, logs.FactArguments),
		logs.NewMilestone(`Load weight end\. elapsed=([\d.]+) s`, logs.PhaseWeights),
		logs.NewMilestone(`Load weight end\..*mem usage=([\d.]+) GB`, logs.FactModelGiB),
		logs.NewMilestone(`KV Cache is allocated\. .*#tokens: (\d+)`, logs.FactKVTokens),
		logs.NewMilestone(`Capture (?:cuda|hip) graph end\. Time elapsed: ([\d.]+) s`, logs.PhaseGraphs),
		logs.NewMilestone(`max_total_num_tokens=(\d+)`, logs.FactKVTokens),
		logs.NewMilestone(`max_running_requests=(\d+)`, logs.FactSlots),
		logs.NewMilestone(`context_len=(\d+)`, logs.FactContext),
	}
}

func sglangFatal() []logs.FatalLine {
	return slices.Concat(
		[]logs.FatalLine{
			logs.Fatal(results.FailStillHeld, logs.HintHeld, `The memory capacity is unbalanced`),
			logs.Fatal(results.FailKVCache, "raise mem-fraction-static, or lower the model's size or context",
				`Not enough memory\. Please try to increase --mem-fraction-static`),
		},
		logs.Torch(),
		[]logs.FatalLine{
			logs.Fatal(results.FailEngineDied, logs.HintTrace,
				`Scheduler hit an exception`, `Received sigquit from a child process`, `Rank \d+ scheduler is dead`),
		})
}

func sglangDrafts(args []recipe.Arg) (drafts bool, tokens int) {
	algorithm, _ := sglangSpelling().Find(args, "speculative-algorithm")
	return algorithm != nil && algorithm != false, wholeOption(sglangSpelling(), args, "speculative-num-steps")
}

// sglangSimArgs are the arguments that the simulator acts on.
func sglangSimArgs() map[string]string {
	return map[string]string{
		"tp": "tensor-parallel-size", "tp-size": "tensor-parallel-size", "tensor-parallel-size": "",
		"pp": "pipeline-parallel-size", "pp-size": "pipeline-parallel-size", "pipeline-parallel-size": "",
		"context-length": "max-model-len", "max-running-requests": "max-num-seqs",
		"mem-fraction-static": "gpu-memory-utilization",
		"quantization":        "", "kv-cache-dtype": "", "chunked-prefill-size": "max-num-batched-tokens",
		"disable-radix-cache":          "no-enable-prefix-caching",
		"speculative-draft-model-path": "speculative-model", "speculative-num-draft-tokens": "num-speculative-tokens",
	}
}

// sglangTemplate is the starter scenario.
var sglangTemplate = starterHead("SGLang", "sglang") + `server:                            # shared by all variants
  launcher: sglang
  model: meta-llama/Llama-3.1-8B-Instruct
  args:                            # flags of sglang.launch_server without the dashes
    mem-fraction-static: 0.88
    context-length: 8192
` + starterToken + `  ready: {timeout: 30m, stall: 5m}

variants:
  - name: tp1
    args: {tp-size: 1}
  - name: tp2
    args: {tp-size: 2}
` + starterLoad + starterEnd
