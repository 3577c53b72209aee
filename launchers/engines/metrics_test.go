package engines

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/scrape"
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
				scrape.PreemptionsTotal: 2, scrape.InputTokensTotal: 100, scrape.OutputTokensTotal: 50,
				scrape.RequestsTotal: 10, scrape.AcceptedTotal: 7,
				scrape.DraftTokensTotal: 10, scrape.EmittedTotal: 9,
				scrape.QueueRequestsTotal: 10, scrape.QueueSecondsTotal: 1.5,
			}, map[string]float64{scrape.Running: 8, scrape.Swapped: 1, scrape.Waiting: 3, scrape.KVUse: 0.25},
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
				scrape.PrefixQueries: 1500, scrape.PrefixHits: 10, scrape.DraftsTotal: 100,
				scrape.DraftTokensTotal: 300, scrape.AcceptedTotal: 150,
				scrape.AcceptedAt(0): 85, scrape.AcceptedAt(1): 70,
			}, map[string]float64{scrape.Running: 12, scrape.Waiting: 2, scrape.KVUse: 0.75},
		},
		{
			"vLLM 0.8", "vllm",
			"vllm:gpu_prefix_cache_queries_total 5\nvllm:gpu_prefix_cache_hits_total 2\nvllm:gpu_cache_usage_perc 0.1\n",
			map[string]float64{scrape.PrefixQueries: 5, scrape.PrefixHits: 2},
			map[string]float64{scrape.KVUse: 0.1},
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
				scrape.InputTokensTotal: 1000, scrape.OutputTokensTotal: 700, scrape.PrefixQueries: 1000,
				scrape.PrefixHits:        300,
				scrape.CachedTokensTotal: 300,
			},
			map[string]float64{scrape.Running: 5, scrape.Waiting: 2, scrape.KVUse: 0.28},
		},
		{
			"TGI", "tgi",
			"tgi_queue_size 3\ntgi_batch_current_size 9\ntgi_request_success{method=\"generate\"} 4\n" +
				"tgi_request_generated_tokens_sum 80\n",
			map[string]float64{scrape.RequestsTotal: 4, scrape.OutputTokensTotal: 80},
			map[string]float64{scrape.Running: 9, scrape.Waiting: 3},
		},
		{
			"llama-server", "llamacpp", readFile(t, "testdata/metrics/llama-server-b10587-spec.txt"),
			map[string]float64{
				scrape.InputTokensTotal: 36, scrape.OutputTokensTotal: 204, scrape.PrefixQueries: 51,
				scrape.PrefixHits: 15, scrape.CachedTokensTotal: 15,
				scrape.StepsTotal:  74,
				scrape.DraftsTotal: 66, scrape.DraftTokensTotal: 483, scrape.AcceptedTotal: 130,
				scrape.AcceptedAt(0): 42, scrape.AcceptedAt(1): 29, scrape.AcceptedAt(2): 17, scrape.AcceptedAt(3): 11,
				scrape.AcceptedAt(4): 10,
				scrape.AcceptedAt(5): 9, scrape.AcceptedAt(6): 7, scrape.AcceptedAt(7): 5,
			},
			map[string]float64{scrape.Running: 0, scrape.Waiting: 0},
		},
		{
			"unknown engine", "external", "sglang:num_running_reqs 5\nsglang:prompt_tokens_total 10\n",
			map[string]float64{scrape.InputTokensTotal: 10, scrape.PrefixQueries: 10},
			map[string]float64{scrape.Running: 5},
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

// Every kind with metrics has the names that reports are made of.
func TestConformanceMetrics(t *testing.T) {
	t.Parallel()
	for _, kind := range All() {
		if kind.MetricsPath == "" {
			continue
		}
		for _, name := range []string{scrape.InputTokensTotal, scrape.OutputTokensTotal} {
			if len(kind.Counters[name]) == 0 {
				t.Errorf("%s: no counter %s", kind.Name, name)
			}
		}
		for _, name := range []string{scrape.Running, scrape.Waiting} {
			if len(kind.Gauges[name].Names) == 0 {
				t.Errorf("%s: no gauge %s", kind.Name, name)
			}
		}
		for ours := range kind.Counters {
			if scrape.IsGauge(ours) || !strings.HasSuffix(ours, "_total") {
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
			if len(counters) > len(kind.Counters)+scrape.MaxPosition || len(gauges) > len(kind.Gauges) {
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

func TestCountersOfLlamaServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/metrics/llama-server-0.7.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := Lookup("llamacpp")
	got, _ := kind.Translate(string(text))
	want := map[string]float64{
		scrape.InputTokensTotal: 73, scrape.OutputTokensTotal: 2122, scrape.PrefixHits: 183, scrape.PrefixQueries: 256,
		scrape.CachedTokensTotal: 183,
		scrape.DraftsTotal:       0, scrape.DraftTokensTotal: 0, scrape.AcceptedTotal: 0, scrape.StepsTotal: 2116,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters: (-want +got)\n%s", diff)
	}
}
