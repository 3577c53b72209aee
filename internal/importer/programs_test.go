package importer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestPrograms(t *testing.T) {
	row := func(pl int, more string) string {
		return fmt.Sprintf(`{"n_kv_max": 2048, "n_ubatch": %s, "pp": 128, "tg": 64, "pl": %d, "t_pp": 0.064, `+
			`"speed_pp": 2000, "t_tg": 1.28, "speed_tg": %d, "t": 1.344, "speed": 142.857}`, more, pl, 50*pl)
	}
	for _, c := range []struct {
		name, text, method string
		want               []string // of each step, its first figure and their number
		warned             string   // part of a warning of the first step; "": none
	}{
		{
			"rows within a log, of two settings", strings.Join([]string{
				"main: n_kv_max = 2048", row(1, "512"), row(4, "512"), row(1, "256"), "llama_perf: load time",
			}, "\n"), "llama-batched-bench",
			[]string{"pp128_tg64_b1_prefill_tokens_per_s 2000 of 10", "pp128_tg64_b1_prefill_tokens_per_s 2000 of 5"},
			"",
		},
		{
			"throughput", `{"elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 40000, ` +
				`"requests_per_second": 5.0, "tokens_per_second": 2500.0}`, "vllm-throughput",
			[]string{"tokens_per_s 2500 of 3"},
			"tokens_per_second is 2500, and the count over the time is 2000",
		},
		{
			"latency", `{"avg_latency": 2.0, "std_latency": 0.8, "latencies": [1.0, 2.0, 3.0], "percentiles": {"50": 2.0}}`,
			"vllm-latency",
			[]string{"batch_latency_s 2 of 2"},
			"",
		},
		{
			"startup", `{"avg_cold_startup_time": 60.0, "cold_startup_times": [50.0, 70.0], "avg_warm_startup_time": NaN}`,
			"vllm-startup",
			[]string{"cold_startup_s 60 of 1"},
			"warm startup is not a number",
		},
	} {
		all, err := Import([]Source{{Name: "a.txt", Data: []byte(c.text)}}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, s := range all.Steps {
			m := s.Result.Measures
			got = append(got, fmt.Sprintf("%s %.6g of %d", m[0].Name, *m[0].Value, len(m)))
			if s.Result.Method() != c.method || s.Result.Verdict != results.OK || s.Result.Figures != nil {
				t.Errorf("%s: method %s, %s, figures %v", c.name, s.Result.Method(), s.Result.Verdict, s.Result.Figures)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		warned := slices.ContainsFunc(all.Steps[0].Result.Warnings, func(w results.Warning) bool {
			return w.Code == results.WarnImportedUnusable && strings.Contains(w.Message, c.warned)
		})
		if warned != (c.warned != "") {
			t.Errorf("%s: warnings %v, want %q", c.name, all.Steps[0].Result.Warnings, c.warned)
		}
	}
}
