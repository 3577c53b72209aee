package engines

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

// vllmAPIServer is the module behind `vllm serve`, started directly in
// recipes of the time before that command.
const vllmAPIServer = "vllm.entrypoints.openai.api_server"

// Over several nodes, internal ports of replica n begin at vllmPortBase +
// n*vllmPortStride, away from HTTP ports and below Linux' ephemeral range: vLLM
// looks for a free port first and binds it later, so replicas without bases of
// their own collide. On one node vllmPrivate chooses them.
const (
	vllmPortBase   = 21000
	vllmPortStride = 200
)

// VllmKind describes vLLM: its command line, its protocol and its log.
func VllmKind() Kind {
	kind := vllmProtocol()
	kind.Name, kind.Title = "vllm", "vLLM"
	kind.Program = Program{Name: "vllm", VersionArgs: []string{"--version"}, Package: "vllm"}
	kind.DefaultPort, kind.Run = 8000, []string{"vllm"}
	kind.StopGrace = 30 * time.Second // engine and workers need 15 to 20 s to end each other
	// an engine whose API server was killed needs 9 s, and then its resource tracker
	kind.OrphanGrace = 20 * time.Second

	kind.Command = vllmCommand
	kind.Args.WorldSize = vllmWorldSize
	kind.Args.MemoryShare = vllmMemoryShare
	kind.Companions = vllmCompanions
	kind.Args.Retired, kind.Args.Conflicts = vllmRetired(), vllmConflicts

	kind.NeedsModel, kind.LocalModel = true, true
	kind.Args.File = namedFile(vllmSpelling, "chat-template", "tokenizer", "hf-config-path", "config",
		"log-config-file", "speculative-config.model", "speculative-model", "spec-model", "ssl-keyfile", "ssl-certfile")
	kind.Private = vllmPrivate
	kind.Sim.Args, kind.Template = vllmSimArgs(), vllmTemplate
	kind.API.Owners = []string{"vllm", SimulatorOwner}

	kind.Image.Entry = []string{vllmAPIServer} // --model suits the entry points of all versions
	kind.Image.Name, kind.Image.AMD = "vllm/vllm-openai:latest", "vllm/vllm-openai-rocm:latest"
	own := container.Cache{Name: "vllm", Path: "/root/.cache/vllm", Variable: "VLLM_CACHE_ROOT"}
	kind.Image.Caches = append([]container.Cache{hubCache(), own}, kernelCaches()...)
	kind.Args.Spellings = vllmSpellings()
	kind.Args.ShortNumbers = []string{"--max-model-len", "--max-num-batched-tokens", "--kv-cache-memory-bytes"}

	return kind.started()
}

// vllmProtocol is what a client of vLLM sees: paths, counters and log lines.
// The simulator speaks the same.
func vllmProtocol() Kind {
	return Kind{
		MetricsPath: "/metrics",
		Metrics:     vllmMetrics(),
		Args: Args{
			Drafts: vllmDrafts,
			Length: "max-model-len",
			Slots:  "max_num_seqs",
		},
		Caches: Caches{Compile: compiledCode("VLLM_CACHE_ROOT"), Hub: hubFolder()},
		API: API{
			ServedName:   servedOrModel,
			HealthPath:   "/health",
			ModelsPath:   "/v1/models",
			TokenizePath: "/tokenize",
			VersionPath:  "/version",
			Reset:        vllmReset(),
			CacheSalt:    true, // since 0.9; older versions ignore it
			Describe: []Description{
				{Path: "/server_info?config_format=json", Arguments: "vllm_config"}, // with VLLM_SERVER_DEV_MODE=1 only
				{Path: "/v1/models", Facts: map[string]logs.Fact{"data.0.max_model_len": logs.FactContext}},
			},
		},
		Log: logs.Lines{
			Fatal:    vllmFatal(),
			Requests: logs.TorchRequests,
			Waiting:  regexp.MustCompile(`Waiting for \d+ local, \d+ remote core engine proc|No available shared memory broadcast block found`),
			// V1 catches and loses it while its engine starts
			ReadyForTerm: regexp.MustCompile(`Application startup complete`),
			Milestones:   vllmMilestones(),
		},
	}
}

// vllmCommand builds `vllm serve MODEL ...`. Binary stands for the program
// `vllm`; one that ends in the api_server module gets --model instead of the
// positional model. false is spelled --no-NAME (which every switch of newer
// versions has), except that disable-... and no-... are left out: leave other
// switches of old versions out with null.
func vllmCommand(s recipe.Spec) (recipe.Command, error) {
	if err := generates(vllmSpelling(), s, vllmPooling()); err != nil {
		return recipe.Command{}, err
	}
	options, err := vllmSpelling().Across(s.Span, "nnodes", "node-rank", "master-addr", "master-port", "headless",
		"data-parallel-size-local", "data-parallel-start-rank", "data-parallel-rank", "data-parallel-address",
		"data-parallel-rpc-port").Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := append(vllmProgram(s), "--host", host, "--port", port)
	if s.ServedName != "" {
		argv = append(argv, vllmSpelling().Pair("--served-model-name", s.ServedName)...)
	}

	own, err := vllmPorts(s)
	if err != nil {
		return recipe.Command{}, err
	}

	across, err := vllmAcross(s, own)
	if err != nil {
		return recipe.Command{}, err
	}

	argv = append(argv, across...)
	vllmSideChannel(s, own)
	if s.APIKey != "" {
		own["VLLM_API_KEY"] = s.APIKey // not argv, which every user of the machine can read
	}

	return recipe.Assemble(s, append(argv, options...), own, torchUnset()...)
}

func vllmProgram(s recipe.Spec) []string {
	argv := s.Binary
	last := argv[len(argv)-1]
	if strings.HasSuffix(last, vllmAPIServer) || strings.HasSuffix(last, "api_server.py") {
		return append(argv, "--model", s.Model)
	}
	if last != "serve" {
		argv = append(argv, "serve")
	}
	return append(argv, s.Model)
}

// vllmPooling are the arguments with which it answers with numbers.
func vllmPooling() map[string][]any {
	return map[string][]any{
		"runner":  {"pooling"},
		"convert": {"embed", "classify", "reward"},
		"task":    {"embed", "embedding", "classify", "score", "reward", "pooling", "encode", "plugin"},
	}
}

// vllmPrivate gives a start a folder for its sockets, and each of several replicas
// a base for its internal ports. A single server asks the kernel for ports.
func vllmPrivate(p Private, s recipe.Spec) Settings {
	own := map[string]string{}
	if s.Replicas > 1 {
		own["VLLM_PORT"] = strconv.Itoa(p.Port)
	}
	if p.Folder != "" {
		own["VLLM_RPC_BASE_PATH"] = p.Folder
	}
	return Settings{Env: own}
}

// vllmPorts gives each of several replicas over nodes a base for its internal
// ports.
func vllmPorts(s recipe.Spec) (map[string]string, error) {
	if s.Replicas < 2 {
		return map[string]string{}, nil
	}
	if _, ok := s.Env["VLLM_PORT"]; ok {
		return nil, fmt.Errorf("env: VLLM_PORT: %d replicas would look for ports in the same place: remove it, bench "+
			"gives each its own", s.Replicas)
	}
	if !s.Span.Several() {
		return map[string]string{}, nil
	}
	return map[string]string{"VLLM_PORT": strconv.Itoa(vllmPortBase + s.Replica*vllmPortStride)}, nil
}

// vllmSideChannel says where NIXL of this server is found by that of others.
func vllmSideChannel(s recipe.Spec, own map[string]string) {
	nixl := slices.ContainsFunc(s.Args, func(a recipe.Arg) bool {
		text, err := recipe.CompactJSON(a.Value)
		key := vllmSpelling().Key(a.Name)
		return err == nil && strings.HasPrefix(key, "kv-transfer-config") && strings.Contains(text, "NixlConnector")
	})
	if s.SideChannel == 0 || !nixl {
		return
	}
	own["VLLM_NIXL_SIDE_CHANNEL_PORT"] = strconv.Itoa(s.SideChannel)
	if len(s.Span.Nodes) > 0 {
		own["VLLM_NIXL_SIDE_CHANNEL_HOST"] = s.Span.Self().Address
	}
}

// vllmMemoryShare is gpu-memory-utilization. vLLM compares it with what is free
// when it starts, and ends where less is.
func vllmMemoryShare(args []recipe.Arg) float64 {
	const standard = 0.9
	value, given := vllmSpelling().Find(args, "gpu-memory-utilization")
	if !given || value == nil {
		return standard
	}

	text, err := recipe.Scalar(value)
	if err != nil {
		return standard
	}

	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return standard // the engine refuses it
	}

	return share
}

// vllmWorldSize is tp*pp*dp. It is unknown (0) for a server on CPU or spread
// over several nodes.
func vllmWorldSize(args []recipe.Arg) int {
	s := vllmSpelling()
	if device, _ := s.Find(args, "device"); device == "cpu" {
		return 0
	}
	if nodes := sizes(s, args, "nnodes"); nodes != 1 {
		return 0
	}
	data := "data-parallel-size"
	if s.Has(args, "data-parallel-size-local") {
		data = "data-parallel-size-local"
	}
	return sizes(s, args, "tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size", data)
}

func vllmSpelling() recipe.Spelling {
	return recipe.Spelling{
		Engine:    "vllm",
		Short:     func(name string) bool { return len(name) <= 2 || vllmShort(name) != "" },
		Canonical: vllmCanonical,
		Falsehood: vllmFalse,
		List:      vllmList,
		JoinDash:  true,
		JSONParts: true,
		Owned: map[string]string{
			"host": "host", "port": "port", "model": "model", "model-tag": "model",
			"served-model-name": "served-name", "api-key": "api-key",
		},
	}
}

// vllmList: options of the web server take their list as JSON.
func vllmList(name string) recipe.ListForm {
	switch name {
	case "allowed-origins", "allowed-methods", "allowed-headers":
		return recipe.JSONList
	}
	return recipe.Spread
}

func vllmFalse(name string) string {
	if strings.HasPrefix(name, "no-") || strings.HasPrefix(name, "disable-") {
		return ""
	}
	return "--no-" + name
}

func vllmCanonical(name string) string {
	if long := vllmShort(name); long != "" {
		return long
	}
	return name
}

// vllmShort is the long name of an option with a single dash, "" if there is
// none known.
func vllmShort(name string) string {
	return map[string]string{
		"tp":            "tensor-parallel-size",
		"pp":            "pipeline-parallel-size",
		"dp":            "data-parallel-size",
		"dpl":           "data-parallel-size-local",
		"dpn":           "data-parallel-rank",
		"dpr":           "data-parallel-start-rank",
		"dpa":           "data-parallel-address",
		"dpp":           "data-parallel-rpc-port",
		"dpb":           "data-parallel-backend",
		"dph":           "data-parallel-hybrid-lb",
		"dpe":           "data-parallel-external-lb",
		"dcp":           "decode-context-parallel-size",
		"pcp":           "prefill-context-parallel-size",
		"asc":           "api-server-count",
		"ep":            "enable-expert-parallel",
		"sc":            "speculative-config",
		"q":             "quantization",
		"n":             "nnodes",
		"r":             "node-rank",
		"spec-draft-tp": "speculative-draft-tensor-parallel-size",
	}[name]
}

func vllmMetrics() scrape.Metrics {
	return scrape.Metrics{
		Counters: map[string][]string{
			scrape.InputTokensTotal:  {"vllm:prompt_tokens_total"},
			scrape.OutputTokensTotal: {"vllm:generation_tokens_total"},
			scrape.RequestsTotal:     {"vllm:request_success_total"},
			scrape.PreemptionsTotal:  {"vllm:num_preemptions_total"},
			// A preempted request asks the cache again, and again: prompt tokens are the truth where both are shown.
			scrape.PrefixQueries: {
				"vllm:prompt_tokens_total?vllm:prompt_tokens_cached_total",
				"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total",
				"vllm:gpu_prefix_cache_queries",
			},
			scrape.PrefixHits: {
				"vllm:prompt_tokens_cached_total", "vllm:prefix_cache_hits_total",
				"vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits",
			},
			scrape.CachedTokensTotal:  {"vllm:prompt_tokens_cached_total"},
			scrape.DraftsTotal:        {"vllm:spec_decode_num_drafts_total"},
			scrape.DraftTokensTotal:   {"vllm:spec_decode_num_draft_tokens_total"},
			scrape.AcceptedTotal:      {"vllm:spec_decode_num_accepted_tokens_total"},
			scrape.EmittedTotal:       {"vllm:spec_decode_num_emitted_tokens_total"}, // before V1
			scrape.QueueSecondsTotal:  {"vllm:request_queue_time_seconds_sum"},
			scrape.QueueRequestsTotal: {"vllm:request_queue_time_seconds_count"},
			scrape.StepsTotal:         {"vllm:iteration_tokens_total_count"},
		},
		Gauges: map[string]scrape.Gauge{
			scrape.Running: {Names: []string{"vllm:num_requests_running"}},
			scrape.Waiting: {Names: []string{"vllm:num_requests_waiting", "vllm:num_requests_waiting_by_reason"}},
			scrape.Swapped: {Names: []string{"vllm:num_requests_swapped"}},
			scrape.KVUse:   {Names: []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}, Highest: true},
		},
		AcceptedAt: []string{
			"vllm:spec_decode_num_accepted_tokens_per_pos_total",
			"vllm:spec_decode_num_accepted_tokens_per_pos",
		},
	}
}

func vllmReset() *Reset {
	return &Reset{
		Path: "/reset_prefix_cache", Needs: "VLLM_SERVER_DEV_MODE=1 in env:",
		Done:    regexp.MustCompile(`Successfully reset prefix cache`),
		Refused: regexp.MustCompile(`Failed to reset prefix cache`), MustSay: true,
	}
}

func vllmMilestones() []logs.Milestone {
	return []logs.Milestone{
		logs.NewMilestone(`vLLM API server version (\S+)`, logs.FactVersion),
		logs.NewMilestone(`[█▀▄] +version (\S+)`, logs.FactVersion), // beside the logo, since 0.11
		logs.NewMilestone(`Initializing an? (?:V1 )?LLM engine \(v([^)\s]+)\) with config: (.*)`, logs.FactVersion,
			logs.FactArguments),
		logs.NewMilestone(`\bargs: (Namespace\(.*\)|\{.*\})`, logs.FactArguments), // V0, and "non-default args" since
		logs.NewMilestone(`Loading (?:model )?weights took ([\d.]+) seconds`, logs.PhaseWeights),
		logs.NewMilestone(`(?:Loading model weights|Model loading) took ([\d.]+) Gi?B`, logs.FactModelGiB),
		logs.NewMilestone(`torch\.compile (?:takes|took) ([\d.]+) s in total`, logs.PhaseCompile),
		logs.NewMilestone(`GPU KV cache size: ([\d,]+) tokens`, logs.FactKVTokens),
		logs.NewMilestone(`# (?:GPU|cuda|rocm) blocks: (\d+)`, logs.FactKVBlocks),
		logs.NewMilestone(`Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x`, logs.FactContext,
			logs.FactConcurrency),
		logs.NewMilestone(`Graph capturing finished in ([\d.]+) sec`, logs.PhaseGraphs),
		logs.NewMilestone(`init engine \(profile, create kv cache, warmup model\) took ([\d.]+) s`, logs.PhaseInit),
	}
}

// vllmFatal: precise reasons first, then the lines that only say that the
// engine is gone.
func vllmFatal() []logs.FatalLine {
	memory := []logs.FatalLine{
		logs.Fatal(results.FailStillHeld, logs.HintHeld,
			`Free memory on device .* on startup is less than desired GPU memory utilization`,
			`Error in memory profiling`),
		logs.Fatal(results.FailOutOfMemory, "lower gpu-memory-utilization, which on CPU is the share of main memory",
			`Available memory on node .* is less than desired CPU memory utilization`),
		logs.Fatal(results.FailKVCache, logs.HintContext,
			`No available memory for the cache blocks`,
			`To serve at least one request with the model's max seq len`,
			`is larger than the (maximum number of tokens that can be stored in KV cache|available KV cache memory)`),
	}

	engine := []logs.FatalLine{
		logs.Fatal(results.FailNoGPU, "lower tensor-parallel-size, or give it more GPUs",
			`World size \(\d+\) is larger than the number of available GPUs`, `Current node has no GPU available`,
			`The number of required GPUs exceeds the total number of available GPUs`),
		logs.Fatal(results.FailBadRecipe, "set only one of HIP_, CUDA_ and ROCR_VISIBLE_DEVICES",
			`Inconsistent GPU visibility env vars`),
		logs.Fatal(results.FailBadRecipe, "lower max-model-len, or leave it out",
			`User-specified max_model_len .* is greater than the derived max_model_len`),
		logs.Fatal(results.FailBadRecipe, "choose a tensor-parallel-size that divides it",
			`Total number of attention heads .* must be divisible by tensor parallel size`),
		logs.Starting(results.FailBadRecipe, "raise max-lora-rank", `LoRA rank \d+ is greater than max_lora_rank`),
		logs.Starting(results.FailBadRecipe, "leave quantization out: the model says how it is quantized",
			`Quantization method specified in the model config .* does not match`),
		logs.Starting(results.FailBadRecipe,
			"correct chat-template: it names a file of the machine that the server runs on",
			`(?i)the supplied chat template .*(doesn't exist|failed to be opened)`),
		logs.Starting(results.FailModel, "correct lora-modules", `LoRAAdapterNotFoundError: `, `No adapter found for `),
		logs.Starting(results.FailBadRecipe, "", `^ *(Value error|Assertion failed), `, `\[type=\w+, input_value=`),
		logs.Guess(results.FailBadRecipe, "", `^(\w+\.)*(ValueError|NotImplementedError|VLLMValidationError): `),
		logs.Fatal(results.FailEngineDied,
			"a process of the engine was killed: dmesg shows whether the kernel did it for "+
				"lack of memory", `Failed core proc\(s\): \{.*: -9\b`),
		logs.Fatal(results.FailEngineDied, "a process of the engine ended by SIGBUS: make room in /dev/shm",
			`Failed core proc\(s\): \{.*: -7\b`),
		logs.Fatal(results.FailEngineDied,
			"a process of the engine crashed: its installation may not suit this machine",
			`Failed core proc\(s\): \{.*: -(4|6|8|11)\b`),
		logs.Fatal(results.FailEngineDied, logs.HintTrace,
			`Engine core initialization failed`, `EngineCore failed to start`, `WorkerProc failed to start`,
			`Worker proc .* died unexpectedly`, `EngineCore encountered (a fatal error|an issue)`, `EngineDeadError`,
			`Engine process failed to start`, `MQLLMEngine is already dead`, `AsyncLLMEngine has failed`,
			`Timed out waiting for engine core processes to start`),
	}

	return slices.Concat(memory, logs.Torch(), engine)
}

// vllmDrafts reads the options of all versions: one JSON object, its parts
// behind dots, its newer short forms, and the many of the time before it.
func vllmDrafts(args []recipe.Arg) (drafts bool, tokens int) {
	s := vllmSpelling()
	config, _ := s.Find(args, "speculative-config")
	if text, ok := config.(string); ok {
		var parsed map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&parsed) == nil {
			config = parsed
		}
	}

	if object, ok := config.(map[string]any); ok {
		tokens, _ = positive(object["num_speculative_tokens"])
	}

	drafts = config != nil && config != false
	for _, arg := range args {
		name, part, dotted := strings.Cut(s.Key(arg.Name), ".")
		if !dotted || name != "speculative-config" || arg.Value == nil {
			continue
		}
		drafts = true
		if part == "num_speculative_tokens" {
			tokens, _ = positive(arg.Value)
		}
	}

	for _, name := range []string{"speculative-model", "spec-model", "spec-method"} {
		value, _ := s.Find(args, name)
		drafts = drafts || value != nil
	}

	for _, name := range []string{"num-speculative-tokens", "spec-tokens"} {
		tokens = max(tokens, wholeOption(s, args, name))
	}

	return drafts, tokens
}

// vllmRetired are settings of well-known recipes that vLLM no longer has.
func vllmRetired() []Retirement {
	const config = "give speculative-config: {model: ..., num_speculative_tokens: ...}"

	return []Retirement{
		{Arg: "speculative-model", Since: "0.8.3", Instead: config},
		{Arg: "num-speculative-tokens", Since: "0.8.3", Instead: config},
		{
			Arg: "speculative-draft-tensor-parallel-size", Since: "0.8.3",
			Instead: "give speculative-config: {draft_tensor_parallel_size: ...}",
		},
		{
			Arg: "speculative-disable-by-batch-size", Since: "0.8.3",
			Instead: "give speculative-config: {disable_by_batch_size: ...}",
		},
		{Arg: "speculative-max-model-len", Since: "0.8.3", Instead: "give speculative-config: {max_model_len: ...}"},
		{
			Arg: "ngram-prompt-lookup-max", Since: "0.8.3",
			Instead: "give speculative-config: {method: ngram, prompt_lookup_max: ...}",
		},
		{
			Arg: "ngram-prompt-lookup-min", Since: "0.8.3",
			Instead: "give speculative-config: {method: ngram, prompt_lookup_min: ...}",
		},
		{Arg: "spec-decoding-acceptance-method", Since: "0.8.3", Instead: config},
		{Arg: "use-v2-block-manager", Since: "0.10.1", Instead: "remove it"},
		{
			Arg: "guided-decoding-backend", Since: "0.10.1",
			Instead: "remove it, or see the version's structured outputs",
		},
		{Arg: "num-scheduler-steps", Since: "0.10.1", Instead: "remove it, or see async-scheduling"},
		{Arg: "max-seq-len-to-capture", Since: "0.11.0", Instead: "remove it"},
		{
			Arg: "disable-log-requests", Since: "0.10.1", Ignored: true,
			Instead: "remove it: requests are no longer logged unless enable-log-requests says so. Versions of " +
				"March 2026 and later refuse it",
		},
		{Arg: "swap-space", When: "March 2026", Instead: "remove it"},
		{Arg: "device", Since: "0.10.0", Instead: "remove it: a build is for one kind of device"},
		{Arg: "enable-reasoning", Since: "0.10.0", Instead: "remove it: reasoning-parser alone is enough"},
		{Arg: "preemption-mode", Since: "0.11.0", Instead: "remove it: preempted requests are computed again"},
		{Arg: "scheduler-delay-factor", Since: "0.11.0", Instead: "remove it"},
		{Arg: "multi-step-stream-outputs", Since: "0.10.1", Instead: "remove it"},
		{Arg: "disable-async-output-proc", Since: "0.11.0", Instead: "remove it"},
		{Arg: "num-lookahead-slots", Since: "0.11.0", Instead: "remove it"},
		{Arg: "override-neuron-config", Since: "0.11.0", Instead: "give additional-config: {...}"},
		{Arg: "task", Since: "0.13.0", Instead: "remove it for generation, else give runner: pooling and convert: " +
			"embed or classify"},

		// Gone in the 0.22 line at the latest.
		{Arg: "rope-scaling", Since: "0.22.0", Instead: "give hf-overrides: {rope_parameters: {...}}"},
		{Arg: "rope-theta", Since: "0.22.0", Instead: "give hf-overrides: {rope_parameters: {rope_theta: ...}}"},
		{Arg: "cuda-graph-sizes", Since: "0.22.0", Instead: "give cudagraph-capture-sizes: [...]"},
		{Arg: "full-cuda-graph", Since: "0.22.0", Instead: "give compilation-config: {cudagraph_mode: FULL}"},

		{Env: "VLLM_USE_V1", Since: "0.12.0", Ignored: true, Instead: "remove it: there is only the V1 engine"},
		{
			Env: "VLLM_USE_TRITON_FLASH_ATTN", Since: "0.12.0", Ignored: true,
			Instead: "choose the attention backend by VLLM_ATTENTION_BACKEND, or by attention-backend from 0.15 on",
		},
		{Env: "VLLM_ATTENTION_BACKEND", Since: "0.15.0", Ignored: true, Instead: "give the argument attention-backend"},
		{Env: "VLLM_SWIZZLE_TENSOR", When: "never", Ignored: true},
	}
}

// vllmConflicts finds settings of vLLM that do not go together.
func vllmConflicts(spec recipe.Spec, version Version) []Conflict {
	found := slices.Concat(multiStep(spec.Args, version), misspelled(vllmSpelling(), vllmKnown(), spec.Args))
	hip, hasHIP := spec.Env["HIP_VISIBLE_DEVICES"]
	cuda, hasCUDA := spec.Env["CUDA_VISIBLE_DEVICES"]
	if hasHIP && hasCUDA && hip != cuda {
		found = append(found, Conflict{
			Message: "HIP_VISIBLE_DEVICES: vllm refuses a CUDA_VISIBLE_DEVICES that says otherwise: set one of them",
		})
	}
	return found
}

// multiStep finds what several scheduler steps at once do not go together with.
func multiStep(args []recipe.Arg, version Version) []Conflict {
	s := vllmSpelling()
	const name = "num-scheduler-steps"
	if wholeOption(s, args, name) <= 1 {
		return nil
	}

	given := name
	for _, arg := range args {
		if s.Key(arg.Name) == name {
			given = arg.Name
		}
	}

	add := func(found []Conflict, text string) []Conflict {
		return append(found, Conflict{Arg: given, Message: given + ": " + text})
	}

	var found []Conflict
	if drafts, _ := vllmDrafts(args); drafts {
		found = add(found, "more than one scheduler step is not supported with speculative decoding: remove it "+
			"for this variant")
	}

	chunked, _ := s.Find(args, "enable-chunked-prefill")
	if chunked == true && wholeOption(s, args, "pipeline-parallel-size") > 1 {
		found = add(found, "more than one scheduler step with chunked prefill is not supported with "+
			"pipeline-parallel-size above 1: remove one of the three")
	}
	if version == "" || !version.olderThan("0.8.0") && version.olderThan("0.10.1") {
		found = add(found, "vllm 0.8 to 0.10.0 run it on the older V0 engine: compare only variants of one engine")
	}

	return found
}

// vllmSimArgs are the arguments that the simulator acts on.
func vllmSimArgs() map[string]string {
	names := map[string]string{
		"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "q": "quantization",
		"sc": "speculative-config",
	}
	for _, name := range []string{
		"tensor-parallel-size", "pipeline-parallel-size", "max-model-len", "max-num-seqs", "max-num-batched-tokens",
		"block-size",
		"gpu-memory-utilization", "quantization", "kv-cache-dtype", "num-scheduler-steps", "enforce-eager", "seed",
		"enable-prefix-caching", "no-enable-prefix-caching", "enable-chunked-prefill", "no-enable-chunked-prefill",
		"speculative-config", "speculative-model", "num-speculative-tokens", "speculative-draft-tensor-parallel-size",
		"disable-log-stats", "served-model-name", "shutdown-timeout", "enable-lora", "lora-modules",
		"scheduling-policy",
	} {
		names[name] = ""
	}
	return names
}

// vllmTemplate is the starter scenario.
var vllmTemplate = `# A starter scenario for vLLM. Adapt model, variants and load, then:
#   bench validate FILE      checks it
#   bench plan FILE          shows every command, touches nothing
#   bench run FILE
schema: 1
name: my-vllm
description: What this compares, in one line

vars:
  model: meta-llama/Llama-3.1-8B-Instruct

server:                            # shared by all variants
  launcher: vllm
  model: ${model}                  # a name on the hub, or a folder beside this file
  # binary: /opt/vllm/bin/vllm     # default: vllm in PATH
  args:                            # flags of "vllm serve" without the dashes
    gpu-memory-utilization: 0.90
    max-model-len: 8192
` + starterToken + `  ready: {timeout: 30m, stall: 5m} # loading a large model takes long

variants:
  - name: tp1
    args: {tensor-parallel-size: 1}
  - name: tp2
    args: {tensor-parallel-size: 2}
  # - name: tp1-seqs${seqs}        # one variant for each value
  #   matrix: {seqs: [64, 256]}
  #   args: {tensor-parallel-size: 1, max-num-seqs: "${seqs}"}
` + starterLoad + starterEnd
