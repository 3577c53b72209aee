package metrics

import (
	"math"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
)

// printed is one result block of a published comparison: counts and duration
// as printed, and the rates printed beside them.
type printed struct {
	run                             string
	duration                        float64 // two decimals
	completed, input, output        int
	requestRate, outRate, totalRate float64 // two decimals
}

// Blocks of vLLM's client that people published: parallelism and speculative
// decoding on 8x MI300X, engines and quantizations on Strix Halo, and a load
// profile of a single long request.
func publishedBlocks() []printed {
	return []printed{
		{"tp8", 63.81, 1024, 220902, 191043, 16.05, 2993.85, 6455.63},
		{"tp2 pp4", 393.36, 1024, 220902, 191625, 2.60, 487.14, 1048.72},
		{"tp2", 286.06, 1024, 220902, 192103, 3.58, 671.54, 1443.76},
		{"1b draft, k 5", 116.32, 1024, 220902, 192104, 8.80, 1651.57, 3550.73},
		{"1b draft, k 10", 141.94, 1024, 220902, 191876, 7.21, 1351.84, 2908.18},
		{"8b draft, k 5", 117.36, 1024, 220902, 191582, 8.73, 1632.46, 3514.76},
		{"vLLM fp16 c1", 1295.40, 64, 17809, 11150, 0.05, 8.61, 22.36},
		{"vLLM fp16 c8", 225.80, 64, 17809, 11157, 0.28, 49.41, 128.28},
		{"vLLM fp16 c16", 155.97, 64, 17809, 11256, 0.41, 72.17, 186.35},
		{"vLLM w8a8", 407.27, 64, 17809, 11671, 0.16, 28.66, 72.38},
		{"vLLM GPTQ", 85.72, 64, 17809, 12765, 0.75, 148.91, 356.67},
		{"llama.cpp f16 c1", 412.23, 36, 1339, 5256, 0.09, 12.75, 16.00},
		{"llama.cpp f16 c16", 79.95, 36, 1339, 5345, 0.45, 66.85, 83.60},
		{"llama.cpp Q8_0 c1", 237.27, 36, 1339, 5870, 0.15, 24.74, 30.38},
		{"llama.cpp Q8_0 c16", 35.48, 36, 1339, 5724, 1.01, 161.34, 199.08},
		{"llama.cpp Q4_K_M c1", 237.19, 36, 1339, 5870, 0.15, 24.75, 30.39},
		{"llama.cpp Q4_K_M c16", 32.85, 36, 1339, 5870, 1.10, 178.68, 219.44},
		{"one long request", 87.72, 1, 14336, 2048, 0.01, 23.35, 186.77},
	}
}

// records make a pass with the block's counts: all tokens on the first
// requests, one at least on each.
func (p printed) records() []results.Record {
	all := make([]results.Record, p.completed)
	in, out := p.input, p.output
	for i := range all {
		left := p.completed - i
		input, output := in/left, out/left
		in, out = in-input, out-output
		all[i] = results.Record{
			Index: i, SentS: new(0.0), EndS: 1, ChunkS: []float64{0.5, 1}, ChunkKinds: "tt",
			InputTokens: &input, OutputTokens: &output, OutputTokensSource: results.CountUsage,
		}
	}
	return all
}

// What was printed must be a value that our formulas give for a duration that
// rounds to the printed one.
func TestPublishedBlocks(t *testing.T) {
	const half = 0.005 // of the last printed digit
	for _, p := range publishedBlocks() {
		t.Run(p.run, func(t *testing.T) {
			short := Summarize(p.records(), Params{DurationS: p.duration - half})
			long := Summarize(p.records(), Params{DurationS: p.duration + half})
			for what, c := range map[string]struct {
				printed   float64
				high, low *float64
			}{
				"request throughput": {p.requestRate, short.RequestThroughput, long.RequestThroughput},
				"output throughput":  {p.outRate, short.OutputThroughput, long.OutputThroughput},
				"total throughput":   {p.totalRate, short.TotalTokenThroughput, long.TotalTokenThroughput},
			} {
				if c.high == nil || c.low == nil {
					t.Fatalf("%s is null", what)
				}
				if c.printed < *c.low-half-1e-9 || c.printed > *c.high+half+1e-9 {
					t.Errorf("%s: printed %.2f, our formula allows %.4f to %.4f", what, c.printed, *c.low, *c.high)
				}
				if width := *c.high - *c.low; width > 0.01*c.printed+0.02 {
					t.Errorf("%s: the interval is %.4f wide and proves nothing", what, width)
				}
			}
			if int(*long.TotalInputTokens) != p.input || int(*long.TotalOutputTokens) != p.output ||
				long.Completed != p.completed {
				t.Errorf("counts: %d in, %d out, %d completed", *long.TotalInputTokens, *long.TotalOutputTokens,
					long.Completed)
			}
		})
	}
}

// One answer of 2048 tokens: its end-to-end latency is TTFT and 2047 TPOT, to
// the printed digits.
func TestPublishedLatencies(t *testing.T) {
	const ttft, tpot, duration = 0.15131, 0.04278, 87.72
	if e2el := ttft + 2047*tpot; math.Abs(e2el-duration) > 0.005+2047*0.000005 {
		t.Errorf("E2EL = %v, printed duration %v", e2el, duration)
	}
	r := results.Record{
		SentS: new(0.0), EndS: duration, ChunkKinds: "tt", OutputTokens: new(2048),
		ChunkS: []float64{ttft, ttft + 2047*tpot},
	}
	f := Summarize([]results.Record{r}, Params{DurationS: duration})
	numtest.Near(t, "TTFT", f.TTFT.Mean, ttft, 1e-12)
	numtest.Near(t, "TPOT", f.TPOT.Mean, tpot, 1e-12)
	numtest.Near(t, "p99 TTFT", At(f.TTFT, 99), ttft, 1e-12)
}
