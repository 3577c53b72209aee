package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// vllmCase is a pass as vLLM's client saw it, and what it made of it.
type vllmCase struct {
	Trace []struct {
		Success   bool      `json:"success"`
		PromptLen int       `json:"prompt_len"`
		Output    int       `json:"output_tokens"`
		StartS    float64   `json:"start_time_s"`
		TTFTS     float64   `json:"ttft_s"`
		ITLS      []float64 `json:"itl_s"`
		LatencyS  float64   `json:"latency_s"`
	} `json:"trace"`
	DurationS float64            `json:"duration_s"`
	GoalsMS   map[string]float64 `json:"goodput_slo_ms"`
	Metrics   map[string]any     `json:"metrics"`
	Lengths   []int              `json:"actual_output_lens"` // 0 for failed requests
}

// records turns a case into our records; every chunk carries content.
func (c vllmCase) records() []results.Record {
	records := make([]results.Record, len(c.Trace))
	for i, q := range c.Trace {
		r := results.Record{
			Index: i, IntendedS: q.StartS, SentS: new(q.StartS), EndS: q.StartS + q.LatencyS,
			ChunkS: []float64{q.StartS + q.TTFTS}, InputTokens: new(q.PromptLen), OutputTokens: new(q.Output),
			OutputTokensSource: results.CountUsage,
		}
		for _, gap := range q.ITLS {
			r.ChunkS = append(r.ChunkS, r.ChunkS[len(r.ChunkS)-1]+gap)
		}
		r.ChunkKinds = strings.Repeat("t", len(r.ChunkS))
		if !q.Success {
			r.Failure = results.Failf(results.FailTransport, "connection reset")
		}
		records[i] = r
	}
	return records
}

func (c vllmCase) params() Params {
	p := Params{DurationS: c.DurationS, Percentiles: []float64{25, 50, 75, 90, 99, 99.9}}
	for name, ms := range c.GoalsMS {
		switch name {
		case "ttft":
			p.Goals.TTFT = new(ms / 1000)
		case "tpot":
			p.Goals.TPOT = new(ms / 1000)
		case "e2el":
			p.Goals.E2EL = new(ms / 1000)
		}
	}
	return p
}

// equalVLLM compares with vLLM's figure, which stands as 0 where nothing was
// measured. Times are rebuilt from sums and differences, so that the last
// digits of a float64 may differ.
func equalVLLM(t *testing.T, name string, got *float64, want, scale float64) {
	t.Helper()
	switch {
	case got == nil && want != 0:
		t.Errorf("%s = null, want %v", name, want)
	case got != nil && math.Abs(*got*scale-want) > 1e-9*max(1, math.Abs(want)):
		t.Errorf("%s = %v, want %v", name, *got*scale, want)
	}
}

func TestSummarizeAgreesWithVLLM(t *testing.T) {
	var cases []vllmCase
	readJSON(t, "vllm-metrics-newest.json", &cases)
	for i, c := range cases {
		t.Run(fmt.Sprintf("case %d of %d requests", i, len(c.Trace)), func(t *testing.T) {
			got := Summarize(c.records(), c.params())
			want := func(name string) float64 { return c.Metrics[name].(float64) }
			for name, n := range map[string]int{"completed": got.Completed, "failed": got.Failed} {
				if float64(n) != want(name) {
					t.Errorf("%s = %d, want %v", name, n, want(name))
				}
			}
			compareRates(t, c, got, want)
			compareLatencies(t, c, got, want)
		})
	}
}

func compareRates(t *testing.T, c vllmCase, got results.Figures, want func(string) float64) {
	t.Helper()
	input, output := toFloat(got.TotalInputTokens), toFloat(got.TotalOutputTokens)
	equalVLLM(t, "total_input", input, want("total_input"), 1)
	equalVLLM(t, "total_output", output, want("total_output"), 1)
	equalVLLM(t, "request_throughput", got.RequestThroughput, want("request_throughput"), 1)
	if c.GoalsMS != nil {
		equalVLLM(t, "request_goodput", got.RequestGoodput, want("request_goodput"), 1)
	} else if got.RequestGoodput != nil {
		t.Errorf("request_goodput = %v without goals, want null", *got.RequestGoodput)
	}
	equalVLLM(t, "output_throughput", got.OutputThroughput, want("output_throughput"), 1)
	equalVLLM(t, "total_token_throughput", got.TotalTokenThroughput, want("total_token_throughput"), 1)
	// Here ours differ on purpose. vLLM counts every request that touches a
	// second as concurrent in it; so ours can only be smaller.
	if float64(got.PeakConcurrent) > want("max_concurrent_requests") && got.Failed == 0 {
		t.Errorf("peak concurrency = %d, want at most vLLM's %v", got.PeakConcurrent, want("max_concurrent_requests"))
	}
	// vLLM counts a chunk as one token however many it carries.
	multi := got.TokensPerChunk != nil && *got.TokensPerChunk > 1.05
	switch peak := got.MaxOutputTokensPerS; {
	case multi && *peak <= want("max_output_tokens_per_s"):
		t.Errorf("max output tokens/s = %v, want more than vLLM's %v", *peak, want("max_output_tokens_per_s"))
	case !multi:
		equalVLLM(t, "max_output_tokens_per_s", peak, want("max_output_tokens_per_s"), 1)
	}
}

func compareLatencies(t *testing.T, c vllmCase, got results.Figures, want func(string) float64) {
	t.Helper()
	for name, d := range map[string]results.Dist{"ttft": got.TTFT, "tpot": got.TPOT, "itl": got.ICL, "e2el": got.E2EL} {
		if name == "tpot" && hasOneChunkAnswer(c.records()) {
			continue // null here, 0 there
		}
		equalVLLM(t, "mean_"+name, d.Mean, want("mean_"+name+"_ms"), 1000)
		equalVLLM(t, "median_"+name, d.Median, want("median_"+name+"_ms"), 1000)
		equalVLLM(t, "std_"+name, d.Std, want("std_"+name+"_ms"), 1000)
		for _, pair := range c.Metrics["percentiles_"+name+"_ms"].([]any) {
			p, value := pair.([]any)[0].(float64), pair.([]any)[1].(float64)
			equalVLLM(t, PercentileName(p)+"_"+name, At(d, p), value, 1000)
		}
	}
}

// hasOneChunkAnswer reports whether an answer of several tokens came as one
// chunk.
func hasOneChunkAnswer(records []results.Record) bool {
	return slices.ContainsFunc(observeAll(records), func(o Observation) bool {
		return o.OK() && len(o.TokenS) == 1 && o.OutputTokens != nil && *o.OutputTokens > 1
	})
}

func toFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
