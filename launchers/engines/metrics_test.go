package engines

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Pages of engines as their versions show them, shortened.
func TestTranslateMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, page string
		counters, gauges map[string]float64
	}{
		{
			"vLLM V0", "vllm", `
vllm:num_requests_running{model_name="m"} 8.0
vllm:num_requests_swapped{model_name="m"} 1.0
vllm:num_requests_waiting{model_name="m"} 3.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.25
vllm:gpu_prefix_cache_hit_rate{model_name="m"} -1.0
vllm:num_preemptions_total{model_name="m"} 2.0
vllm:prompt_tokens_total{model_name="m"} 100.0
vllm:generation_tokens_total{model_name="m"} 50.0
vllm:request_success_total{finished_reason="stop",model_name="m"} 4.0
vllm:request_success_total{finished_reason="length",model_name="m"} 6.0
vllm:spec_decode_num_accepted_tokens_total{model_name="m"} 7.0
vllm:spec_decode_num_draft_tokens_total{model_name="m"} 10.0
vllm:spec_decode_num_emitted_tokens_total{model_name="m"} 9.0
vllm:request_queue_time_seconds_bucket{le="0.3",model_name="m"} 5.0
vllm:request_queue_time_seconds_count{model_name="m"} 10.0
vllm:request_queue_time_seconds_sum{model_name="m"} 1.5
`, map[string]float64{
				PreemptionsTotal: 2, InputTokensTotal: 100, OutputTokensTotal: 50, RequestsTotal: 10, AcceptedTotal: 7,
				DraftTokensTotal: 10, EmittedTotal: 9,
				QueueRequestsTotal: 10, QueueSecondsTotal: 1.5,
			}, map[string]float64{Running: 8, Swapped: 1, Waiting: 3, KVUse: 0.25},
		},
		{
			"vLLM V1 with two engines", "vllm", `
vllm:num_requests_running{engine="0",model_name="m"} 8.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting{engine="1",model_name="m"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1000
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 500
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 10
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 0
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 100
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 300
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 150
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 80
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="m",position="0"} 5
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 70
`, map[string]float64{
				PrefixQueries: 1500, PrefixHits: 10, DraftsTotal: 100, DraftTokensTotal: 300, AcceptedTotal: 150,
				AcceptedAt(0): 85, AcceptedAt(1): 70,
			}, map[string]float64{Running: 12, Waiting: 2, KVUse: 0.75},
		},
		{
			"vLLM 0.8", "vllm",
			"vllm:gpu_prefix_cache_queries_total 5\nvllm:gpu_prefix_cache_hits_total 2\nvllm:gpu_cache_usage_perc 0.1\n",
			map[string]float64{PrefixQueries: 5, PrefixHits: 2},
			map[string]float64{KVUse: 0.1},
		},
		{
			"SGLang", "sglang", `
sglang:num_running_reqs{engine_type="unified",model_name="m",tp_rank="0"} 5.0
sglang:num_queue_reqs{model_name="m"} 2.0
sglang:token_usage{model_name="m"} 0.28
sglang:cache_hit_rate{model_name="m"} 0.0075
sglang:prompt_tokens_total{model_name="m"} 1000.0
sglang:generation_tokens_total{model_name="m"} 700.0
sglang:cached_tokens_total{model_name="m"} 300.0
`,
			map[string]float64{
				InputTokensTotal: 1000, OutputTokensTotal: 700, PrefixQueries: 1000, PrefixHits: 300,
				CachedTokensTotal: 300,
			},
			map[string]float64{Running: 5, Waiting: 2, KVUse: 0.28},
		},
		{
			"TGI", "tgi",
			"tgi_queue_size 3\ntgi_batch_current_size 9\ntgi_request_success{method=\"generate\"} 4\n" +
				"tgi_request_generated_tokens_sum 80\n",
			map[string]float64{RequestsTotal: 4, OutputTokensTotal: 80},
			map[string]float64{Running: 9, Waiting: 3},
		},
		{
			"llama-server", "llamacpp", readFile(t, "testdata/metrics/llama-server-b10587-spec.txt"),
			map[string]float64{
				InputTokensTotal: 36, OutputTokensTotal: 204, PrefixQueries: 51, PrefixHits: 15, CachedTokensTotal: 15,
				StepsTotal:  74,
				DraftsTotal: 66, DraftTokensTotal: 483, AcceptedTotal: 130,
				AcceptedAt(0): 42, AcceptedAt(1): 29, AcceptedAt(2): 17, AcceptedAt(3): 11, AcceptedAt(4): 10,
				AcceptedAt(5): 9, AcceptedAt(6): 7, AcceptedAt(7): 5,
			},
			map[string]float64{Running: 0, Waiting: 0},
		},
		{
			"unknown engine", "external", "sglang:num_running_reqs 5\nsglang:prompt_tokens_total 10\n",
			map[string]float64{InputTokensTotal: 10, PrefixQueries: 10},
			map[string]float64{Running: 5},
		},
		{"no metrics", "vllm", "<html>", map[string]float64{}, map[string]float64{}},
	} {
		kind, _ := Lookup(c.kind)
		counters, gauges := kind.Translate(c.page)
		if diff := cmp.Diff(c.counters, counters); diff != "" {
			t.Errorf("%s: counters (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.gauges, gauges); diff != "" {
			t.Errorf("%s: gauges (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCountersWentBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after map[string]float64
		want          []string
	}{
		{map[string]float64{"a": 1, "b": 2}, map[string]float64{"a": 1, "b": 3}, nil},
		{map[string]float64{"b": 2, "a": 2}, map[string]float64{"a": 1, "b": 0}, []string{"a", "b"}},
		{map[string]float64{"a": 2}, map[string]float64{"b": 1}, nil},
		{map[string]float64{Running: 2, KVUse: 1}, map[string]float64{Running: 0, KVUse: 0}, nil},
		{nil, map[string]float64{"a": 1}, nil},
	} {
		if got := CountersWentBack(c.before, c.after); !slices.Equal(got, c.want) {
			t.Errorf("CountersWentBack(%v, %v) = %v, want %v", c.before, c.after, got, c.want)
		}
	}
}

// Every kind with metrics has the names that reports are made of.
func TestConformanceMetrics(t *testing.T) {
	t.Parallel()
	for _, kind := range All() {
		if kind.MetricsPath == "" {
			continue
		}
		for _, name := range []string{InputTokensTotal, OutputTokensTotal} {
			if len(kind.Counters[name]) == 0 {
				t.Errorf("%s: no counter %s", kind.Name, name)
			}
		}
		for _, name := range []string{Running, Waiting} {
			if len(kind.Gauges[name].Names) == 0 {
				t.Errorf("%s: no gauge %s", kind.Name, name)
			}
		}
		for ours := range kind.Counters {
			if IsGauge(ours) || !strings.HasSuffix(ours, "_total") {
				t.Errorf("%s: counter %q is named like a gauge", kind.Name, ours)
			}
		}
	}
}

func FuzzTranslateMetrics(f *testing.F) {
	f.Add("vllm:num_requests_running{engine=\"0\"} " +
		"8\nvllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 3\n")
	f.Add("a{position=\"999999999999\"} 1\n")
	f.Fuzz(func(t *testing.T, page string) {
		for _, kind := range All() {
			counters, gauges := kind.Translate(page)
			if len(counters) > len(kind.Counters)+MaxPosition || len(gauges) > len(kind.Gauges) {
				t.Errorf("%s: translate(%q) = %d counters, %d gauges", kind.Name, page, len(counters), len(gauges))
			}
		}
	})
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
