package results

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Methods of a run, as in Manifest.Method.
const (
	MethodServing   = "serving"    // a server, driven by the load client
	MethodSQZB      = "sqzb"       // two server lives a step; see SQZB
	MethodColdStart = "cold-start" // starts of a server, with caches in states that are asked for; see ColdStart

	// Programs that measure an engine without a server; see LlamaBenchRow and Measure.
	MethodLlamaBench     = "llama-bench"
	MethodBatchedBench   = "llama-batched-bench"
	MethodVllmThroughput = "vllm-throughput"
	MethodVllmLatency    = "vllm-latency"
	MethodVllmStartup    = "vllm-startup"
)

// Measure is a figure of a step whose method sends no requests.
type Measure struct {
	Name   string   `json:"name"`  // with its unit at the end: "start_s"
	Title  string   `json:"title"` // for people: "start"
	Unit   string   `json:"unit"`  // of Value: "s", "tok/s"
	Higher bool     `json:"higher_is_better"`
	N      int      `json:"n"`     // samples within the step
	Value  *float64 `json:"value"` // their mean; null: not known
	SD     *float64 `json:"sd"`    // their sample deviation; null: of one sample, or not known
}

// ColdStart says in which states the caches were when the server of a step was
// started.
type ColdStart struct {
	Page    CacheBefore `json:"page_cache"`    // the kernel's, of the model's files
	Compile CacheBefore `json:"compile_cache"` // the engine's, of compiled code
	Hub     CacheBefore `json:"hub_cache"`     // of downloaded models
}

// CacheBefore is a cache before a start.
type CacheBefore struct {
	Asked    string `json:"asked"`    // "cold", "warm", "any"
	Verified *bool  `json:"verified"` // it was as asked; null: nothing was asked, or it is not known
	// of the page cache the bytes of the model's files, else those in the cache's folder; null: not known
	Bytes    *int64 `json:"bytes"`
	Resident *int64 `json:"resident_bytes,omitempty"` // of the page cache: those of them that it held
	After    *int64 `json:"bytes_after,omitempty"`    // in the folder when the server was stopped
	Problem  string `json:"problem,omitempty"`        // why it is not as asked; "": it is
}

// Problems say what was not as asked; nil: nothing, or another method.
func (c *ColdStart) Problems() []string {
	if c == nil {
		return nil
	}

	var all []string
	for _, cache := range []struct {
		name string
		CacheBefore
	}{{"page cache", c.Page}, {"compile cache", c.Compile}, {"hub cache", c.Hub}} {
		if cache.Problem != "" {
			all = append(all, cache.name+" not "+cache.Asked+": "+cache.Problem)
		}
	}
	return all
}

// Measured reports whether a step has figures of any method.
func (r *Result) Measured() bool { return r.Figures != nil || r.OfProgram() }

// OfProgram reports whether a step has figures that no requests of bench gave.
func (r *Result) OfProgram() bool { return len(r.LlamaBench) > 0 || len(r.Measures) > 0 }

// Part are the figures of a class, adapter or stage of the load, or of its probes; nil:
// the step has no such part.
func (r *Result) Part(name string) *Figures {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i].Figures
		}
	}
	return nil
}

// Measure is the measure of a name; the zero Measure if the step has none.
func (r *Result) Measure(name string) Measure {
	for _, m := range r.Measures {
		if m.Name == name {
			return m
		}
	}
	return Measure{}
}

// Extrapolation is what a step's figures would be for several replicas, had
// each done as the one that ran: its time divided and its rates multiplied.
// The step's own Figures are those of the one, as measured.
type Extrapolation struct {
	Factor int `json:"factor"` // replicas that the rates stand for
	Share  int `json:"share"`  // max concurrency of the one that ran; 0: no cap

	DurationS            float64  `json:"duration_s"`
	RequestThroughput    *float64 `json:"request_throughput"`
	RequestGoodput       *float64 `json:"request_goodput"`
	OutputThroughput     *float64 `json:"output_throughput"`
	TotalTokenThroughput *float64 `json:"total_token_throughput"`
	MaxOutputTokensPerS  *float64 `json:"max_output_tokens_per_s"`
}

// Extrapolate makes the figures of one replica those of several.
func Extrapolate(f Figures, factor, share int) *Extrapolation {
	times := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(*v * float64(factor))
	}
	return &Extrapolation{
		Factor: factor, Share: share, DurationS: f.DurationS / float64(factor),
		RequestThroughput: times(f.RequestThroughput), RequestGoodput: times(f.RequestGoodput),
		OutputThroughput:     times(f.OutputThroughput),
		TotalTokenThroughput: times(f.TotalTokenThroughput), MaxOutputTokensPerS: times(f.MaxOutputTokensPerS),
	}
}

// Headline are the figures to show first: the measured ones, and where they are
// one replica's that stands for several, with the duration and the rates of
// all. Such must be marked. Null: nothing was measured.
func (r *Result) Headline() *Figures {
	if r.Figures == nil || r.Extrapolated == nil {
		return r.Figures
	}
	f, e := *r.Figures, r.Extrapolated
	f.DurationS, f.RequestThroughput, f.RequestGoodput = e.DurationS, e.RequestThroughput, e.RequestGoodput
	f.OutputThroughput = e.OutputThroughput
	f.TotalTokenThroughput = e.TotalTokenThroughput
	f.MaxOutputTokensPerS = e.MaxOutputTokensPerS
	return &f
}

// SmokeAnswer is a server's answer to the request that had to succeed before
// anything was measured.
type SmokeAnswer struct {
	Path   string  `json:"path"`
	Status int     `json:"status"` // of HTTP
	Body   string  `json:"body"`   // its beginning
	TookS  float64 `json:"took_s"`
}

// Method is the method that measured a step.
func (r *Result) Method() string {
	switch {
	case r.SQZB != nil:
		return MethodSQZB
	case len(r.LlamaBench) > 0:
		return MethodLlamaBench
	case r.MeasuredBy != "":
		return r.MeasuredBy
	}

	return MethodServing
}

// SQZB are the figures of method sqzb: two passes with the same prompts, each
// on a server of its own, the second asked for one token an answer. Each names
// the pass that it comes from.
type SQZB struct {
	InputTokens  *int64 `json:"input_tokens"`  // pass 1
	OutputTokens *int64 `json:"output_tokens"` // pass 1

	E2ELatencyS           *float64 `json:"e2e_latency_s"`           // pass 1: from the first send to the last answer
	SummarizationLatencyS *float64 `json:"summarization_latency_s"` // pass 2: the same
	// the difference; null where not positive, see Undefined
	GenerationLatencyS *float64 `json:"generation_latency_s"`

	SummarizationThroughput *float64 `json:"summarization_throughput"` // input tokens / s of pass 2
	JPerInputToken          *float64 `json:"j_per_input_token"`        // energy / input tokens of pass 2
	E2EThroughput           *float64 `json:"e2e_throughput"`           // output tokens / s of pass 1
	GenerationThroughput    *float64 `json:"generation_throughput"`    // output tokens / s of the difference

	TTFTMeanS     *float64 `json:"ttft_mean_s"`      // pass 1, waiting in the server's queue included
	QueueMeanS    *float64 `json:"queue_mean_s"`     // pass 1, by the server's own counters; null where it has none
	TTFTUnqueuedS *float64 `json:"ttft_unqueued_s"`  // their difference
	TPOTMeanS     *float64 `json:"tpot_mean_s"`      // pass 1, by vLLM's rule: over n-1 tokens
	TPOTByTokensS *float64 `json:"tpot_by_tokens_s"` // pass 1, by the method's own rule: over all n tokens
	// tokens of pass 1 that the prefill made: one per answer. Generation throughput counts them
	FirstTokens    int      `json:"first_tokens"`
	CachedTokens   *float64 `json:"cached_tokens"`     // pass 2: prompt tokens that a prefix cache saved; null: unknown
	CachedInPass1  *float64 `json:"cached_in_pass_1"`  // of pass 1
	Undefined      string   `json:"undefined"`         // why the figures of the generation are null; "": they are not
	OneTokenPass   *Figures `json:"one_token_pass"`    // pass 2
	OneTokenServer []Server `json:"one_token_servers"` // that answered in pass 2

	OneTokenClient        *ClientReport   `json:"one_token_client"`         // pass 2
	OneTokenCache         *CacheState     `json:"one_token_cache"`          // pass 2
	OneTokenTelemetry     *Telemetry      `json:"one_token_telemetry"`      // pass 2
	OneTokenServerMetrics []ServerMetrics `json:"one_token_server_metrics"` // pass 2
}

// LlamaBenchRow is one test of llama.cpp's benchmark program.
type LlamaBenchRow struct {
	Test        string            `json:"test"`  // "pp512", "tg128", "pp512+tg128 @ d1024"
	Build       string            `json:"build"` // commit, with its number in brackets where known
	CPU         string            `json:"cpu"`
	GPU         string            `json:"gpu"`
	Backend     string            `json:"backend"`
	File        string            `json:"file"`  // of the model; "": not stated
	Model       string            `json:"model"` // kind and quantization: "llama 7B Q4_K - Medium"
	SizeBytes   int64             `json:"size_bytes"`
	Parameters  int64             `json:"parameters"`
	Threads     int               `json:"threads"`
	GPULayers   *int              `json:"gpu_layers"`
	Batch       int               `json:"batch"`
	MicroBatch  int               `json:"micro_batch"`
	FlashAttn   string            `json:"flash_attn"` // "0", "1", "-1" for auto, "": not told
	Prompt      int               `json:"prompt"`     // tokens processed
	Generated   int               `json:"generated"`  // tokens generated
	Depth       int               `json:"depth"`      // tokens in the context before
	TokensPerS  float64           `json:"tokens_per_s"`
	TokensPerSD *float64          `json:"tokens_per_s_sd"` // sample deviation over the repetitions; null: not known
	SamplesS    []float64         `json:"samples_s"`       // seconds of each repetition
	Rest        map[string]string `json:"rest"`            // all other settings that it states
}

// RowSetting is one setting of a test, as llama-bench's own table calls it.
type RowSetting struct{ Name, Value string }

// TestName names what was run, as llama-bench's own table does: "pp512", "tg128",
// "pp512+tg128 @ d1024".
func TestName(prompt, generated, depth int) string {
	var parts []string
	if prompt > 0 {
		parts = append(parts, fmt.Sprintf("pp%d", prompt))
	}
	if generated > 0 {
		parts = append(parts, fmt.Sprintf("tg%d", generated))
	}

	name := strings.Join(parts, "+")
	if depth > 0 {
		name += fmt.Sprintf(" @ d%d", depth)
	}
	return name
}

// Settings are all settings of the test beside its lengths, in a fixed order,
// the model last. Two rows are one test only if all of them are equal.
func (r LlamaBenchRow) Settings() []RowSetting {
	layers := ""
	if r.GPULayers != nil {
		layers = strconv.Itoa(*r.GPULayers)
	}

	all := []RowSetting{
		{"backend", r.Backend},
		{"gpu", r.GPU},
		{"cpu", r.CPU},
		{"build", r.Build},
		{"fa", r.FlashAttn},
		{"b", countOrNone(r.Batch)},
		{"ub", countOrNone(r.MicroBatch)},
		{"t", countOrNone(r.Threads)},
		{"ngl", layers},
	}

	for _, name := range slices.Sorted(maps.Keys(r.Rest)) {
		if !isMeasured(name) {
			all = append(all, RowSetting{name, r.Rest[name]})
		}
	}

	return append(all,
		RowSetting{"model", r.Model},
		RowSetting{"file", r.File},
		RowSetting{"size", countOrNone(r.SizeBytes)},
		RowSetting{"params", countOrNone(r.Parameters)},
	)
}

// OfModel reports whether the setting belongs to the model.
func (s RowSetting) OfModel() bool {
	return s.Name == "model" || s.Name == "file" || s.Name == "size" || s.Name == "params"
}

// ModelName is the model's file without folder and ending, or what the program
// calls the model.
func (r LlamaBenchRow) ModelName() string {
	if r.File == "" {
		return r.Model
	}
	return strings.TrimSuffix(path.Base(r.File), ".gguf")
}

// SameTest reports whether two rows measure the same: test, model and every
// setting agree.
func (r LlamaBenchRow) SameTest(other LlamaBenchRow) bool {
	return r.Test == other.Test && slices.Equal(r.Settings(), other.Settings())
}

// isMeasured distinguishes the measurements among LlamaBenchRow.Rest from settings.
func isMeasured(name string) bool {
	return name == "test_time" || strings.HasPrefix(name, "avg_") || strings.HasPrefix(name, "stddev_") ||
		strings.HasPrefix(name, "samples_")
}

func countOrNone[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}
