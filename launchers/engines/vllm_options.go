package engines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/recipe"
)

// vllmOptions are names of the options of vllm serve, of its versions from 0.6
// to 0.22. Those that were removed are in vllmRetired.
const vllmOptions = `
additional-config aggregate-engine-logging all2all-backend allow-credentials allowed-headers
allowed-local-media-path allowed-media-domains allowed-methods allowed-origins api-key api-server-count
async-scheduling attention-backend attention-config block-size calculate-kv-scales chat-template
chat-template-content-format code-revision collect-detailed-traces compilation-config config config-format
convert cp-kv-cache-interleave-size cpu-offload-gb cudagraph-capture-sizes cudagraph-metrics
data-parallel-address data-parallel-backend data-parallel-external-lb data-parallel-hybrid-lb data-parallel-rank
data-parallel-rpc-port data-parallel-size data-parallel-size-local data-parallel-start-rank
dbo-decode-token-threshold dbo-prefill-token-threshold dcp-kv-cache-interleave-size decode-context-parallel-size
default-chat-template-kwargs default-mm-loras device-ids disable-access-log-for-endpoints disable-cascade-attn
disable-chunked-mm-input disable-custom-all-reduce disable-fastapi-docs disable-frontend-multiprocessing
disable-hybrid-kv-cache-manager disable-log-stats disable-logprobs-during-spec-decoding
disable-mm-preprocessor-cache disable-sliding-window disable-uvicorn-access-log distributed-executor-backend
download-dir dtype ec-transfer-config enable-auto-tool-choice enable-chunked-prefill enable-dbo enable-eplb
enable-expert-parallel enable-force-include-usage enable-layerwise-nvtx-tracing enable-log-deltas
enable-log-outputs enable-log-requests enable-lora enable-mfu-metrics enable-mm-embeds enable-prefix-caching
enable-prompt-embeds enable-prompt-tokens-details enable-request-id-headers enable-server-load-tracking
enable-sleep-mode enable-ssl-refresh enable-tokenizer-info-endpoint enforce-eager eplb-config
exclude-tools-when-tool-choice-none expert-placement-strategy fail-on-environ-validation fully-sharded-loras
generation-config gpu-memory-utilization grpc h11-max-header-count h11-max-incomplete-event-size headless
hf-config-path hf-overrides hf-token host ignore-patterns interleave-mm-strings io-processor-plugin
kernel-config kv-cache-dtype kv-cache-memory-bytes kv-cache-metrics kv-cache-metrics-sample kv-events-config
kv-offloading-backend kv-offloading-size kv-sharing-fast-prefill kv-transfer-config language-model-only
limit-mm-per-prompt load-format log-config-file log-error-stack logits-processors logprobs-mode
long-prefill-token-threshold lora-dtype lora-modules mamba-block-size mamba-cache-dtype mamba-cache-mode
mamba-ssm-cache-dtype master-addr master-port max-cpu-loras max-cudagraph-capture-size max-log-len max-logprobs
max-long-partial-prefills max-lora-rank max-loras max-model-len max-num-batched-tokens max-num-partial-prefills
max-num-seqs max-parallel-loading-workers media-io-kwargs middleware mm-encoder-attn-backend mm-encoder-only
mm-encoder-tp-mode mm-processor-cache-gb mm-processor-cache-type mm-processor-kwargs
mm-shm-cache-max-object-size-mb model model-impl model-loader-extra-config model-tag nnodes node-rank
num-gpu-blocks-override optimization-level otlp-traces-endpoint override-attention-dtype
override-generation-config override-pooler-config performance-mode pipeline-parallel-size pooler-config port
prefill-context-parallel-size prefix-caching-hash-algo profiler-config quantization ray-workers-use-nsight
reasoning-parser reasoning-parser-plugin response-role return-tokens-as-token-ids revision root-path runner
safetensors-load-strategy scheduler-cls scheduling-policy seed served-model-name show-hidden-metrics-for-version
shutdown-timeout skip-mm-profiling skip-tokenizer-init spec-method spec-model spec-tokens speculative-config
speculative-model-quantization ssl-ca-certs ssl-cert-reqs ssl-certfile ssl-keyfile stream-interval
structured-outputs-config tensor-parallel-size tokenizer tokenizer-mode tokenizer-revision tokens-only
tool-call-parser tool-parser-plugin tool-server trust-remote-code trust-request-chat-template ubatch-size uds
uvicorn-log-level video-pruning-rate worker-cls worker-extension-cls`

// vllmKnown are all names that an argument of vLLM may have had.
func vllmKnown() []string {
	known := strings.Fields(vllmOptions)
	for _, r := range vllmRetired() {
		known = append(known, r.Arg)
	}
	return known
}

// misspelled finds options that an engine is not known to have, and that are near
// to one of its own.
func misspelled(s recipe.Spelling, known []string, args []recipe.Arg) []Conflict {
	var found []Conflict
	for _, arg := range args {
		name, _, _ := strings.Cut(s.Key(arg.Name), ".")
		if slices.Contains(known, name) || slices.Contains(known, strings.TrimPrefix(name, "no-")) {
			continue
		}
		if near := text.Nearest(name, known); near != "" {
			found = append(found, Conflict{
				Arg: arg.Name,
				Message: fmt.Sprintf("%s: %s is not known to have this option: did you mean %s?", arg.Name, s.Engine,
					near),
			})
		}
	}

	return found
}
