package engines

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

func llamacppKind() Kind {
	return Kind{
		Name:        "llamacpp",
		Title:       "llama.cpp",
		Program:     Program{Name: "llama-server", VersionArgs: []string{"--version"}},
		DefaultPort: 8080,
		// With a stream open a server stops at its next keep-alive ping, which
		// comes every 30 s.
		StopGrace:   35 * time.Second,
		Run:         []string{"llama-server"},
		Backends:    []string{"llama.cpp"},
		Dialect:     "llamacpp",
		Command:     llamaCommand,
		NeedsModel:  true,
		LocalModel:  true,
		QuickStart:  true,
		Template:    llamaTemplate,
		MetricsPath: "/metrics",
		Metrics:     llamaMetrics(),
		Args: Args{
			WorldSize: unknownSize, // it spreads over all GPUs that it sees
			Drafts:    llamaSpeculates,
			Retired:   llamaRetired(),
			Conflicts: func(spec recipe.Spec, version Version) []Conflict {
				return append(splitContext(spec, version), misspelled(llamaSpelling(), llamaKnown(), spec.Args)...)
			},

			WeightsOnGPU: llamaWeightsOnGPU,

			Model: []string{
				"hf-repo", "hf", "hfr", "model-url", "mu", "docker-repo", "dr", "model", "m",
				"models-dir", "models-preset",
			},
			File: namedFile(llamaSpelling, "mmproj", "spec-draft-model", "lora", "control-vector", "chat-template-file",
				"models-dir", "models-preset", "lookup-cache-static", "json-schema-file", "grammar-file"),
			Length:     "ctx-size",
			SlotsSplit: true,
			Spellings:  llamaSpellings(),
		},
		Image: Image{
			Entry: []string{"llama-server"},
			Name:  "ghcr.io/ggml-org/llama.cpp:server-cuda",
			AMD:   "ghcr.io/ggml-org/llama.cpp:server-rocm",
			Caches: []container.Cache{
				hubCache(), {Name: "llama.cpp", Path: "/root/.cache/llama.cpp", Variable: "LLAMA_CACHE"},
			},
		},
		Caches: Caches{Compile: []string{cudaCode}, Hub: append(hubFolder(), "LLAMA_CACHE")},
		API:    llamaAPI(),
		Log: logs.Lines{
			Fatal: llamaFatal(),
			Requests: regexp.MustCompile(
				`log_server_r: +(request|response): |\bprompt: |Parsing (chat message|input)|Parsed message: `),
			Milestones: llamaMilestones(),
		},
		Sim: Sim{Kind: SimulatedLlama, Args: llamaSimArgs()},
	}.started()
}

// llamaAPI is what llama-server can be asked.
func llamaAPI() API {
	return API{
		Owners:       []string{"llamacpp"},
		ListsState:   true,
		Tokenize:     TokenizeLlama,
		ServedName:   llamaServedName,
		HealthPath:   "/health",
		ModelsPath:   "/v1/models",
		TokenizePath: "/tokenize",
		VersionPath:  "/props",
		ModelFile:    "/props",
		Reset:        llamaReset(),
		Describe: []Description{
			{Path: "/props", Arguments: ".", Facts: map[string]logs.Fact{
				"build_info": logs.FactVersion, "total_slots": logs.FactSlots,
				"default_generation_settings.n_ctx": logs.FactContext,
			}},
			{Path: "/v1/models", Facts: map[string]logs.Fact{"data.0.meta.size": logs.FactModelBytes}},
		},
		Body: map[string]any{"cache_prompt": false}, // else a repeated prompt costs nothing
	}
}

// llamaCommand builds `llama-server -m MODEL ...`. Without a model the arguments
// must say where it comes from (hf-repo, model-url). Flags that were renamed are
// spelled as current builds take them (llamaCurrent); a name with its dashes
// ("--draft-max") is left as it stands, for older builds. Added unless the
// arguments name them: --metrics, and --spec-type draft-simple for a draft
// model, which current builds ignore without it.
func llamaCommand(s recipe.Spec) (recipe.Command, error) {
	spelling := llamaSpelling()
	router := s.Model == "" && llamaRouter(s.Args)
	if err := generates(spelling, s, map[string][]any{"embedding": {true}, "rerank": {true}}); err != nil {
		return recipe.Command{}, err
	}
	if router && s.ServedName == "" {
		return recipe.Command{}, fmt.Errorf("served-name: missing: say which of the router's models requests ask for")
	}
	switch {
	case router: // requests alone name the model
	case s.Model == "" && llamaSource(s.Args) != "":
		for _, key := range llamaSources() {
			delete(spelling.Owned, key)
		}
	default:
		if err := needModel(s); err != nil {
			return recipe.Command{}, err
		}
	}

	if strings.Contains(s.ServedName, ",") {
		return recipe.Command{}, fmt.Errorf("served-name: %q contains a comma, and llama-server would take it for "+
			"several names", s.ServedName)
	}

	options, err := spelling.Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := s.Binary
	if s.Model != "" {
		argv = append(argv, LlamaModelFlag(s.Model), s.Model)
	}

	argv = append(argv, "--host", host, "--port", port)
	if name := llamaServedName(s); name != "" && !router {
		argv = append(argv, "--alias", name)
	}
	if !spelling.Has(s.Args, "metrics") {
		argv = append(argv, "--metrics")
	}
	if llamaDrafts(spelling, s.Args) && !spelling.Has(s.Args, "spec-type") {
		argv = append(argv, "--spec-type", "draft-simple")
	}

	var own map[string]string
	if s.APIKey != "" {
		own = map[string]string{"LLAMA_API_KEY": s.APIKey}
	}

	return recipe.Assemble(s, append(argv, options...), own, "LLAMA_API_KEY")
}

// llamaSources are the options that say where the model comes from.
func llamaSources() []string { return []string{"model", "hf-repo", "model-url", "docker-repo"} }

// llamaSource is the model that the arguments name, "" if they name none.
func llamaSource(args []recipe.Arg) string {
	for _, key := range llamaSources() {
		value, _ := llamaSpelling().Find(args, key)
		if text, ok := value.(string); ok {
			return text
		}
	}
	return ""
}

func llamaDrafts(s recipe.Spelling, args []recipe.Arg) bool {
	model, _ := s.Find(args, "spec-draft-model")
	repo, _ := s.Find(args, "spec-draft-hf")
	return model != nil || repo != nil
}

// llamaRepo matches a Hugging Face repository with an optional quantization.
var llamaRepo = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(:[\w.-]+)?$`)

// LlamaModelFlag is how llama-server takes the model: a file, a repository
// to download from, or an address.
func LlamaModelFlag(model string) string {
	switch {
	case strings.HasPrefix(model, "http://"), strings.HasPrefix(model, "https://"):
		return "-mu"
	case llamaRepo.MatchString(model) && !IsGGUF(model):
		return "-hf"
	}
	return "-m"
}

// IsGGUF reports whether the name ends in .gguf, in any case. It does not look at the file.
func IsGGUF(model string) bool { return strings.EqualFold(filepath.Ext(model), ".gguf") }

// llamaServedName is the alias under which the model is served: the file's
// name without its ending, so that the model list can be checked on any build.
func llamaServedName(s recipe.Spec) string {
	name := cmp.Or(s.Model, llamaSource(s.Args))
	if name != "" && LlamaModelFlag(name) != "-hf" {
		path, _, _ := strings.Cut(name, "?")
		name = filepath.Base(path)
		if IsGGUF(name) {
			name = strings.TrimSuffix(name, filepath.Ext(name))
		}
	}
	return cmp.Or(s.ServedName, strings.ReplaceAll(name, ",", "-"))
}

func llamaMetrics() scrape.Metrics {
	return scrape.Metrics{
		Counters: map[string][]string{
			scrape.InputTokensTotal:  {"llamacpp:prompt_tokens_total"}, // without those from the cache
			scrape.OutputTokensTotal: {"llamacpp:tokens_predicted_total"},
			scrape.PrefixQueries:     {"llamacpp:prompt_tokens_total+llamacpp:prompt_tokens_cached_total"},
			scrape.PrefixHits:        {"llamacpp:prompt_tokens_cached_total"},
			scrape.CachedTokensTotal: {"llamacpp:prompt_tokens_cached_total"},
			scrape.DraftsTotal:       {"llamacpp:spec_decode_num_drafts_total"},
			scrape.DraftTokensTotal:  {"llamacpp:spec_decode_num_draft_tokens_total"},
			scrape.AcceptedTotal:     {"llamacpp:spec_decode_num_accepted_tokens_total"},
			scrape.StepsTotal:        {"llamacpp:n_decode_total"},
		},
		Gauges: map[string]scrape.Gauge{
			scrape.Running: {Names: []string{"llamacpp:requests_processing"}},
			scrape.Waiting: {Names: []string{"llamacpp:requests_deferred"}},
			scrape.KVUse:   {Names: []string{"llamacpp:kv_cache_usage_ratio"}, Highest: true},
		},
		AcceptedAt: []string{"llamacpp:spec_decode_num_accepted_tokens_per_pos_total"},
	}
}

func llamaReset() *Reset { return &Reset{Needs: "slot-save-path in args:"} }

func llamaMilestones() []logs.Milestone {
	return []logs.Milestone{
		logs.NewMilestone(`^(\d+\.\d\d\.\d{3}\.\d{3}) .*load_model: loading model`, logs.FactLoadBegins),
		logs.NewMilestone(`^(\d+\.\d\d\.\d{3}\.\d{3}) .*: model loaded$`, logs.FactLoadEnds),
		logs.NewMilestone(`n_slots = (\d+), n_ctx_slot = (\d+)`, logs.FactSlots, logs.FactContext),
		logs.NewMilestone(`^build(?:_info)?: (\S+)`, logs.FactVersion),
	}
}

// llamaFatal holds the last lines of a failing start, because lines before
// them may be about an attempt that is repeated with less memory.
func llamaFatal() []logs.FatalLine {
	return []logs.FatalLine{
		logs.Fatal(results.FailKVCache, "lower ctx-size or parallel",
			`failed to initialize the context: failed to allocate buffer for kv cache`),
		logs.Fatal(results.FailOutOfMemory, "lower ctx-size, parallel or n-gpu-layers",
			`error loading model: unable to allocate`,
			`failed to initialize the context: failed to allocate`,
			`(CUDA|ROCm|HIP) error: out of memory`),
		logs.Fatal(results.FailGPU, "check the driver, dmesg and the GPU's health before the next run",
			`(CUDA|ROCm|HIP|MUSA) error: `, `vk::DeviceLostError`),
		logs.Fatal(results.FailBadFlag,
			"the flag was renamed: give its new name, or install the build that the recipe "+
				"was written for",
			`the argument has been removed`),
		logs.Fatal(results.FailBadFlag, "the recipe may be written for another build of llama-server",
			`^error: invalid argument`, `error while handling argument`),
		logs.Fatal(results.FailDownload, "check the network, or fetch the model before the run",
			`(?i)failed to download`),
		logs.Fatal(results.FailModel, "",
			`error loading model:`, `failed to open GGUF file`, `exiting due to model loading error`),
		// It would continue serving, without the speculation that was asked for.
		logs.Fatal(results.FailModel, "the draft model must have the vocabulary of the model",
			`failed to initialize speculative decoding context`),
		logs.Fatal(results.FailPortInUse, "", `couldn't bind HTTP server socket`),
		logs.Fatal(results.FailFatalLine, "", `exiting due to HTTP server error`, `GGML_ASSERT\(`),
	}
}

// llamaSpeculates reports whether the arguments ask for speculative decoding.
func llamaSpeculates(args []recipe.Arg) (drafts bool, tokens int) {
	s := llamaSpelling()
	kinds, _ := s.Find(args, "spec-type")
	asked, named := kinds.(string)
	drafts = llamaDrafts(s, args) && asked != "none" || named && asked != "none"
	return drafts, wholeOption(s, args, "spec-draft-n-max")
}

// llamaRetired are options that llama-server no longer takes as they stand.
func llamaRetired() []Retirement {
	written := func(arg, instead string) Retirement {
		return Retirement{Arg: arg, Written: true, When: "April 2026", Instead: "write it without dashes, or " +
			instead}
	}
	return []Retirement{
		written("draft-max", "--spec-draft-n-max"), written("draft-min", "--spec-draft-n-min"), written("draft",
			"--spec-draft-n-max"),
	}
}

// tightSlot is the context, in tokens, below which a slot takes few prompts of
// the usual datasets.
const tightSlot = 2048

// Builds of llama-server around the one with which kv-unified began to give
// each slot the whole context (November 2025). Those before it split it anyway.
const (
	lastSplitting = 6900
	firstSharing  = 7000
)

var buildNumber = regexp.MustCompile(`^b?(\d{3,6})\b`)

// llamaBuild is the build's number in a version, 0 if it is not known.
func llamaBuild(version Version) int {
	m := buildNumber.FindStringSubmatch(string(version))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

// splitContext warns of a context that llama-server splits over its slots.
func splitContext(spec recipe.Spec, version Version) []Conflict {
	s, args, build := llamaSpelling(), spec.Args, llamaBuild(version)
	size, slots := wholeOption(s, args, "ctx-size"), wholeOption(s, args, "parallel")
	unified, _ := s.Find(args, "kv-unified")
	if size == 0 || slots < 2 || size/slots >= tightSlot || unified == true && build >= firstSharing {
		return nil
	}

	given := "ctx-size"
	for _, arg := range args {
		if s.Key(arg.Name) == given {
			given = arg.Name
		}
	}

	split := fmt.Sprintf("%d tokens are split over %d slots: a prompt and its answer must fit %d tokens, or the "+
		"request fails", size, slots, size/slots)
	text := given + ": " + split + ": raise it, or set kv-unified: true"
	switch old := build > 0 && build < lastSplitting; {
	case unified == true && old:
		text = fmt.Sprintf("%s: build %d splits it in spite of kv-unified, as all did before November 2025: %s: "+
			"raise it",
			given, build, split)
	case unified == true:
		text = fmt.Sprintf("%s: if llama-server is older than November 2025, it splits it in spite of kv-unified: %s",
			given, split)
	case old:
		text = given + ": " + split + ": raise it"
	}
	return []Conflict{{Arg: given, Message: text, Room: size / slots}}
}

// llamaRouter reports whether the arguments make llama-server a router, which
// starts a server of its own for each model that is asked for.
func llamaRouter(args []recipe.Arg) bool {
	s := llamaSpelling()
	return s.Has(args, "models-dir") || s.Has(args, "models-preset")
}

// llamaSimArgs are the arguments that the simulator acts on.
func llamaSimArgs() map[string]string {
	return map[string]string{
		"ctx-size": "", "c": "ctx-size", "parallel": "", "np": "parallel", "kv-unified": "", "kvu": "kv-unified",
		"model-draft": "speculative-model", "md": "speculative-model", "spec-draft-model": "speculative-model",
		"draft-max": "num-speculative-tokens", "draft": "num-speculative-tokens", "draft-n": "num-speculative-tokens",
		"spec-draft-n-max": "num-speculative-tokens", "seed": "", "s": "seed", "mmproj": "", "mm": "mmproj",
		"mmproj-url": "mmproj", "mmu": "mmproj", "alias": "served-model-name",
		"a": "served-model-name",
	}
}

// llamaTemplate is the starter scenario.
var llamaTemplate = starterHead("llama.cpp's llama-server", "llamacpp") +
	`server:                            # shared by all variants
  launcher: llamacpp
  # binary: /opt/llama.cpp/llama-server   # default: llama-server in PATH
  args:                            # flags of llama-server without the dashes
    ctx-size: 16384                # shared by the slots
    parallel: 8                    # slots, requests served at once
    n-gpu-layers: 99               # 0 on a machine without GPU
    metrics: true                  # its counters are compared with what the client saw
  ready: {timeout: 10m, stall: 2m}

variants:                          # two quantizations of one model, files beside this one
  - name: q4_k_m
    model: model-Q4_K_M.gguf
  - name: q8_0
    model: model-Q8_0.gguf
` + starterSmallLoad + starterEnd
