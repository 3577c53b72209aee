package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// MarshalJSON writes vLLM's --save-result names in vLLM's order, null where a
// value is not known, and then all of Result under our names. The former are
// derived from the latter and ignored when read back.
func (r Result) MarshalJSON() ([]byte, error) {
	out := &object{}
	out.buf.WriteByte('{')
	r.addHead(out)
	f := r.Figures
	if f == nil {
		f = &Figures{}
	}

	addMetric(out, "ttft", f.TTFT)
	addMetric(out, "tpot", f.TPOT)
	itl := f.ICL // vLLM's ITL is the time between chunks
	if itl.N == 0 {
		itl = f.ITL
	}

	addMetric(out, "itl", itl)
	addMetric(out, "e2el", f.E2EL)
	type plain Result
	var whole any = plain(r)
	if r.Figures != nil && !r.measuredByBench() {
		type all struct{ *Figures }
		type told struct {
			all
			KnownCounts // one level higher, so in place of those of the figures
		}
		whole = struct {
			plain
			Figures told `json:"figures"`
		}{plain(r), told{all{r.Figures}, r.Known(r.Figures)}}
	}

	ours, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	if out.err != nil {
		return nil, out.err
	}

	out.buf.WriteByte(',')
	out.buf.Write(bytes.TrimPrefix(ours, []byte("{")))
	return out.buf.Bytes(), nil
}

// addHead adds vLLM's names up to the latencies.
func (r Result) addHead(out *object) {
	out.add("date", vllmDate(r.StartedAt))
	backend := map[string]string{"completions": "openai", "chat": "openai-chat"}[r.Asked.API]
	out.add("endpoint_type", orNull(backend))
	out.add("backend", orNull(backend))
	out.add("label", orNull(r.Step.Variant))
	model := ""
	if len(r.Servers) > 0 {
		model = r.Servers[0].Model
	}

	out.add("model_id", orNull(model))
	out.add("tokenizer_id", nil)
	out.add("num_prompts", r.Asked.NumPrompts)
	out.add("request_rate", requestRate(r.Asked.RequestRate))
	out.add("burstiness", r.Asked.Burstiness)
	out.add("max_concurrency", r.Asked.MaxConcurrency)
	f := r.Figures
	if f == nil {
		for _, name := range []string{
			"duration", "completed", "failed", "total_input_tokens", "total_output_tokens", "request_throughput",
			"request_goodput",
			"output_throughput", "total_token_throughput", "max_output_tokens_per_s", "max_concurrent_requests",
		} {
			out.add(name, nil)
		}
		return
	}

	known := r.Known(f)
	out.add("duration", known.DurationS)
	out.add("completed", known.Completed)
	out.add("failed", known.Failed)
	out.add("total_input_tokens", f.TotalInputTokens)
	out.add("total_output_tokens", f.TotalOutputTokens)
	out.add("request_throughput", f.RequestThroughput)
	out.add("request_goodput", f.RequestGoodput)
	out.add("output_throughput", f.OutputThroughput)
	out.add("total_token_throughput", f.TotalTokenThroughput)
	out.add("max_output_tokens_per_s", f.MaxOutputTokensPerS)
	out.add("max_concurrent_requests", known.PeakConcurrent)
}

// addMetric adds the names of one latency, in milliseconds.
func addMetric(out *object, name string, d Dist) {
	out.add("mean_"+name+"_ms", milliseconds(d.Mean))
	out.add("median_"+name+"_ms", milliseconds(d.Median))
	out.add("std_"+name+"_ms", milliseconds(d.Std))
	for _, p := range d.Percentiles {
		out.add("p"+strconv.FormatFloat(p.P, 'f', -1, 64)+"_"+name+"_ms", milliseconds(p.Value))
	}
}

// object collects the members of a JSON object in order.
type object struct {
	buf    bytes.Buffer
	err    error
	python bool // spaced and spelled as by Python's json.dump
}

func (o *object) add(name string, value any) {
	data, err := o.encode(value)
	if err != nil {
		if o.err == nil {
			o.err = fmt.Errorf("%s: %w", name, err)
		}
		return
	}

	comma, colon := ",", ":"
	if o.python {
		comma, colon = ", ", ": "
	}
	if o.buf.Len() > 1 {
		o.buf.WriteString(comma)
	}

	o.buf.WriteString(strconv.Quote(name) + colon)
	o.buf.Write(data)
}

func vllmDate(rfc3339 string) *string {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil {
		return nil
	}
	date := t.Format("20060102-150405")
	return &date
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func milliseconds(seconds *float64) *float64 {
	if seconds == nil {
		return nil
	}
	ms := *seconds * 1000
	return &ms
}

// requestRate is vLLM's spelling: "inf" where all requests are sent at once.
func requestRate(rate *float64) any {
	if rate == nil {
		return "inf"
	}
	return *rate
}
