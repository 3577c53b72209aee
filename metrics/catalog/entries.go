package catalog

import (
	"slices"

	"github.com/benchrig/bench/results"
)

// passFigures are those of the measured pass, in the order of summary.csv.
func passFigures() []Figure { return slices.Concat(countFigures(), speedFigures(), answerFigures()) }

// countFigures are the counts of the measured pass.
func countFigures() []Figure {
	return []Figure{
		{
			Name: "asked", File: "asked_requests", Whole: true,
			known: func(k results.KnownCounts) *float64 { return float(k.Asked) },
		},
		{
			Name: "completed", File: "completed_requests",
			Whole: true, known: func(k results.KnownCounts) *float64 { return float(k.Completed) },
			Aliases: []string{"completed", "completed requests", "successful requests"},
		},
		{
			Name: "failed", File: "failed_requests",
			Whole: true, known: func(k results.KnownCounts) *float64 { return float(k.Failed) },
			Aliases: []string{"failed", "failed requests"},
		},
		{
			Name: "unsent", File: "unsent_requests", Whole: true,
			known: func(k results.KnownCounts) *float64 { return float(k.Unsent) },
		},
		{
			Name: "duration_s", Unit: "s", known: func(k results.KnownCounts) *float64 { return k.DurationS },
			Aliases: []string{"benchmark duration", "duration", "duration s"},
		},
		{
			Name: "total_input_tokens", Whole: true,
			pass:    func(f *results.Figures) *float64 { return float(f.TotalInputTokens) },
			Aliases: []string{"total input tokens"},
		},
		{
			Name: "total_output_tokens", Whole: true,
			pass:    func(f *results.Figures) *float64 { return float(f.TotalOutputTokens) },
			Aliases: []string{"total generated tokens", "total output tokens"},
		},
		{
			Name: "cached_tokens", Whole: true,
			pass: func(f *results.Figures) *float64 { return float(f.CachedTokens) },
		},
	}
}

// speedFigures are the rates of the measured pass.
func speedFigures() []Figure {
	return []Figure{
		{
			Name: "request_throughput", File: "request_throughput_per_s", Title: "req/s", Unit: "req/s", Higher: true,
			At:       func(f *results.Figures) **float64 { return &f.RequestThroughput },
			Compared: true, Condition: true, Column: Heading{"req/s", ""},
			Aliases: []string{"request throughput", "request throughput per s", "req s", "requests s", "qps"},
		},
		{
			Name: "request_goodput", File: "request_goodput_per_s",
			Title: "goodput req/s", Unit: "req/s", Higher: true, Goals: true,
			At:        func(f *results.Figures) **float64 { return &f.RequestGoodput },
			Condition: true, Drawn: true, Aliases: []string{"request goodput", "request goodput per s"},
		},
		{
			Name: "output_throughput", File: "output_throughput_tokens_per_s",
			Title: "output tok/s", Unit: "tok/s", Higher: true,
			At:       func(f *results.Figures) **float64 { return &f.OutputThroughput },
			Compared: true, Condition: true, Drawn: true, Column: Heading{"output", "tok/s"},
			Aliases: []string{
				"output token throughput", "output throughput", "output throughput tokens per s", "output tok s",
				"output tokens s",
			},
		},
		{
			Name: "total_token_throughput", File: "total_throughput_tokens_per_s",
			Title: "total tok/s", Unit: "tok/s", Higher: true,
			At:       func(f *results.Figures) **float64 { return &f.TotalTokenThroughput },
			Compared: true, Condition: true, Column: Heading{"total", "tok/s"},
			Aliases: []string{
				"total token throughput", "total throughput", "total throughput tokens per s", "total tok s",
				"total tokens s",
			},
		},
		{
			Name: "image_throughput", File: "image_throughput_per_s", Title: "images/s", Higher: true,
			At:       func(f *results.Figures) **float64 { return &f.ImageThroughput },
			Compared: true, Extra: true, Condition: true,
		},
		{
			Name: "rtfx", File: "rtfx", Title: "RTFx", Higher: true,
			At:       func(f *results.Figures) **float64 { return &f.RTFx },
			Compared: true, Extra: true, Condition: true,
		},
		{
			Name: "max_output_tokens_per_s", Unit: "tok/s", Higher: true,
			At:      func(f *results.Figures) **float64 { return &f.MaxOutputTokensPerS },
			Aliases: []string{"peak output token throughput", "max output tokens per s"},
		},
		{
			Name: "peak_concurrent_requests", Whole: true,
			known:   func(k results.KnownCounts) *float64 { return float(k.PeakConcurrent) },
			Aliases: []string{"peak concurrent requests", "max concurrent requests"},
		},
	}
}

// answerFigures are those of the answers: how good they are, and how they came.
func answerFigures() []Figure {
	return []Figure{
		{
			Name: "exact_score", Title: "right answers", Higher: true, Share: true, Compared: true, Extra: true,
			Condition: true,
			Of: func(r *results.Result) *float64 {
				if r.Evaluation == nil {
					return nil
				}
				return &r.Evaluation.Score
			},
		},
		{
			Name: "command_score", Title: "evaluation score", Higher: true, Compared: true, Extra: true,
			Condition: true,
			Of: func(r *results.Result) *float64 {
				if r.CommandScore == nil {
					return nil
				}
				return r.CommandScore.Score
			},
		},
		{
			Name: "tool_call_share", Title: "answers with tool calls", Share: true, Neutral: true,
			Compared: true, Extra: true, Condition: true,
			pass: ofTools(func(t *results.ToolFigures) *float64 { return t.CallShare }),
		},
		{
			Name: "tool_valid_share", Title: "valid tool calls", Share: true, Higher: true,
			Compared: true, Extra: true, Condition: true,
			pass: ofTools(func(t *results.ToolFigures) *float64 { return t.ValidShare }),
		},
		{
			Name: "median_first_tool_call_s", Title: "median first tool call ms", Unit: "ms", Scale: 1000,
			Compared: true, Extra: true, Condition: true,
			pass: ofTools(func(t *results.ToolFigures) *float64 { return t.FirstCall.Median }),
		},
		{Name: "tokens_per_chunk", pass: func(f *results.Figures) *float64 { return f.TokensPerChunk }},
	}
}

// ofTools reads a figure of requests that offered tools; nil where none did.
func ofTools(of func(*results.ToolFigures) *float64) func(*results.Figures) *float64 {
	return func(f *results.Figures) *float64 {
		if f.Tools == nil {
			return nil
		}
		return of(f.Tools)
	}
}

// hardwareFigures are those of all GPUs of a step together.
func hardwareFigures() []Figure {
	const gib = 1.0 / (1 << 30)

	return []Figure{
		{
			Name: "vram_baseline_bytes", Unit: "GiB", Scale: gib, Whole: true, Detail: Heading{"VRAM GiB", "before"},
			gpus: func(g *results.GPUFigures) *float64 { return float(MemoryOf(g).Baseline) },
			file: ofSum(func(g *results.GPUFigures) *float64 { return float(g.VRAMBaseline) }),
		},
		{
			Name: "vram_loaded_bytes", Unit: "GiB", Scale: gib, Whole: true, Detail: Heading{"VRAM GiB", "loaded"},
			gpus: func(g *results.GPUFigures) *float64 { return float(MemoryOf(g).Loaded) },
			file: ofSum(func(g *results.GPUFigures) *float64 { return float(g.VRAMLoaded) }),
		},
		{
			Name: "vram_peak_bytes", Title: "VRAM peak GiB", Unit: "GiB", Scale: gib, Whole: true, Neutral: true,
			Compared: true, Column: Heading{"VRAM", "peak GiB"}, Detail: Heading{"VRAM GiB", "peak"},
			gpus: func(g *results.GPUFigures) *float64 { return float(MemoryOf(g).Peak) },
			file: ofSum(func(g *results.GPUFigures) *float64 { return float(g.VRAMPeak) }),
		},
		{
			Name: "memory_peak_bytes", Unit: "GiB", Scale: gib, Whole: true,
			gpus: func(g *results.GPUFigures) *float64 { return float(g.MemoryPeak) },
		},

		{
			Name: "power_idle_w", Unit: "W", Detail: Heading{"power W", "idle"},
			gpus: func(g *results.GPUFigures) *float64 { return g.IdleW },
		},
		{
			Name: "power_mean_w", Unit: "W", Neutral: true, Powered: true,
			Column: Heading{"power", "mean W"}, Detail: Heading{"power W", "mean"},
			gpus: func(g *results.GPUFigures) *float64 { return g.Pass.PowerMeanW },
		},
		{Name: "power_median_w", Unit: "W", gpus: func(g *results.GPUFigures) *float64 { return g.Pass.PowerMedianW }},
		{
			Name: "power_max_w", Unit: "W", Detail: Heading{"power W", "max"},
			gpus: func(g *results.GPUFigures) *float64 { return g.Pass.PowerMaxW },
		},
		{
			Name: "power_limit_w", Unit: "W", Detail: Heading{"power W", "limit"},
			gpus: func(g *results.GPUFigures) *float64 { return g.PowerLimitW },
		},

		{
			Name: "energy_j", Unit: "J", Detail: Heading{"energy", "J"},
			gpus: func(g *results.GPUFigures) *float64 { return g.Pass.EnergyJ },
		},
		{
			Name: "energy_above_idle_j", Unit: "J",
			gpus: func(g *results.GPUFigures) *float64 { return g.Pass.AboveIdleJ },
		},
		{Name: "energy_counter_j", Unit: "J", gpus: func(g *results.GPUFigures) *float64 { return g.Pass.CounterJ }},

		{
			Name: "gpu_busy_mean", File: "gpu_busy_mean_share",
			gpus: func(g *results.GPUFigures) *float64 { return g.Pass.BusyMean },
		},
		{Name: "core_hz_mean", Unit: "Hz", gpus: func(g *results.GPUFigures) *float64 { return g.Pass.CoreHzMean }},
	}
}

func heatFigures() []Figure {
	return []Figure{{
		Name: "temperature_max_c", Unit: "C", Detail: Heading{"hottest", "C"},
		gpus: func(g *results.GPUFigures) *float64 { return g.Pass.TempMaxC },
	}}
}

// energyFigures are those of the energy for the work done.
func energyFigures() []Figure {
	return []Figure{
		{
			Name: "j_per_output_token", Title: "J/output token", Unit: "J", Powered: true,
			Compared: true, Condition: true, Drawn: true, Column: Heading{"energy", "J/output tok"},
			work: func(e *results.Efficiency) *float64 { return e.JPerOutputToken },
		},
		{
			Name: "j_per_total_token", Unit: "J", Detail: Heading{"J/tok", "all"},
			work: func(e *results.Efficiency) *float64 { return e.JPerTotalToken },
		},
		{
			Name: "j_per_request", Unit: "J", Detail: Heading{"J/req", ""},
			work: func(e *results.Efficiency) *float64 { return e.JPerRequest },
		},
		{
			Name: "output_tokens_per_s_per_w", Unit: "tok/s/W", Higher: true, Detail: Heading{"output", "tok/s/W"},
			work: func(e *results.Efficiency) *float64 { return e.TokensPerSPerW },
		},
	}
}

// costFigures are those of the cost, which are compared only where asked for:
// on the same GPUs they say what the throughput says.
func costFigures() []Figure {
	return []Figure{
		{Name: "price_per_gpu_hour", cost: func(c *results.Cost) *float64 { return c.Price.PerGPUHour }},
		{Name: "price_per_kwh", cost: func(c *results.Cost) *float64 { return c.Price.PerKWh }},
		{Name: "cost_gpus", Whole: true, cost: func(c *results.Cost) *float64 { return float(c.GPUs) }},
		{
			Name: "gpu_hours", Neutral: true, Detail: Heading{"GPU-hours", ""},
			cost: func(c *results.Cost) *float64 { return c.GPUHours },
		},
		{
			Name: "energy_kwh", Neutral: true, Detail: Heading{"energy", "kWh"},
			cost: func(c *results.Cost) *float64 { return c.EnergyKWh },
		},
		{
			Name: "cost_total", Neutral: true, Detail: Heading{Currency, "of the pass"},
			cost: func(c *results.Cost) *float64 { return c.Total },
		},
		{
			Name: "cost_per_million_output_tokens", Title: "cost/1M output tok", Compared: true, Extra: true,
			Column: Heading{"cost " + Currency, "/1M out tok"}, Detail: Heading{Currency, "/1M out tok"},
			cost: func(c *results.Cost) *float64 { return c.PerMillionOutput },
		},
		{
			Name: "cost_per_million_total_tokens", Title: "cost/1M tok", Compared: true, Extra: true,
			Detail: Heading{Currency, "/1M tok"},
			cost:   func(c *results.Cost) *float64 { return c.PerMillionTotal },
		},
		{
			Name: "cost_per_request", Title: "cost/request", Compared: true, Extra: true,
			Detail: Heading{Currency, "/request"},
			cost:   func(c *results.Cost) *float64 { return c.PerRequest },
		},
	}
}

// shareFigures are parts of all requests that were sent or meant to be.
func shareFigures() []Figure {
	share := func(name string, perSecond func(*results.Figures) *float64) Figure {
		return Figure{
			Name: name, Higher: true, Share: true, Condition: true,
			pass: func(f *results.Figures) *float64 { return shareOfAsked(f, perSecond(f)) },
		}
	}

	met := share("goodput_share", func(f *results.Figures) *float64 { return f.RequestGoodput })
	met.Goals = true
	return []Figure{share("success_share", func(f *results.Figures) *float64 { return f.RequestThroughput }), met}
}

// Sample is a sample of times, once for all its statistics.
type Sample struct {
	Name    string // "ttft"
	At      func(*results.Figures) *results.Dist
	Aliases []string // as of Figure

	compared, extra bool
	columns, drawn  []string // statistics
	shown           func(*results.Figures) results.Dist
}

// Samples are all, in the order of summary.csv.
func Samples() []Sample {
	return []Sample{
		{
			Name: "ttft", At: func(f *results.Figures) *results.Dist { return &f.TTFT },
			Aliases: []string{"ttft", "time to first token"}, compared: true,
			columns: []string{"median", "p99"}, drawn: []string{"median", "p99"},
		},
		{
			Name: "tpot", At: func(f *results.Figures) *results.Dist { return &f.TPOT },
			Aliases: []string{"tpot", "time per output token"}, compared: true,
			columns: []string{"median", "p99"}, drawn: []string{"median"},
		},
		{
			Name: "itl", At: func(f *results.Figures) *results.Dist { return &f.ITL },
			Aliases: []string{"itl", "inter token latency"}, compared: true,
			columns: []string{"p99"}, drawn: []string{"p99"}, shown: gaps,
		},
		{
			Name: "e2el", At: func(f *results.Figures) *results.Dist { return &f.E2EL },
			Aliases: []string{"e2el", "e2e latency", "end to end latency"}, compared: true, extra: true,
			columns: []string{"median"}, drawn: []string{"median"},
		},
		{Name: "ttft_from_intended", At: func(f *results.Figures) *results.Dist { return &f.TTFTFromIntended }},
		{Name: "e2el_from_intended", At: func(f *results.Figures) *results.Dist { return &f.E2ELFromIntended }},
		{
			Name: "icl", At: func(f *results.Figures) *results.Dist { return &f.ICL },
			Aliases: []string{"icl"},
		},
	}
}

// gaps are those between chunks where there are none between tokens; such steps
// carry a warning and a mark.
func gaps(f *results.Figures) results.Dist {
	if f.ITL.N == 0 {
		return f.ICL
	}
	return f.ITL
}
