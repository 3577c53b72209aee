package vllmcli

import (
	"strings"
	"testing"
)

// clientFlags are all long flags of vLLM's serving clients: the script of 2024,
// `vllm bench serve` of 2025 and 2026, and the client in Rust. Each has a value
// that asks for something; "" is a switch. "no" before it: the flag is refused,
// with a reason.
const clientFlags = `
--append-result
--asr-max-audio-len-sec no 30
--asr-min-audio-len-sec no 1
--backend openai-chat
--base-url http://127.0.0.1:1
--best-of no 2
--bfcl-categories no simple
--blazedit-max-distance no 0.5
--blazedit-min-distance no 0.5
--burstiness 0.5
--chat-template-kwargs {"thinking":true} --backend openai-chat
--chat-template-kwargs.thinking true --backend openai-chat
--compare no a.json
--config no c.yaml
--custom-ensure-client-side-data no
--custom-output-len 5
--custom-skip-chat-template
--dataset ShareGPT.json
--dataset-name sharegpt
--dataset-path f
--disable-shuffle
--disable-tqdm
--dry-run no
--enable-multimodal-chat
--endpoint /v1/completions
--endpoint-type openai-chat
--extra-body {"a":1}
--extra-body.chat_template_kwargs.enable_thinking false
--frequency-penalty 0.1
--goodput ttft:100
--header A=1
--hf-name n
--hf-output-len 4
--hf-split train
--hf-subset s
--hf-text-column text
--host h
--ignore-eos
--input-len 5
--insecure
--label l
--logprobs 1
--lora-assignment no round-robin
--lora-modules a
--max-concurrency 3
--max-model-len no 4096
--metadata a=1
--metric-percentiles 50
--min-p 0.1
--model m
--multi-turn no
--multi-turn-concurrency no 2
--multi-turn-delay-ms no 5
--multi-turn-max-turns no 5
--multi-turn-min-turns no 5
--multi-turn-num-turns no 5
--multi-turn-prefix-conversation-ratio no 0.5
--multi-turn-prefix-global-ratio no 0.5
--no-oversample
--no-reranker no
--no-self-timed --dataset-name timed_trace
--no-steady-state
--no-stream
--num-prompts 7
--num-runs no 3
--num-warmups 1
--output-len 5
--per-turn-input-len no 5
--percentile-metrics ttft
--plot-dataset-stats no
--plot-timeline no
--port 1
--prefix-repetition-num-prefixes 2
--prefix-repetition-output-len 3
--prefix-repetition-prefix-len 4
--prefix-repetition-suffix-len 5
--presence-penalty 0.1
--probe-request-rate 2
--profile no
--profile-batch-threshold no 3
--profile-duration no 3
--prompt-token-ids
--ramp-up-end-rps 5 --ramp-up-strategy linear --ramp-up-start-rps 1
--ramp-up-start-rps 1 --ramp-up-strategy linear --ramp-up-end-rps 5
--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5
--random-batch-size 4 --backend openai-embeddings
--random-cache-hit-fraction no 0.5
--random-cache-ratio no 0.5
--random-input-len 5
--random-mm-base-items-per-request 2
--random-mm-bucket-config {(256,256,1):1.0}
--random-mm-limit-mm-per-prompt {"image":1}
--random-mm-num-mm-items-range-ratio 0
--random-output-len 5
--random-prefix-len 5
--random-range-ratio 0.5
--ready-check-timeout-sec 5
--repetition-penalty 1.1
--request-id-prefix p
--request-rate 5
--reset-prefix-cache no
--result-dir d
--result-filename f
--save-detailed
--save-result
--seed 5
--self-timed --dataset-name timed_trace
--served-model-name s
--sharegpt-output-len 5
--skip-chat-template
--skip-tokenizer-init
--sonnet-input-len 5
--sonnet-output-len 5
--sonnet-prefix-len 5
--spec-bench-category no math
--spec-bench-output-len no 5
--speed-bench-category no math
--speed-bench-config no throughput_1k
--speed-bench-dataset-subset no throughput_1k
--speed-bench-max-input-len no 5
--speed-bench-output-len no 5
--steady-state-min-window no 5
--steady-state-threshold no 0.5
--sweep-max-concurrency no 1,2
--sweep-num-prompts-factor no 2
--sweep-request-rate no 1,2
--sweep-summary-percentiles no 50
--temperature 0
--timed-trace-chunk-hash-size 512
--timed-trace-label-hash-ids h
--timed-trace-label-input-length i
--timed-trace-label-output-length o
--timed-trace-label-timestamp t
--timed-trace-sec-multiplier 0.001
--timeline-itl-thresholds no 10,20
--tokenizer t
--tokenizer-mode no mistral
--top-k 5
--top-p 0.5
--trust-remote-code
--use-beam-search no
--version 1
`

// TestEveryFlagOfTheClients: a flag is taken, or refused with a reason; with
// underscores, or cut by one letter where that stays clear, it means the same.
func TestEveryFlagOfTheClients(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(clientFlags) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		values, refused := strings.CutPrefix(rest, "no")
		refused = refused && (values == "" || values[0] == ' ')
		if !refused {
			values = rest
		}

		for _, spelled := range []string{name, "--" + strings.ReplaceAll(name[2:], "-", "_")} {
			f, err := parsed(t, spelled+" "+values)
			if err == nil {
				_, err = f.Options()
			}
			if err == nil {
				_, err = f.Dataset.Spec()
			}

			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), "is not supported: ")):
				t.Errorf("%s %s = %v, want it refused with a reason", spelled, values, err)
			case !refused && err != nil:
				t.Errorf("%s %s = %v, want it taken", spelled, values, err)
			}
		}
	}
}

// TestValuesOfTheClients: names that vLLM's clients know are refused with the
// reason where they are not taken.
func TestValuesOfTheClients(t *testing.T) {
	t.Parallel()
	for backend := range strings.FieldsSeq(`vllm openai openai-chat openai-audio openai-embeddings
		openai-embeddings-chat openai-embeddings-clip openai-embeddings-vlm2vec infinity-embeddings
		infinity-embeddings-clip vllm-pooling vllm-rerank tgi lmdeploy deepspeed-mii tensorrt-llm scalellm sglang
		llama.cpp`) {
		_, err := parsed(t, "--backend "+backend)
		if err != nil && !strings.Contains(err.Error(), "is not supported: ") {
			t.Errorf("--backend %s: %v, want it taken, or refused with a reason", backend, err)
		}
	}

	for name := range strings.FieldsSeq(`sharegpt burstgpt sonnet random random-mm random-rerank hf custom custom_audio
		custom_image custom_mm prefix_repetition spec_bench speed_bench txt-slices timed_trace`) {
		backend := map[string]string{
			randomRerank: " --backend vllm-rerank", "random-mm": " --backend openai-chat",
		}[name]
		_, err := mustParse(t, "--dataset-name "+name+backend).Dataset.Spec()
		if err != nil && !strings.Contains(err.Error(), "is not supported: ") {
			t.Errorf("--dataset-name %s: %v, want it taken, or refused with a reason", name, err)
		}
	}

	for _, metric := range []string{"client_queue_time", "e2el_including_client_queue"} {
		_, err := mustParse(t, "--percentile-metrics ttft,"+metric).ShownMetrics()
		if err == nil || !strings.Contains(err.Error(), "queue_times") {
			t.Errorf("--percentile-metrics %s: %v, want the reason", metric, err)
		}
	}
}

func TestDottedFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--extra-body.top_n 3":                                     `{"top_n":3}`,
		"--extra_body.a.b=x --extra-body.a.c true":                 `{"a":{"b":"x","c":true}}`,
		`--extra-body {"a":{"b":1.50},"d":2} --extra-body.a.c=1e2`: `{"a":{"b":1.50,"c":1e2},"d":2}`,
		"--extra-body.stop+ x --extra-body.stop+ y,z":              `{"stop":["x","y","z"]}`,
	} {
		if got := mustParse(t, args).Request.ExtraBody; got != want {
			t.Errorf("%s = %s, want %s", args, got, want)
		}
	}

	o, err := mustParse(t, "--backend openai-chat --chat-template-kwargs.thinking false").Options()
	if kwargs, ok := o.Body["chat_template_kwargs"].(map[string]any); err != nil || !ok || kwargs["thinking"] != false {
		t.Errorf("body = %v, %v, want chat_template_kwargs with thinking false", o.Body, err)
	}

	for args, want := range map[string]string{
		"--extra-body.a":                              "needs a value",
		"--extra-body.a..b 1":                         "a part of the name is empty",
		"--extra-body.a 1 --extra-body.a.b 2":         `"a" has a value already`,
		"--extra-body [] --extra-body.a 1":            "want a JSON object",
		"--model.a 1":                                 "unknown flag",
		"--no-such.a 1":                               "unknown flag",
		"--max-concurency 4":                          "did you mean --max-concurrency?",
		"--self-timed":                                "are for --dataset-name timed_trace",
		"--dataset-name timed_trace --request-rate 5": "leave --request-rate out",
	} {
		if _, err := parsed(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want an error with %q", args, err, want)
		}
	}
	if _, err := mustParse(t, "--chat-template-kwargs {}").Options(); err == nil {
		t.Error("--chat-template-kwargs with completions gave no error")
	}
}

// TestTimedTrace: vLLM's defaults hold under vLLM's name, and ours under ours.
func TestTimedTrace(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		block int
		unit  float64
	}{
		"--dataset-name timed_trace": {16, 1},
		"--dataset-name trace":       {0, 0},
		"--dataset-name timed_trace --timed-trace-chunk-hash-size 512 --timed-trace-sec-multiplier 0.001": {512, 0.001},
	} {
		spec, err := mustParse(t, args+" --dataset-path f").Dataset.Spec()
		if err != nil || spec.Kind != "trace" || spec.BlockLen != want.block || spec.TimeUnitS != want.unit {
			t.Errorf("%s = %+v, %v, want blocks of %d tokens and a unit of %v s", args, spec, err,
				want.block, want.unit)
		}
	}
	if f := mustParse(t, "--dataset f"); f.Dataset.Name != "sharegpt" || f.Dataset.Path != "f" {
		t.Errorf("--dataset f = %+v, want sharegpt from f", f.Dataset)
	}
}
