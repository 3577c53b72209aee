package results

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func someDist(mean float64) Dist {
	return Dist{
		N: 64, Mean: new(mean), Median: new(mean), Std: new(mean / 4), Min: new(mean / 2), Max: new(mean * 2),
		Percentiles: []PercentileFigure{
			{P: 50, Value: new(mean)},
			{P: 99, Value: new(mean * 1.5)},
			{P: 99.9, Value: new(mean * 1.75)},
		},
	}
}

func someResult() *Result {
	return &Result{
		Format: 1, Bench: "v1.2.3", Scenario: "quickstart", Run: "20260101-120000",
		Step:      StepRef{ID: "tp8-c8-r1", Variant: "tp8", Point: "c8", Repeat: 1, Attempt: 1},
		StartedAt: "2026-01-01T12:34:56.789Z", EndedAt: "2026-01-01T12:35:56Z", Verdict: OK,
		Warnings: []Warning{{Code: WarnFewSamples, Message: "p99 stands on 64 samples"}},
		Asked: Asked{
			Endpoint: "/v1/chat/completions", API: "chat", Dataset: "random", NumPrompts: 64, MaxConcurrency: new(8),
			RequestRate: new(4.0), Burstiness: new(1.0), InputLen: new(128), OutputLen: new(32),
		},
		Servers: []Server{{
			Life: "tp8-1", Launcher: "vllm", Model: "meta-llama/Llama-3.1-8B-Instruct",
			Argv: []string{"vllm", "serve"},
		}},
		Figures: &Figures{
			Asked: 64, Completed: 64, DurationS: 12.5, TotalInputTokens: new(int64(8192)),
			TotalOutputTokens: new(int64(2048)),
			RequestThroughput: new(5.12), OutputThroughput: new(163.84), TotalTokenThroughput: new(819.2),
			MaxOutputTokensPerS: new(200.0), PeakConcurrent: 8,
			TTFT: someDist(0.05), TPOT: someDist(0.02), ITL: someDist(0.021), E2EL: someDist(0.7),
			FinishReasons: map[string]int{"length": 64}, TokenSources: map[TokenCount]int{CountUsage: 64},
		},
		Client: &ClientReport{DurationS: 12.5, PeakInFlight: 8},
		Params: map[string]string{"k": "5"},
	}
}

func TestResultJSONGolden(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result *Result
	}{
		{"measured", someResult()},
		{"not-run", &Result{
			Format: 1, Step: StepRef{ID: "a"}, Verdict: NotRun,
			Failure: Failf(FailEarlier, "stopped"),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.MarshalIndent(tt.result, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := "testdata/result-" + tt.name + ".json"
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("result.json (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultJSONRoundTrip(t *testing.T) {
	for _, want := range []*Result{someResult(), {}, {Verdict: Failed, Failure: &Failure{
		Class:    FailExited,
		ExitCode: new(137),
	}}} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Result
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &got); diff != "" {
			t.Errorf("Unmarshal(Marshal(r)) (-want +got):\n%s", diff)
		}
	}
}

// The keys of a result that vLLM's client saved (vllm bench serve, autumn
// 2026, without --save-detailed), less those that stand for single requests,
// its queue times, and audio. Scripts made for it must find all others here.
const vllmKeys = `date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency
	duration completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput
	total_token_throughput max_output_tokens_per_s max_concurrent_requests
	mean_ttft_ms median_ttft_ms std_ttft_ms p50_ttft_ms p99_ttft_ms p99.9_ttft_ms
	mean_tpot_ms median_tpot_ms std_tpot_ms p50_tpot_ms p99_tpot_ms p99.9_tpot_ms
	mean_itl_ms median_itl_ms std_itl_ms p50_itl_ms p99_itl_ms p99.9_itl_ms
	mean_e2el_ms median_e2el_ms std_e2el_ms p50_e2el_ms p99_e2el_ms p99.9_e2el_ms`

func TestResultJSONHasVLLMKeysInOrder(t *testing.T) {
	data, err := json.Marshal(someResult())
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	var keys []string
	depth := 0
	wantKey := false
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			wantKey = token == json.Delim('{')
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			if key, ok := token.(string); ok && depth == 1 && wantKey {
				keys = append(keys, key)
				wantKey = false
				continue
			}
		}
		wantKey = depth == 1
	}
	want := strings.Fields(vllmKeys)
	if len(keys) < len(want) {
		t.Fatalf("top level has %d keys, want at least %d", len(keys), len(want))
	}
	if diff := cmp.Diff(want, keys[:len(want)]); diff != "" {
		t.Errorf("first keys (-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k] {
			t.Errorf("key %q twice at the top level", k)
		}
		seen[k] = true
	}
}

func TestResultJSONRateInfinity(t *testing.T) {
	r := someResult()
	r.Asked.RequestRate = nil
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(data, &top); err != nil {
		t.Fatal(err)
	}
	if top["request_rate"] != "inf" || top["date"] != "20260101-123456" || top["backend"] != "openai-chat" {
		t.Errorf("request_rate, date, backend = %v, %v, %v; want inf, 20260101-123456, openai-chat",
			top["request_rate"], top["date"], top["backend"])
	}
}
