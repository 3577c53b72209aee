package engines

import (
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/recipe"
)

// llamaOptions holds a line for each option of llama-server that is not just
// "--name VALUE": all its spellings, the first long one being its name here.
// In front stands what it takes: = a value, + nothing (with a --no- form),
// . nothing, ? on|off|auto, 0 0|1. Collected from --help of builds 10573 and
// 11669 (a test compares).
const llamaOptions = `
. -h --help --usage
. -cl --cache-list
= -t --threads
= -tb --threads-batch
= -C --cpu-mask
= -Cr --cpu-range
0 --cpu-strict
= -Cb --cpu-mask-batch
= -Crb --cpu-range-batch
0 --cpu-strict-batch
0 --poll-batch
= -c --ctx-size
= -n --predict --n-predict
= -b --batch-size
= -ub --ubatch-size
. --swa-full
? -fa --flash-attn
+ --perf
+ -e --escape
+ -kvo --kv-offload
+ --repack
. -nkvo --no-kv-offload
. -nr --no-repack
. --no-host
= -ctk --cache-type-k
= -ctv --cache-type-v
= -dt --defrag-thold
+ --mmap
. --mlock
+ -dio --direct-io
. -ndio --no-direct-io
= -lm --load-mode
= -lzm --lazy-mode
= -dev --device
. --list-devices
= -ot --override-tensor
. -cmoe --cpu-moe
= -ncmoe --n-cpu-moe
= -ncffn --n-cpu-ffn
= -ngl --gpu-layers --n-gpu-layers
= -sm --split-mode
= -ts --tensor-split
= -mg --main-gpu
? -fit --fit
= -fitt --fit-target
= -fitc --fit-ctx
. --check-tensors
+ --op-offload
= -m --model
= -mu --model-url
= -dr --docker-repo
= -hf -hfr --hf-repo
= -hff --hf-file
= -hft --hf-token
. --log-disable
? --log-colors
. -v --verbose --log-verbose
. --offline
= -lv --verbosity --log-verbosity
+ --log-prefix
+ --log-timestamps
+ --log-jsonl
= -ctkd --spec-draft-type-k --cache-type-k-draft
= -ctvd --spec-draft-type-v --cache-type-v-draft
= -s --seed
= --sampler-seq --sampling-seq
. --ignore-eos
= --temp --temperature
= --top-nsigma --top-n-sigma
= --typical --typical-p
= -l --logit-bias
= -j --json-schema
= -jf --json-schema-file
. -bs --backend-sampling
= -hfd -hfrd --spec-draft-hf --hf-repo-draft
= -td --spec-draft-threads --threads-draft
= -tbd --spec-draft-threads-batch --threads-batch-draft
= -Cd --spec-draft-cpu-mask --cpu-mask-draft
= -Crd --spec-draft-cpu-range --cpu-range-draft
0 --spec-draft-cpu-strict --cpu-strict-draft
= --spec-draft-prio --prio-draft
0 --spec-draft-poll --poll-draft
= -Cbd --spec-draft-cpu-mask-batch --cpu-mask-batch-draft
0 --spec-draft-cpu-strict-batch --cpu-strict-batch-draft
= --spec-draft-prio-batch --prio-batch-draft
0 --spec-draft-poll-batch --poll-batch-draft
= -otd --spec-draft-override-tensor --override-tensor-draft
. -cmoed --spec-draft-cpu-moe --cpu-moe-draft
= -ncmoed --spec-draft-n-cpu-moe --spec-draft-ncmoe --n-cpu-moe-draft
= --spec-draft-p-split --draft-p-split
= --spec-draft-p-min --draft-p-min
+ --spec-draft-backend-sampling
= -devd --spec-draft-device --device-draft
= -ngld --spec-draft-ngl --gpu-layers-draft --n-gpu-layers-draft
= -md --spec-draft-model --model-draft
= -lcs --lookup-cache-static
= -lcd --lookup-cache-dynamic
= -ctxcp --ctx-checkpoints --swa-checkpoints
= -cms --checkpoint-min-step
= -cram --cache-ram
+ -kvu --kv-unified
. -no-kvu --no-kv-unified
+ --cache-idle-slots
+ --context-shift
= -r --reverse-prompt
. -sp --special
+ --warmup
. --spm-infill
= -np --parallel
+ -cb --cont-batching
. -nocb --no-cont-batching
= -mm --mmproj
= -mmu --mmproj-url
+ --mmproj-auto
+ --mmproj-offload
= -mmdev --mmproj-device
= -a --alias
. --reuse-port
+ --cors-credentials
= --ui-config --webui-config
= --ui-config-file --webui-config-file
+ --ui-mcp-proxy --webui-mcp-proxy
+ -ag --agent
. -no-ag --no-agent
+ --ui --webui
. --embedding --embeddings
. --rerank --reranking
= -to --timeout
+ --cache-prompt
. --metrics
. --props
+ --slots
+ --models-autoload
+ --jinja
? -rea --reasoning
+ --reasoning-preserve
+ --skip-chat-parsing
+ --prefill-assistant
= -sps --slot-prompt-similarity
. --lora-init-without-apply
`

// llamaValues are the names of the other options of those builds: each takes a
// value.
const llamaValues = `
adaptive-decay adaptive-target api-key api-key-file api-prefix cache-reuse chat-template chat-template-file
chat-template-kwargs completion-bash control-vector control-vector-layer-range control-vector-scaled cors-headers
cors-methods cors-origins draft draft-max draft-min draft-n draft-n-min dry-allowed-length dry-base dry-multiplier
dry-penalty-last-n dry-sequence-breaker dynatemp-exp dynatemp-range embd-gemma-default embd-normalize
fim-qwen-1.5b-default fim-qwen-14b-spec fim-qwen-30b-default fim-qwen-3b-default fim-qwen-7b-default
fim-qwen-7b-spec frequency-penalty gpt-oss-120b-default gpt-oss-20b-default grammar grammar-file host
image-max-tokens image-min-tokens keep kv-unified-per-slot log-file log-prompts-dir lora lora-scaled
mcp-servers-config mcp-servers-json media-path min-p mirostat mirostat-ent mirostat-lr models-dir models-max
models-preset moe-cache-mib mtmd-batch-max-tokens numa override-kv path poll pooling port presence-penalty prio
prio-batch reasoning-budget reasoning-budget-message reasoning-effort reasoning-format repeat-last-n repeat-penalty
rope-freq-base rope-freq-scale rope-scale rope-scaling rpc samplers sleep-idle-seconds slot-save-path spec-default
spec-draft-n-max spec-draft-n-min spec-draft-n-ubatch spec-draft-sampling spec-ngram-map-k-min-hits
spec-ngram-map-k-size-m spec-ngram-map-k-size-n spec-ngram-map-k4v-min-hits spec-ngram-map-k4v-size-m
spec-ngram-map-k4v-size-n spec-ngram-min-hits spec-ngram-mod-n-match spec-ngram-mod-n-max spec-ngram-mod-n-min
spec-ngram-simple-min-hits spec-ngram-simple-size-m spec-ngram-simple-size-n spec-ngram-size-m spec-ngram-size-n
spec-synth-len spec-synth-rates spec-type sse-ping-interval ssl-cert-file ssl-key-file tags threads-http tools
tools-runtime top-k top-p version video-ffmpeg-dir video-fps video-timestamp-interval vision-gemma-12b-default
vision-gemma-4b-default xtc-probability xtc-threshold yarn-attn-factor yarn-beta-fast yarn-beta-slow yarn-ext-factor
yarn-orig-ctx
`

// llamaKnown are all names that an argument of llama-server may have.
func llamaKnown() []string {
	known := append(strings.Fields(llamaValues), "draft-n", "draft-min", "draft-n-min", "draft-max", "draft-model",
		"draft", "mlock", "mmap", "no-mmap", "direct-io", "dio")
	for word := range strings.FieldsSeq(llamaOptions) {
		if strings.HasPrefix(word, "-") {
			known = append(known, strings.TrimLeft(word, "-"))
		}
	}
	return known
}

// llamaOption is one line of llamaOptions.
type llamaOption struct {
	name  string // the first long spelling
	takes byte
	short bool // the spelling that was looked up has a single dash
}

// llamaWeightsOnGPU reports whether all weights are on the GPU: without arguments that
// keep a part in main memory or spread the parts unevenly. Nearly a hundred layers are
// meant as all.
func llamaWeightsOnGPU(args []recipe.Arg) bool {
	const all = 99
	if !hasNone(llamaSpelling, "override-tensor", "cpu-moe", "n-cpu-moe", "device", "tensor-split", "main-gpu",
		"split-mode")(args) {
		return false
	}
	layers, given := llamaSpelling().Find(args, llamaLookup("ngl").name)
	if !given || layers == nil {
		return true
	}
	text, err := recipe.Scalar(layers)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(text)
	return text == "all" || err == nil && n >= all
}

// llamaLookup finds an option by any of its spellings without dashes. A spelling that
// is not known is an option with a value of its own name; one of one or two letters has
// a single dash.
func llamaLookup(spelling string) llamaOption {
	for line := range strings.Lines(llamaOptions) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		for _, word := range words[1:] {
			if strings.TrimLeft(word, "-") == spelling {
				return llamaOption{
					name: llamaName(words[1:]), takes: words[0][0],
					short: !strings.HasPrefix(word, "--"),
				}
			}
		}
	}
	return llamaOption{name: spelling, takes: '=', short: len(spelling) <= 2}
}

func llamaName(spellings []string) string {
	for _, word := range spellings {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			return name
		}
	}
	return ""
}

func llamaSpelling() recipe.Spelling {
	return recipe.Spelling{
		Engine:    "llama-server",
		Rename:    llamaCurrent,
		Short:     func(name string) bool { return llamaLookup(name).short },
		Canonical: func(name string) string { return llamaLookup(name).name },
		Falsehood: llamaFalse,
		BoolValue: llamaBool,
		List:      llamaList,
		Owned: map[string]string{
			"host": "host", "port": "port", "alias": "served-name", "api-key": "api-key",
			"model": "model", "hf-repo": "model", "model-url": "model", "docker-repo": "model",
		},
	}
}

// llamaFormer are former names of options, and the friendly one of a draft model.
func llamaFormer() map[string]string {
	return map[string]string{
		"draft": "spec-draft-n-max", "draft-n": "spec-draft-n-max", "draft-max": "spec-draft-n-max",
		"draft-min": "spec-draft-n-min", "draft-n-min": "spec-draft-n-min",
		"draft-model": "spec-draft-model",
	}
}

// llamaCurrent gives an argument the name and value that current builds take.
// Friendly and former spellings on the left are good in a recipe:
//
//	draft, draft-n, draft-max   spec-draft-n-max
//	draft-min, draft-n-min      spec-draft-n-min
//	draft-model                 spec-draft-model
//	mlock: true                 load-mode mlock
//	mmap: false, no-mmap: true  load-mode none
//	direct-io: true             load-mode dio
func llamaCurrent(arg recipe.Arg) recipe.Arg {
	if name, ok := llamaFormer()[arg.Name]; ok {
		arg.Name = name
		return arg
	}

	modes := map[string]struct{ on, off any }{
		"mlock":     {on: "mlock"},
		"mmap":      {on: "mmap", off: "none"},
		"no-mmap":   {on: "none"},
		"direct-io": {on: "dio"},
		"dio":       {on: "dio"},
	}

	mode, isMode := modes[arg.Name]
	on, isBool := arg.Value.(bool)
	switch {
	case isMode && isBool && on:
		return recipe.Arg{Name: "load-mode", Value: mode.on}
	case isMode && isBool:
		return recipe.Arg{Name: "load-mode", Value: mode.off}
	}

	return arg
}

// llamaFalse is the --no- form of a switch that has one; others are left out.
func llamaFalse(name string) string {
	if llamaLookup(name).takes == '+' {
		return "--no-" + name
	}
	return ""
}

func llamaBool(name string, on bool) string {
	switch takes := llamaLookup(name).takes; {
	case takes == '?' && on:
		return "on"
	case takes == '?':
		return "off"
	case takes == '0' && on:
		return "1"
	case takes == '0':
		return "0"
	}
	return ""
}

// llamaList: most lists are one word with commas; where a value may hold a
// comma itself the option is repeated.
func llamaList(name string) recipe.ListForm {
	switch name {
	case "control-vector-layer-range":
		return recipe.Spread
	case "lora", "lora-scaled", "control-vector", "control-vector-scaled", "override-kv", "logit-bias",
		"reverse-prompt", "dry-sequence-breaker":
		return recipe.Repeated
	}
	return recipe.Comma
}

// llamaSpellings are the short and older names of flags of llama-server.
func llamaSpellings() map[string]string {
	all := map[string]string{}
	for former, name := range llamaFormer() {
		all["--"+former] = "--" + name
	}
	for line := range strings.Lines(llamaOptions) {
		words := strings.Fields(line)
		for _, word := range words[min(1, len(words)):] {
			if name := "--" + llamaName(words[1:]); word != name {
				all[word] = name
			}
		}
	}
	return all
}
