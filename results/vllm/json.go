package vllm

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/benchrig/bench/internal/pyjson"
	"github.com/benchrig/bench/results"
)

// Options say how JSON writes a result.
type Options struct {
	Generation  results.Generation // "": results.VLLM
	Detailed    bool               // with the arrays of single requests; results.VLLM06 always has them
	Backend     string             // as --backend named it; "": by the API
	Label       *string            // null: none given
	TokenizerID *string            // null: none used
	Metadata    [][2]string        // further names and values, in order
	Metrics     []string           // of "ttft", "tpot", "itl", "e2el", in order; nil: all four
}

// JSON is a result as `vllm bench serve --save-result` writes it: its
// names in its order, its own reading of the run, which r must have. Texts are in
// it where the records keep them. What the reading does not know is null, and
// "unknown" says why: no figure of ours is under a name of vLLM's. "simulated"
// is there where a simulator answered.
func JSON(r *results.Result, records []results.Record, o Options) ([]byte, error) {
	if o.Generation == "" {
		o.Generation = results.VLLM
	}

	reading, ok := r.Compat[o.Generation]
	if !ok {
		return nil, errors.New("write result of vLLM's client: the step has no reading " +
			strconv.Quote(string(o.Generation)))
	}
	if o.Metrics == nil {
		o.Metrics = []string{"ttft", "tpot", "itl", "e2el"}
	}
	if r.Asked.Numbers() {
		o.Metrics = []string{"e2el"}
		reading.TotalOutputTokens, reading.OutputThroughput, reading.MaxOutputTokensPerS = nil, nil, nil
	}

	out := &object{}
	addSetup(out, r, o)
	addTotals(out, reading.CompatFigures, o.Generation)
	addRequests(out, outputsOf(r, records, o.Generation), o.Generation, o.Detailed)
	if o.Generation == results.VLLM {
		out.add("max_output_tokens_per_s", reading.MaxOutputTokensPerS)
		out.add("max_concurrent_requests", reading.MaxConcurrentRequests)
		out.add("rtfx", rtfx(r))
	}
	if o.Generation != results.VLLM06 {
		addProbes(out, r)
		addRateChanges(out, r)
	}
	if o.Generation == results.VLLM {
		addSpeculative(out, r.Servers)
	}

	dists := map[string]results.Dist{
		"ttft": reading.TTFT, "tpot": reading.TPOT, "itl": reading.ITL, "e2el": reading.E2EL,
	}
	for _, name := range o.Metrics {
		out.addLatency(name, dists[name])
	}

	if len(reading.Unknown) > 0 {
		out.add("unknown", reading.Unknown)
	}
	if r.Simulated {
		out.add("simulated", true)
	}

	return slices.Concat([]byte("{"), pyjson.Respace(out.buf.Bytes()), []byte("}")), out.err
}

// rtfx is 0 where no request has audio, as in that client.
func rtfx(r *results.Result) float64 {
	if r.Figures == nil || r.Figures.RTFx == nil {
		return 0
	}
	return *r.Figures.RTFx
}

// object collects the members of a JSON object in order, spelled as by Python.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(name string, value any) {
	if o.buf.Len() > 0 {
		o.buf.WriteByte(',')
	}
	o.write(name)
	o.buf.WriteByte(':')
	o.write(pyjson.Value(value))
}

func (o *object) write(value any) {
	encoder := json.NewEncoder(&o.buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.buf.Truncate(o.buf.Len() - 1) // the encoder's newline
}

func (o *object) addLatency(name string, d results.Dist) {
	for _, figure := range d.Milliseconds(name) {
		o.add(figure.Name, figure.Value)
	}
}

func addSetup(out *object, r *results.Result, o Options) {
	old := o.Generation == results.VLLM06
	out.add("date", results.VLLMDate(r.StartedAt))
	backend := results.VLLMBackend(r.Asked.API)
	if o.Backend != "" {
		backend = &o.Backend
	}
	if !old {
		out.add("endpoint_type", backend)
	}

	if o.Generation != results.VLLM010 {
		out.add("backend", backend)
	}
	if !old {
		out.add("label", o.Label)
	}

	out.add("model_id", r.VLLMModel())
	out.add("tokenizer_id", o.TokenizerID)
	if old {
		out.add("best_of", 1)
	}

	out.add("num_prompts", r.Asked.NumPrompts)
	for _, pair := range o.Metadata {
		out.add(pair[0], pair[1])
	}

	out.add("request_rate", results.VLLMRate(r.Asked.RequestRate))
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

// addProbes adds what vLLM's client says of the probes beside the load.
func addProbes(out *object, r *results.Result) {
	for i := range r.Parts {
		if r.Parts[i].By != results.ByProbe {
			continue
		}
		f := &r.Parts[i].Figures
		ms := func(seconds *float64) *float64 {
			if seconds == nil {
				return nil
			}
			return new(1000 * *seconds)
		}
		var p99 *float64
		for _, p := range f.E2EL.Percentiles {
			if p.P == 99 {
				p99 = p.Value
			}
		}
		out.add("probe_completed", f.Completed)
		out.add("probe_failed", f.Failed)
		out.add("probe_median_e2el_ms", ms(f.E2EL.Median))
		out.add("probe_p99_e2el_ms", ms(p99))
		out.add("probe_max_e2el_ms", ms(f.E2EL.Max))
	}
}

// addRateChanges adds the moments of a ramp, in wall clock time.
func addRateChanges(out *object, r *results.Result) {
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

func addTotals(out *object, f results.CompatFigures, g results.Generation) {
	out.add("duration", f.DurationS)
	out.add("completed", f.Completed)
	if g == results.VLLM {
		out.add("failed", f.Failed)
	}

	out.add("total_input_tokens", f.TotalInputTokens)
	out.add("total_output_tokens", f.TotalOutputTokens)
	out.add("request_throughput", f.RequestThroughput)
	if g == results.VLLM06 {
		out.add("request_goodput:", f.RequestGoodput) // the colon is in that client
	} else {
		out.add("request_goodput", f.RequestGoodput)
	}

	out.add("output_throughput", f.OutputThroughput)
	out.add("total_token_throughput", f.TotalTokenThroughput)
}

// outputsOf are the requests in the order of the prompt list.
func outputsOf(r *results.Result, records []results.Record, g results.Generation) []Output {
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b results.Record) int { return a.Index - b.Index })
	rows := make([]Output, 0, len(sorted))
	for i := range sorted {
		if o, made := Read(&sorted[i], g, r.Asked.API, r.Asked.UsageAsked()); made {
			rows = append(rows, o)
		}
	}
	return rows
}

// addRequests adds the arrays of single requests; of the newest client's, two
// are there without being asked for.
func addRequests(out *object, rows []Output, g results.Generation, detailed bool) {
	all := g == results.VLLM06 || detailed
	if all {
		out.add("input_lens", column(rows, func(c Output) *int { return c.PromptLen }))
		out.add("output_lens", column(rows, func(c Output) *int { return c.OutputLen }))
		out.add("ttfts", column(rows, func(c Output) float64 { return c.TTFTS }))
		out.add("itls", column(rows, func(c Output) []float64 { return slices.Concat([]float64{}, c.ITLS) }))
	}

	if g == results.VLLM {
		out.add("latencies", column(rows, func(c Output) float64 { return c.LatencyS }))
		if all {
			out.add("start_times", column(rows, func(c Output) float64 { return c.StartS }))
		}
		out.add("queue_times", column(rows, func(c Output) float64 { return c.QueueS }))
	}

	if all {
		out.add("generated_texts", column(rows, func(c Output) *string { return c.Text }))
		out.add("errors", column(rows, func(c Output) string { return c.Error }))
	}
}

func column[T any](rows []Output, of func(Output) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

// addSpeculative adds what the servers count of speculative decoding.
func addSpeculative(out *object, servers []results.Server) {
	s := results.SpeculationOf(servers)
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
