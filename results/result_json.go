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

	itl := f.ICL // vLLM's ITL is the time between chunks
	if itl.N == 0 {
		itl = f.ITL
	}

	for _, figures := range [][]Milliseconds{
		f.TTFT.Milliseconds("ttft"), f.TPOT.Milliseconds("tpot"), itl.Milliseconds("itl"), f.E2EL.Milliseconds("e2el"),
	} {
		for _, figure := range figures {
			out.add(figure.Name, figure.Value)
		}
	}

	type plain Result
	var whole any = plain(r)
	if r.Figures != nil && !r.MeasuredByBench() {
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
	out.add("date", VLLMDate(r.StartedAt))
	backend := VLLMBackend(r.Asked.API)
	out.add("endpoint_type", backend)
	out.add("backend", backend)
	out.add("label", orNull(r.Step.Variant))
	out.add("model_id", r.VLLMModel())
	out.add("tokenizer_id", nil)
	out.add("num_prompts", r.Asked.NumPrompts)
	out.add("request_rate", VLLMRate(r.Asked.RequestRate))
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

// Milliseconds lists the figures of one latency under vLLM's names for them, such
// as mean_ttft_ms, in its order.
func (d Dist) Milliseconds(latency string) []Milliseconds {
	all := []Milliseconds{
		{"mean_" + latency + "_ms", milliseconds(d.Mean)},
		{"median_" + latency + "_ms", milliseconds(d.Median)},
		{"std_" + latency + "_ms", milliseconds(d.Std)},
	}
	for _, p := range d.Percentiles {
		name := "p" + strconv.FormatFloat(p.P, 'f', -1, 64) + "_" + latency + "_ms"
		all = append(all, Milliseconds{name, milliseconds(p.Value)})
	}
	return all
}

// Milliseconds is a figure as vLLM's client names it.
type Milliseconds struct {
	Name  string
	Value *float64 // null: not known
}

// object collects the members of a JSON object in order.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		if o.err == nil {
			o.err = fmt.Errorf("%s: %w", name, err)
		}
		return
	}

	if o.buf.Len() > 1 {
		o.buf.WriteByte(',')
	}
	o.buf.WriteString(strconv.Quote(name) + ":")
	o.buf.Write(data)
}

var vllmBackends = map[string]string{
	"completions": "openai", "chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic",
	"embeddings": "openai-embeddings", "pooling": "vllm-pooling", "rerank": "vllm-rerank",
	"transcriptions": "openai-audio",
}

// VLLMBackend is the name by which vLLM's client, and bench load, know an API of
// OpenAI or Anthropic; null for other APIs.
func VLLMBackend(api string) *string { return orNull(vllmBackends[api]) }

// VLLMModel is the model that the first server named; null where it is not known.
func (r Result) VLLMModel() *string {
	if len(r.Servers) == 0 {
		return nil
	}
	return orNull(r.Servers[0].Model)
}

// VLLMDate is a moment as vLLM's client writes it; null where it is not known.
func VLLMDate(rfc3339 string) *string {
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

// VLLMRate is a request rate as vLLM's client writes it: "inf" where all requests
// are sent at once.
func VLLMRate(rate *float64) any {
	if rate == nil {
		return "inf"
	}
	return *rate
}
