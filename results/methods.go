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
	}

	return MethodServing
}
