package vllmcli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
)

func parsed(t *testing.T, args string) (*Flags, error) {
	t.Helper()
	var f Flags
	fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
	f.AddFlags(fs)
	return &f, f.Parse(fs, strings.Fields(args))
}

func mustParse(t *testing.T, args string) *Flags {
	t.Helper()
	f, err := parsed(t, args)
	if err != nil {
		t.Fatalf("Parse(%s) failed: %v", args, err)
	}
	return f
}

func TestSpreadFollowsArgparse(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--num-prompts 5", "--num-prompts=5"},
		{"--num_prompts=5", "--num-prompts=5"},
		{"--save_result --seed 1", "--save-result --seed=1"},
		{"--goodput ttft:100 tpot:20 --seed 1", "--goodput=ttft:100 --goodput=tpot:20 --seed=1"},
		{"--metadata a=1 b=2", "--metadata=a=1 --metadata=b=2"},
		{"--header A=1 --ignore-eos", "--header=A=1 --ignore-eos"},
		{"--custom-output-len -1", "--custom-output-len=-1"},
		{"--num-prom 5", "--num-prompts=5"},
		{"--extra-body {\"a\":1}", "--extra-body={\"a\":1}"},
		{"--no-such-flag 3", "--no-such-flag 3"},
		{"-h", "-h"},
	}
	for _, tt := range tests {
		var f Flags
		fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
		f.AddFlags(fs)
		got, err := spread(fs, strings.Fields(tt.args))
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("spread(%s) = %q, %v, want %s", tt.args, got, err, tt.want)
		}
	}
}

// FuzzSpread: what was spread once stays as it is.
func FuzzSpread(f *testing.F) {
	f.Add("--goodput a b --num_prompts 3 --custom-output-len -1 x")
	f.Add("--metadata --seed --header a")
	f.Add("--random-input 5 --")
	f.Fuzz(func(t *testing.T, text string) {
		var flags Flags
		fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
		flags.AddFlags(fs)
		once, err := spread(fs, strings.Fields(text))
		if err != nil {
			return
		}
		twice, err := spread(fs, once)
		if err != nil || !slices.Equal(once, twice) {
			t.Errorf("spread(%q) = %q, %v, want it unchanged", once, twice, err)
		}
	})
}

// Command lines that people run with vLLM's client.
func TestCommandLinesOfVLLM(t *testing.T) {
	for _, args := range []string{
		"--model m --dataset-name random --random-input-len 1024 --random-output-len 128 --num-prompts 100",
		"--backend vllm --model m --endpoint /v1/completions --dataset-name sharegpt --dataset-path s.json " +
			"--num-prompts 10 --request-rate inf --seed 42",
		"--backend openai-chat --base-url http://h:1/v1 --endpoint /v1/chat/completions --model m --dataset-name " +
			"random-mm --max-concurrency 4 --random-mm-bucket-config {(256,256,1):1.0}",
		"--host 0.0.0.0 --port 8001 --model m --trust-remote-code --percentile-metrics ttft,tpot,itl,e2el " +
			"--metric-percentiles 50,90,99 --ignore-eos --save-result --result-dir r",
		"--dataset-name custom --dataset-path c.jsonl --custom-output-len -1 --skip-chat-template --disable-shuffle",
		"--backend tgi --endpoint /generate_stream --model m",
		"--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 10 --model m",
		"--tokenizer-mode auto --random-batch-size 1 --lora-assignment random",
	} {
		mustParse(t, args)
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--use-beam-search", "--use-beam-search is not supported: beam search"},
		{"--lora-assignment round-robin", "--lora-assignment is not supported"},
		{"--profile", "--profile is not supported"},
		{"--tokenizer-mode slow", "--tokenizer-mode is not supported"},
		{"--random-batch-size 4", "--backend openai takes one prompt a request"},
		{"--backend vllm-score", "it needs dataset random-rerank or jsonl"},
		{"--backend vllm-pooling --dataset-name random-rerank", "dataset random-rerank is for rerank and score"},
		{"--backend openai-embeddings --compat vllm-0.6", "has no embeddings API"},
		{"--backend openai-audio", "takes audio: it needs dataset random-audio or audio"},
		{"--dataset-name random-audio", "takes no audio: dataset random-audio is for transcriptions"},
		{"--dataset-name random-mm", "takes no images"},
		{"--backend openai-audio --dataset-name audio --compat vllm", "leave it out"},
		{"--backend openai-audio --dataset-name audio --evaluate", "--evaluate asks questions as text"},
		{"--backend openai-audio --dataset-name audio --probe-request-rate 1", "probes are texts"},
		{"--num-prompts 0", "--num-prompts must be at least 1"},
		{"--max-concurrency 0", "--max-concurrency must be at least 1"},
		{"--request-rate 0", "--request-rate must be above 0"},
		{"--backend trt", `--backend "trt": want one of openai`},
		{"--backend openai-chat --endpoint /v1/completions", "takes completions requests"},
		{"--backend openai --endpoint /v1/chat/completions", "takes chat requests"},
		{"--no-such-flag 1", "unknown flag: --no-such-flag"},
		{"stray", `argument "stray" belongs to no flag`},
		{"--random", "could be"},
		{"--ramp-up-strategy linear", "needs --ramp-up-start-rps"},
		{"--ramp-up-start-rps 1", "need --ramp-up-strategy"},
		{"--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 4", "must be above 0"},
		{
			"--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 4 --request-rate 3",
			"leave --request-rate out",
		},
		{"--compat vllm-0.7", `--compat "vllm-0.7": want one of vllm`},
		{"--transport carrier-pigeon", "--transport must be"},
		{"--duration 5s --compat vllm", "no version of vLLM's client does"},
		{"--until p99_itl:5", `"p99_itl" is not a percentile of ttft, tpot or e2el`},
		{"--until p99_ttft", "want FIGURE:PERCENT"},
		{"--until p99_ttft:0", "the margin must be above 0 %"},
		{"--until p99_ttft:5 p99_ttft:6", "p99_ttft is given twice"},
		{"--until p99_ttft:5 --compat vllm", "no version of vLLM's client ends early"},
		{"--until p99_ttft:5 --agent h", "need a single load client"},
		{"--end-overloaded", "overload is judged at a constant request rate"},
		{"--probe-request-rate -1", "want 0 to 100"},
		{"--probe-request-rate 2 --compat vllm-0.10", "has no probes"},
		{"--probe-request-rate 2 --agent h", "needs a single load client"},
		{"--probe-request-rate 2 --backend openai-embeddings", "answers with numbers"},
		{"--stages 2", "want RATE:DURATION or cN:DURATION"},
		{"--stages 2:1s c3:1s", "either all stages have a request rate, or all have a cap"},
		{"--stages 2:1s --request-rate 3", "leave --request-rate"},
		{"--stages c2:1s --max-concurrency 3", "leave --max-concurrency"},
		{"--stages 2:1s --compat vllm", "no version of vLLM's client has stages"},
		{"--lora-modules a b:0", "want NAME, or NAME:WEIGHT"},
		{"--lora-modules a a", "want names, each once"},
		{"--lora-modules a --compat vllm", "requests that are all alike"},
		{"--priority -2", "--priority -2: want 0 or more"},
		{"--min-success 1.5", "--min-success must be from 0 to 1"},
	}
	for _, tt := range tests {
		if _, err := parsed(t, tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%s) = %v, want an error with %q", tt.args, err, tt.want)
		}
	}
}

func TestNotesOfFlagsWithoutEffect(t *testing.T) {
	f := mustParse(t, "--trust-remote-code --dataset-name custom --dataset-path c")
	if len(f.Notes) != 2 || !strings.Contains(f.Notes[0], "--trust-remote-code has no effect") ||
		!strings.Contains(f.Notes[1], "chat template") {
		t.Errorf("Notes = %q, want one of --trust-remote-code and one of the template", f.Notes)
	}
}

func TestResultPath(t *testing.T) {
	at := time.Date(2026, 9, 1, 10, 20, 30, 0, time.UTC)
	tests := []struct{ args, model, want string }{
		{"", "org/name", "openai-infqps-name-20260901-102030.json"},
		{"--request-rate 10 --max-concurrency 4", "m", "openai-10.0qps-concurrency4-m-20260901-102030.json"},
		{"--request-rate 0.5 --label night --result-dir d", "m", "d/night-0.5qps-m-20260901-102030.json"},
		{
			"--backend vllm --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9", "m",
			"vllm-ramp-up-linear-1qps-9qps-m-20260901-102030.json",
		},
		{"--result-filename x.json --result-dir a/b", "m", "a/b/x.json"},
	}
	for _, tt := range tests {
		if got := mustParse(t, tt.args).ResultPath(tt.model, at); got != tt.want {
			t.Errorf("ResultPath(%s) = %q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestDatasetSpec(t *testing.T) {
	ratio := 0.0
	tests := []struct {
		args string
		want dataset.Spec
	}{
		{"", dataset.Spec{Kind: "random", N: 1000, InputLen: 1024, OutputLen: 128, Shuffle: true}},
		{"--input-len 7 --output-len 9 --compat vllm", dataset.Spec{
			Kind: "random", N: 1000, InputLen: 7, OutputLen: 9,
			Shuffle: true, Compat: "vllm",
		}},
		{`--random-range-ratio {"input":0.5,"output":0.0} --seed 3`, dataset.Spec{
			Kind: "random", N: 1000,
			InputLen: 1024, OutputLen: 128, RangeRatio: 0.5, RangeRatioOutput: &ratio, Seed: 3, Shuffle: true,
		}},
		{
			"--dataset-name sharegpt --dataset-path s --sharegpt-output-len 5 --no-oversample",
			dataset.Spec{Kind: "sharegpt", Path: "s", N: 1000, OutputLen: 5, NoOversample: true, Shuffle: true},
		},
		{"--dataset-name sonnet --dataset-path s", dataset.Spec{
			Kind: "sonnet", Path: "s", N: 1000, InputLen: 550,
			OutputLen: 150, PrefixLen: 200, Shuffle: true,
		}},
		{"--dataset-name custom --dataset-path s --custom-output-len -1 --disable-shuffle", dataset.Spec{
			Kind: "custom",
			Path: "s", N: 1000,
		}},
		{"--dataset-name prefix_repetition --num-prompts 20", dataset.Spec{
			Kind: "prefix_repetition", N: 20,
			PrefixLen: 256, SuffixLen: 256, NumPrefixes: 10, OutputLen: 128, Shuffle: true,
		}},
		{"--dataset-name hf --dataset-path d --hf-subset s --hf-output-len 4", dataset.Spec{
			Kind: "hf", Path: "d",
			N: 1000, Subset: "s", OutputLen: 4, Shuffle: true,
		}},
		{
			"--backend openai-chat --dataset-name random-mm --random-mm-base-items-per-request 9 --random-mm-limit-mm-per-prompt " +
				"{\"image\":2,\"video\":0} --random-mm-bucket-config {(256,512,1):0.25,(720,1280,16):0.0}",
			dataset.Spec{
				Kind: "random_mm", N: 1000, InputLen: 1024, OutputLen: 128, Shuffle: true,
				Images: &dataset.Images{PerRequest: 2, Sizes: []dataset.ImageSize{{
					Width: 512, Height: 256,
					Weight: 0.25,
				}}},
			},
		},
	}
	for _, tt := range tests {
		got, err := mustParse(t, tt.args).Dataset.Spec()
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("Spec(%s): %v (-want +got):\n%s", tt.args, err, diff)
		}
	}
}

func TestDatasetSpecRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--dataset-name spec_bench": "convert it for dataset custom",
		"--dataset-name no_such":    "want one of random",
		"--random-range-ratio much": "want a number",
		"--backend openai-chat --dataset-name random-mm --random-mm-bucket-config {(1,2,3):1}":         "a video",
		"--backend openai-chat --dataset-name random-mm --random-mm-bucket-config {}":                  "want {(height",
		"--backend openai-chat --dataset-name random-mm --random-mm-num-mm-items-range-ratio 0.5":      "not supported",
		"--backend openai-chat --dataset-name random-mm --random-mm-limit-mm-per-prompt {image}":       "invalid character",
		"--backend openai-chat --dataset-name random-mm --random-mm-bucket-config {(256,256,1):0.0}":   "leaves no size",
		"--backend openai-chat --dataset-name random-mm --random-mm-bucket-config {(256,256,1):1}junk": "want {(height",
	} {
		if _, err := mustParse(t, args).Dataset.Spec(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Spec(%s) = %v, want an error with %q", args, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	f := mustParse(t,
		"--backend sglang --endpoint generate --header A=b=c D=e --extra-body {\"k\":1.50} --temperature 0 --top-k "+
			"5 --max-concurrency 3 --compat vllm --request-id-prefix q-")
	o, err := f.Options()
	if err != nil {
		t.Fatal(err)
	}
	if o.Target.API != "sglang" || o.Target.Path != "/generate" || o.Target.Headers["A"] != "b=c" ||
		o.Target.Headers["D"] != "e" {
		t.Errorf("Target = %+v, want sglang at /generate with two headers", o.Target)
	}
	if *o.Sampling.Temperature != 0 || *o.Sampling.TopK != 5 || o.Sampling.TopP != nil || o.MaxConcurrency != 3 ||
		!o.IgnoreEOS || o.RequestIDPrefix != "q-" {
		t.Errorf("Options = %+v", o)
	}
	if text := o.Body["k"]; text == nil || !strings.Contains(strings.TrimSpace(toText(text)), "1.50") {
		t.Errorf("Body = %v, want k spelled 1.50", o.Body)
	}
	if o, _ := mustParse(t, "--compat vllm-0.6").Options(); o.IgnoreEOS {
		t.Errorf("IgnoreEOS is on by itself with compat vllm-0.6, whose client left it off")
	}
}

func toText(v any) string {
	if s, ok := v.(interface{ String() string }); ok {
		return s.String()
	}
	return ""
}

func TestGoalsAndShown(t *testing.T) {
	f := mustParse(t, "--goodput ttft:100.5 e2el:2000 --metric-percentiles 99,50 --percentile-metrics e2el,ttft")
	goals, err := f.Goals()
	if want := map[string]time.Duration{"ttft": 100500 * time.Microsecond, "e2el": 2 * time.Second}; err != nil ||
		!cmp.Equal(goals, want) {
		t.Errorf("Goals() = %v, %v, want %v", goals, err, want)
	}
	if got, err := f.ShownPercentiles(); err != nil || !slices.Equal(got, []float64{50, 99}) {
		t.Errorf("ShownPercentiles() = %v, %v, want 50 and 99", got, err)
	}
	if got, err := f.ShownMetrics(); err != nil || !slices.Equal(got, []string{"ttft", "e2el"}) {
		t.Errorf("ShownMetrics() = %v, %v, want ttft and e2el", got, err)
	}
	for _, args := range []string{"--goodput ttft", "--goodput speed:1", "--goodput ttft:x"} {
		if _, err := mustParse(t, args).Goals(); err == nil {
			t.Errorf("Goals(%s) gave no error", args)
		}
	}
}

// TestOddValues: values that argparse takes and that were misread.
// No flag takes what is not a number, and inf only those of which it is a value.
func TestFlagsAreFinite(t *testing.T) {
	for _, args := range []string{
		"--temperature nan", "--top-p inf", "--min-p -inf", "--ready-check-timeout-sec nan",
		"--timed-trace-sec-multiplier inf", "--request-rate nan", "--request-rate -inf", "--burstiness nan",
		"--random-mm-num-mm-items-range-ratio nan",
	} {
		if _, err := parsed(t, args); err == nil || !strings.Contains(err.Error(), "want a finite number") {
			t.Errorf("%s: %v, want it refused", args, err)
		}
	}
	for _, args := range []string{"--request-rate inf", "--burstiness inf", "--temperature 0"} {
		if _, err := parsed(t, args); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestOddValues(t *testing.T) {
	for _, args := range []string{
		"--goodput ttft:inf", "--goodput ttft:1e300", `--extra-body {"a":1}x`,
		`--extra-body {"a":1}{"b":2}`,
	} {
		f := mustParse(t, args)
		_, goals := f.Goals()
		_, options := f.Options()
		if goals == nil && options == nil {
			t.Errorf("%s: no error", args)
		}
	}
	f := mustParse(t,
		`--host fe80::1%eth0 --port 8000 --timeline-itl-thresholds 25,50 --stop ### --max-tokens-field max_tokens`)
	if got := f.Base(); got != "http://[fe80::1%25eth0]:8000" {
		t.Errorf("Base = %s", got)
	}
	o, err := f.Options()
	if err != nil || len(o.Sampling.Stop) != 1 || o.Sampling.Stop[0] != "###" || o.MaxTokensField != "max_tokens" {
		t.Errorf("Options = %+v, %v", o, err)
	}
}
