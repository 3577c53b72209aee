package catalog

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Figure is a figure of a step by which variants are compared.
type Figure struct {
	Name   string  // as in summary.csv: "output_throughput", "p99_ttft_s"
	Title  string  // for people: "p99 TTFT ms"
	Unit   string  // of the shown value: "tok/s", "ms"
	Scale  float64 // base unit to shown unit
	Higher bool    // is better
	P      float64 // the percentile that it is; 0: none
	Of     func(*results.Result) *float64
	Sample func(*results.Figures) results.Dist // behind a latency; nil: none
	Extra  bool                                // compared only where asked for
}

// Headline are the figures of the comparison, in the order of reports:
// rates, latencies, cost, energy and memory.
func Headline() []Figure {
	figures := []Figure{
		rateOf("request_throughput", "req/s", "req/s",
			func(f *results.Figures) *float64 { return f.RequestThroughput }),
		rateOf("output_throughput", "output tok/s", "tok/s",
			func(f *results.Figures) *float64 { return f.OutputThroughput }),
		rateOf("total_token_throughput", "total tok/s", "tok/s",
			func(f *results.Figures) *float64 { return f.TotalTokenThroughput }),
	}

	for _, l := range []struct {
		name   string
		sample func(*results.Figures) results.Dist
	}{
		{"ttft", func(f *results.Figures) results.Dist { return f.TTFT }},
		{"tpot", func(f *results.Figures) results.Dist { return f.TPOT }},
		{"itl", func(f *results.Figures) results.Dist { return f.ITL }},
		{"e2el", func(f *results.Figures) results.Dist { return f.E2EL }},
	} {
		extra := l.name == "e2el"
		figures = append(figures, latencyFigures(l.name, l.sample, extra)...)
	}

	return append(
		append(figures, costFigures()...),
		Figure{Name: "j_per_output_token", Title: "J/output token", Unit: "J", Scale: 1, Of: joulesPerOutputToken},
		Figure{Name: "vram_peak_bytes", Title: "VRAM peak GiB", Unit: "GiB", Scale: 1.0 / (1 << 30), Of: vramPeak},
	)
}

func rateOf(name, title, unit string, of func(*results.Figures) *float64) Figure {
	return Figure{Name: name, Title: title, Unit: unit, Scale: 1, Higher: true, Of: OfFigures(of)}
}

// latencyFigures are mean, median and p99 of a sample.
func latencyFigures(name string, sample func(*results.Figures) results.Dist, extra bool) []Figure {
	const p, ms = 99, 1000
	upper := strings.ToUpper(name) + " ms"
	figure := func(kind string, of func(results.Dist) *float64) Figure {
		return Figure{
			Name: kind + "_" + name + "_s", Title: kind + " " +
				upper, Unit: "ms", Scale: ms, Sample: sample, Extra: extra,
			Of: OfFigures(func(f *results.Figures) *float64 { return of(sample(f)) }),
		}
	}

	tail := figure("p99", func(d results.Dist) *float64 { return metrics.At(d, p) })
	tail.P = p
	return []Figure{
		figure("mean", func(d results.Dist) *float64 { return d.Mean }),
		figure("median", func(d results.Dist) *float64 { return d.Median }),
		tail,
	}
}

// OfFigures is null for steps without figures. Where one replica stands for
// several the rates are those of all.
func OfFigures(of func(*results.Figures) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		f := r.Headline()
		if f == nil {
			return nil
		}
		return of(f)
	}
}

func joulesPerOutputToken(r *results.Result) *float64 {
	if r.Telemetry == nil || r.Telemetry.Efficiency == nil {
		return nil
	}
	return r.Telemetry.Efficiency.JPerOutputToken
}

func vramPeak(r *results.Result) *float64 {
	if r.Telemetry == nil || r.Telemetry.Sum == nil {
		return nil
	}
	peak := r.Telemetry.Sum.VRAMPeak
	if r.Telemetry.Sum.Unified && r.Telemetry.Sum.MemoryPeak != nil {
		peak = r.Telemetry.Sum.MemoryPeak
	}
	if peak == nil {
		return nil
	}
	return new(float64(*peak))
}

// FiguresOf are the figures by which steps can be compared: those of
// HeadlineFigures, or where they are of llama.cpp's own benchmark, its tests.
func FiguresOf(steps []*results.Result) []Figure {
	runs := testRuns(steps)
	if runs == nil {
		return inCurrency(append(passFigures(steps), Headline()...), steps)
	}
	figures := testFigures(runs)
	return append(figures, slices.DeleteFunc(Headline(), func(f Figure) bool { return f.Name != "vram_peak_bytes" })...)
}

// passFigures are the throughputs of method sqzb, where a step has them; that of
// the whole answers is among the headline figures.
func passFigures(steps []*results.Result) []Figure {
	if !slices.ContainsFunc(steps, func(r *results.Result) bool { return r.SQZB != nil }) {
		return nil
	}

	figure := func(name, title string, of func(*results.SQZB) *float64) Figure {
		return Figure{
			Name: name, Title: title, Unit: "tok/s", Scale: 1, Higher: true,
			Of: func(r *results.Result) *float64 {
				if r.SQZB == nil {
					return nil
				}
				return of(r.SQZB)
			},
		}
	}

	return []Figure{
		figure("summarization_throughput", "summarization tok/s",
			func(s *results.SQZB) *float64 { return s.SummarizationThroughput }),
		figure("generation_throughput", "generation tok/s",
			func(s *results.SQZB) *float64 { return s.GenerationThroughput }),
	}
}
