package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// outputs are the requests of a case as vLLM's client stored them.
func (c vllmCase) outputs() []vllm.Output {
	all := make([]vllm.Output, len(c.Trace))
	for i, q := range c.Trace {
		all[i] = vllm.Output{
			Success: q.Success, StartS: q.StartS, TTFTS: q.TTFTS, ITLS: q.ITLS, LatencyS: q.LatencyS,
			PromptLen: new(q.PromptLen), OutputLen: new(c.Lengths[i]),
		}
	}
	return all
}

func TestCalculateIsVLLMsToTheBit(t *testing.T) {
	for file, g := range map[string]results.Generation{"newest": results.VLLM, "v06": results.VLLM06} {
		var cases []vllmCase
		readJSON(t, "vllm-metrics-"+file+".json", &cases)
		for i, c := range cases {
			f := calculate(c.outputs(), c.params(), g, &describer{percentiles: c.params().percentiles()})
			got := map[string]any{
				"completed": f.Completed, "failed": f.Failed, "total_input": f.TotalInputTokens,
				"total_output":       f.TotalOutputTokens,
				"request_throughput": f.RequestThroughput, "output_throughput": f.OutputThroughput,
				"total_token_throughput": f.TotalTokenThroughput,
				"request_goodput":        f.RequestGoodput, "max_output_tokens_per_s": f.MaxOutputTokensPerS,
				"max_concurrent_requests": f.MaxConcurrentRequests,
			}
			for name, d := range map[string]results.Dist{"ttft": f.TTFT, "tpot": f.TPOT, "itl": f.ITL, "e2el": f.E2EL} {
				got["mean_"+name+"_ms"], got["median_"+name+"_ms"], got["std_"+name+"_ms"] = *d.Mean*1000,
					*d.Median*1000, *d.Std*1000
				var pairs [][2]float64
				for _, p := range d.Percentiles {
					pairs = append(pairs, [2]float64{p.P, *p.Value * 1000})
				}
				got["percentiles_"+name+"_ms"] = pairs
			}
			for name, want := range c.Metrics {
				if name == "rtfx" || name == "request_goodput" && c.GoalsMS == nil {
					continue // audio; nothing asked for
				}
				if text := jsonOf(t, got[name]); text != jsonOf(t, want) {
					t.Errorf("%s case %d: %s = %s, want %s", file, i, name, text, jsonOf(t, want))
				}
			}
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// vllmRun is what a generation's client saved of a real run.
type vllmRun struct {
	Duration float64     `json:"duration"`
	Inputs   []int       `json:"input_lens"`
	Lengths  []int       `json:"output_lens"`
	TTFTS    []float64   `json:"ttfts"`
	ITLS     [][]float64 `json:"itls"`
	Latency  []float64   `json:"latencies"`
	Starts   []float64   `json:"start_times"`
	Queues   []float64   `json:"queue_times"`
	Errors   []string    `json:"errors"`
}

// records turns saved arrays into records, on a clock that starts with the
// first request. Old generations do not save starts.
func (r vllmRun) records() []results.Record {
	all := make([]results.Record, len(r.TTFTS))
	for i, ttft := range r.TTFTS {
		start := 0.0
		if r.Starts != nil {
			start = r.Starts[i] - r.Starts[0]
		}
		rec := results.Record{
			Index: i, SentS: &start, LocalInputTokens: new(r.Inputs[i]),
			TextTokens: new(r.Lengths[i]), OutputTokensSource: results.CountChunks,
		}
		if r.Queues != nil {
			rec.IntendedS = start - r.Queues[i]
		}
		if r.Errors[i] != "" {
			rec.Failure = results.Failf(results.FailTransport, "%s", r.Errors[i])
			all[i] = rec
			continue
		}
		at := start + ttft
		rec.ChunkS = append(rec.ChunkS, at)
		for _, gap := range r.ITLS[i] {
			at += gap
			rec.ChunkS = append(rec.ChunkS, at)
		}
		rec.EndS, rec.DoneS, rec.ChunkKinds = at, &at, strings.Repeat("t", len(rec.ChunkS))
		all[i] = rec
	}
	return all
}

func TestCompatAgreesWithRunsOfTheClients(t *testing.T) {
	for _, tt := range []struct {
		name string
		g    results.Generation
		skip string  // figures that need what the client did not save
		slip float64 // relative: v0.10 reads the clock twice for one first token
	}{
		{"newest", results.VLLM, "", 1e-9},
		{"v010", results.VLLM010, "", 1e-5},
		{"v06", results.VLLM06, "tpot e2el", 1e-9}, // the time of [DONE]
	} {
		t.Run(tt.name, func(t *testing.T) {
			var run vllmRun
			var saved map[string]any
			readJSON(t, "vllm-run-"+tt.name+".json", &run)
			readJSON(t, "vllm-run-"+tt.name+".json", &saved)
			f, _ := compatAlone(run.records(), Params{
				DurationS: run.Duration, Percentiles: []float64{50, 90, 99},
				API: "completions",
			}, tt.g)
			check := func(name string, got *float64) {
				t.Helper()
				want, ok := saved[name].(float64)
				if !ok {
					t.Fatalf("the client saved no %s", name)
				}
				if got == nil || math.Abs(*got-want) > tt.slip*max(1, math.Abs(want)) {
					t.Errorf("%s = %s, want %v", name, jsonOf(t, got), want)
				}
			}
			check("completed", new(float64(f.Completed)))
			check("total_input_tokens", toFloat(f.TotalInputTokens))
			check("total_output_tokens", toFloat(f.TotalOutputTokens))
			check("request_throughput", f.RequestThroughput)
			check("output_throughput", f.OutputThroughput)
			check("total_token_throughput", f.TotalTokenThroughput)
			if tt.g == results.VLLM {
				check("failed", new(float64(f.Failed)))
				check("max_output_tokens_per_s", f.MaxOutputTokensPerS)
				check("max_concurrent_requests", new(float64(*f.MaxConcurrentRequests)))
			}
			for name, d := range map[string]results.Dist{"ttft": f.TTFT, "tpot": f.TPOT, "itl": f.ITL, "e2el": f.E2EL} {
				if strings.Contains(tt.skip, name) {
					continue
				}
				check("mean_"+name+"_ms", new(*d.Mean*1000))
				check("median_"+name+"_ms", new(*d.Median*1000))
				check("std_"+name+"_ms", new(*d.Std*1000))
				for _, p := range d.Percentiles {
					check(PercentileName(p.P)+"_"+name+"_ms", new(*p.Value*1000))
				}
			}
		})
	}
}

func TestCompatDifferences(t *testing.T) {
	for _, tt := range []struct {
		name, records, api string
		g                  results.Generation
		want               string // "code count" each
	}{
		{"nothing", "sent=0 t1 u1 in=3 out=1", "completions", results.VLLM, ""},
		{
			"role first", "sent=0 r0.5 t1 t1.5 u1.5 in=3 out=2", "chat", results.VLLM,
			"empty-chunk-gaps 1, role-first-chunk 1",
		},
		{
			"empty first and last", "sent=0 e0.5 t1 f1.5 u1.5 in=3 out=1", "completions", results.VLLM,
			"empty-chunk-gaps 1, empty-first-chunk 1, empty-last-chunk 1, peak-tokens-chunks 1",
		},
		{
			"an error after a token", "sent=0 t1 x2 fail=in-band-error", "completions", results.VLLM,
			"in-band-error-success 1",
		},
		{
			"an error before a token", "sent=0 x2 fail=in-band-error", "completions", results.VLLM,
			"peak-requests-buckets 1",
		},
		{"cut in order", "sent=0 t1 fail=truncated", "completions", results.VLLM, "truncated-success 1"},
		{"cut out of order", "sent=0 t1 fail=transport", "completions", results.VLLM, "peak-requests-buckets 1"},
		{"no token", "sent=0 f1 u1 out=1 fail=no-tokens", "completions", results.VLLM, "empty-answer-success 1"},
		{"usage beside choices", "sent=0 t1 t2 in=3 local=3 out=2 text=2", "completions", results.VLLM, ""},
		{
			"usage beside choices, other count", "sent=0 t1 t2 in=3 local=3 out=2 text=1", "completions", results.VLLM,
			"usage-ignored 1",
		},
		{
			"usage beside choices, not tokenized", "sent=0 t1 t2 in=3 local=3 out=2", "completions", results.VLLM,
			"usage-ignored 1",
		},
		{"a usage event", "sent=0 t1 u1 in=3 out=1 done=2", "completions", results.VLLM06, "usage-event-failure 1"},
		{
			"late [DONE]", "sent=0 t1 in=3 local=3 out=1 text=1 done=2", "completions", results.VLLM06,
			"latency-until-done 1",
		},
		{"no [DONE]", "sent=0 t1 in=3 local=3 out=1 text=1", "completions", results.VLLM06, "other-failure 1"},
		{"late usage of a chat", "sent=0 t1 u3 in=3 local=3 out=1", "chat", results.VLLM010, "latency-until-usage 1"},
		{"late usage of a completion", "sent=0 t1 u3 in=3 local=3 out=1", "completions", results.VLLM010, ""},
		{
			"own count of the prompt", "sent=0 t1 u1 in=4 local=3 out=1", "completions", results.VLLM010,
			"local-input-count 1",
		},
		{
			"peaks", "sent=0 t0.1 t0.2 u0.2 in=1 out=8\nsent=0.3 t0.4 u0.4 in=1 out=1", "completions", results.VLLM,
			"peak-requests-buckets 1, peak-tokens-chunks 1",
		},
		{"never sent", "fail=canceled", "completions", results.VLLM, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, found := compatAlone(parseRecords(t, tt.records), Params{DurationS: 1, API: tt.api}, tt.g)
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s %d", d.Code, d.Count))
				if d.Effect == "" {
					t.Errorf("difference %s says nothing", d.Code)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("compat(%q, %s, %s) (-want +got):\n%s", tt.records, tt.api, tt.g, diff)
			}
		})
	}
}

func TestDescriberRemembersLargeSamples(t *testing.T) {
	d := &describer{percentiles: []float64{50, 99}}
	a, b := make([]float64, largeSample), make([]float64, largeSample)
	for i := range a {
		a[i], b[i] = float64(i), float64(2*i)
	}
	for _, sample := range [][]float64{a, b, slices.Clone(a), a[:5], b} {
		if diff := cmp.Diff(Describe(sample, d.percentiles), d.describe(sample)); diff != "" {
			t.Errorf("describe (-want +got):\n%s", diff)
		}
	}
	if len(d.samples) != 2 {
		t.Errorf("%d samples are remembered, want 2", len(d.samples))
	}
}

func TestCompatSaysWhatItCannotKnow(t *testing.T) {
	f, _ := compatAlone(parseRecords(t, "sent=0 t1 t2 out=2 in=3"), Params{
		DurationS: 1, API: "completions",
		Goals: Goals{TPOT: new(1.0)},
	}, results.VLLM)
	if f.TotalOutputTokens != nil || f.OutputThroughput != nil || f.TPOT.Mean != nil || f.RequestGoodput != nil ||
		len(f.Unknown) != 2 {
		t.Errorf("Compat = %s, want no output figures and two reasons", jsonOf(t, f))
	}
}

// compatAlone is compat with a describer of its own.
func compatAlone(records []results.Record, p Params, g results.Generation) (results.CompatFigures,
	[]results.Difference,
) {
	return compat(records, p, g, &describer{percentiles: p.percentiles()})
}
