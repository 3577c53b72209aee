package results

// Methods of a run, as in Manifest.Method.
const (
	MethodServing    = "serving"     // a server, driven by the load client
	MethodSQZB       = "sqzb"        // two server lives a step; see SQZB
	MethodLlamaBench = "llama-bench" // llama.cpp's own benchmark program, no server; see LlamaBenchRow
)

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
		RequestThroughput: times(f.RequestThroughput), RequestGoodput: times(f.RequestGoodput), OutputThroughput: times(f.OutputThroughput),
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
	f.OutputThroughput, f.TotalTokenThroughput, f.MaxOutputTokensPerS = e.OutputThroughput, e.TotalTokenThroughput, e.MaxOutputTokensPerS
	return &f
}

// LlamaBenchRow is one test of llama.cpp's benchmark program.
type LlamaBenchRow struct {
	Test        string            `json:"test"`  // "pp512", "tg128", "pp512+tg128 @ d1024"
	Build       string            `json:"build"` // commit, with its number in brackets where known
	CPU         string            `json:"cpu"`
	GPU         string            `json:"gpu"`
	Backend     string            `json:"backend"`
	File        string            `json:"file"`  // of the model; "": not told
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
	TokensPerSD float64           `json:"tokens_per_s_sd"` // sample deviation over the repetitions
	SamplesS    []float64         `json:"samples_s"`       // seconds of each repetition
	Rest        map[string]string `json:"rest"`            // all other settings that it tells
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
	}

	return MethodServing
}
