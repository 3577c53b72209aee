package results

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
)

// VLLMOptions say how VLLMJSONWith writes a result.
type VLLMOptions struct {
	Generation  Generation  // VLLM or VLLM06; "": VLLM
	Detailed    bool        // with the arrays of single requests; VLLM06 always has them
	Backend     string      // as --backend named it; "": by the API
	Label       *string     // null: none given
	TokenizerID *string     // null: none used
	Metadata    [][2]string // further names and values, in order
	Metrics     []string    // of "ttft", "tpot", "itl", "e2el", in order; nil: all four
}

// VLLMJSONWith is a result as `vllm bench serve --save-result` writes it: its
// names in its order, its own reading of the run, which r must have. Texts are in
// it where the records keep them. What the reading does not know is null, and
// "unknown" says why: no figure of ours stands under a name of vLLM's. "simulated"
// is there where a simulator answered.
func VLLMJSONWith(r *Result, records []Record, o VLLMOptions) ([]byte, error) {
	if o.Generation == "" {
		o.Generation = VLLM
	}

	reading, ok := r.Compat[o.Generation]
	if !ok {
		return nil, errors.New("write result of vLLM's client: the step has no reading " +
			strconv.Quote(string(o.Generation)))
	}
	if o.Metrics == nil {
		o.Metrics = []string{"ttft", "tpot", "itl", "e2el"}
	}

	out := &object{python: true}
	out.buf.WriteByte('{')
	old := o.Generation == VLLM06
	addSetup(out, r, o, old)
	addTotals(out, reading.CompatFigures, old)
	addRequests(out, outputsOf(r, records, o.Generation), old, o.Detailed)
	if !old {
		out.add("max_output_tokens_per_s", reading.MaxOutputTokensPerS)
		out.add("max_concurrent_requests", reading.MaxConcurrentRequests)
		out.add("rtfx", 0.0)
		addRateChanges(out, r)
		addSpeculative(out, r.Servers)
	}

	dists := map[string]Dist{"ttft": reading.TTFT, "tpot": reading.TPOT, "itl": reading.ITL, "e2el": reading.E2EL}
	for _, name := range o.Metrics {
		addMetric(out, name, dists[name])
	}

	if len(reading.Unknown) > 0 {
		out.add("unknown", reading.Unknown)
	}
	if r.Simulated {
		out.add("simulated", true)
	}

	out.buf.WriteByte('}')
	return out.buf.Bytes(), out.err
}

func addSetup(out *object, r *Result, o VLLMOptions, old bool) {
	out.add("date", vllmDate(r.StartedAt))
	backend := orNull(map[string]string{"completions": "openai", "chat": "openai-chat"}[r.Asked.API])
	if o.Backend != "" {
		backend = &o.Backend
	}
	if !old {
		out.add("endpoint_type", backend)
	}

	out.add("backend", backend)
	if !old {
		out.add("label", o.Label)
	}

	model := ""
	if len(r.Servers) > 0 {
		model = r.Servers[0].Model
	}

	out.add("model_id", orNull(model))
	out.add("tokenizer_id", o.TokenizerID)
	if old {
		out.add("best_of", 1)
	}

	out.add("num_prompts", r.Asked.NumPrompts)
	for _, pair := range o.Metadata {
		out.add(pair[0], pair[1])
	}

	out.add("request_rate", requestRate(r.Asked.RequestRate))
	burstiness := r.Asked.Burstiness
	if burstiness == nil && r.Asked.RequestRate == nil {
		burstiness = new(1.0) // its default, without effect
	}

	out.add("burstiness", burstiness)
	out.add("max_concurrency", r.Asked.MaxConcurrency)
	if ramp := r.Asked.Ramp; ramp != nil {
		out.add("ramp_up_strategy", ramp.Strategy)
		out.add("ramp_up_start_rps", int(ramp.StartRPS))
		out.add("ramp_up_end_rps", int(ramp.EndRPS))
	}
}

// addRateChanges adds the moments of a ramp, in wall clock time.
func addRateChanges(out *object, r *Result) {
	ramp := r.Asked.Ramp
	if ramp == nil || r.Client == nil {
		return
	}

	start, err := time.Parse(time.RFC3339Nano, r.Client.StartTime)
	if err != nil {
		return
	}

	type change struct {
		RPS int    `json:"rps"`
		At  string `json:"timestamp"`
	}

	changes := make([]change, len(ramp.Changes))
	for i, c := range ramp.Changes {
		at := start.Add(time.Duration(c.AtS * float64(time.Second)))
		changes[i] = change{c.RPS, at.Format("2006-01-02T15:04:05.000000")}
	}

	out.add("rps_change_events", changes)
}

func addTotals(out *object, f CompatFigures, old bool) {
	out.add("duration", f.DurationS)
	out.add("completed", f.Completed)
	if !old {
		out.add("failed", f.Failed)
	}

	out.add("total_input_tokens", f.TotalInputTokens)
	out.add("total_output_tokens", f.TotalOutputTokens)
	out.add("request_throughput", f.RequestThroughput)
	if old {
		out.add("request_goodput:", f.RequestGoodput) // the colon is in that client
	} else {
		out.add("request_goodput", f.RequestGoodput)
	}

	out.add("output_throughput", f.OutputThroughput)
	out.add("total_token_throughput", f.TotalTokenThroughput)
}

// outputsOf are the requests in the order of the prompt list.
func outputsOf(r *Result, records []Record, g Generation) []ClientOutput {
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b Record) int { return a.Index - b.Index })
	rows := make([]ClientOutput, 0, len(sorted))
	for i := range sorted {
		if o, made := sorted[i].SeenBy(g, r.Asked.API, r.Asked.UsageAsked()); made {
			rows = append(rows, o)
		}
	}
	return rows
}

// addRequests adds the arrays of single requests; of the newest client's, two
// are there without being asked for.
func addRequests(out *object, rows []ClientOutput, old, detailed bool) {
	all := old || detailed
	if all {
		out.add("input_lens", column(rows, func(c ClientOutput) *int { return c.PromptLen }))
		out.add("output_lens", column(rows, func(c ClientOutput) *int { return c.OutputLen }))
		out.add("ttfts", column(rows, func(c ClientOutput) float64 { return c.TTFTS }))
		out.add("itls", column(rows, func(c ClientOutput) []float64 { return slices.Concat([]float64{}, c.ITLS) }))
	}

	if !old {
		out.add("latencies", column(rows, func(c ClientOutput) float64 { return c.LatencyS }))
		if all {
			out.add("start_times", column(rows, func(c ClientOutput) float64 { return c.StartS }))
		}
		out.add("queue_times", column(rows, func(c ClientOutput) float64 { return c.QueueS }))
	}

	if all {
		out.add("generated_texts", column(rows, func(c ClientOutput) *string { return c.Text }))
		out.add("errors", column(rows, func(c ClientOutput) string { return c.Error }))
	}
}

func column[T any](rows []ClientOutput, of func(ClientOutput) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

// addSpeculative adds what the servers count of speculative decoding.
func addSpeculative(out *object, servers []Server) {
	s := SpeculationOf(servers)
	if s == nil {
		return
	}
	out.add("spec_decode_acceptance_rate", s.AcceptanceRate*100)
	if s.Drafts > 0 {
		out.add("spec_decode_acceptance_length", s.AcceptanceLength)
		out.add("spec_decode_num_drafts", int64(s.Drafts))
	}
	out.add("spec_decode_draft_tokens", int64(s.DraftTokens))
	out.add("spec_decode_accepted_tokens", int64(s.AcceptedTokens))
	if s.PerPosition != nil {
		out.add("spec_decode_per_position_acceptance_rates", s.PerPosition)
	}
}

// encode writes a value, for python with its blanks and its floats.
func (o *object) encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil || !o.python {
		return data, err
	}
	return pythonic(value, data), nil
}
