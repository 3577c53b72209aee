package simserver

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// exposition collects metrics in Prometheus' text format.
type exposition struct {
	bytes.Buffer
	labels string // of every sample: `engine="0",model_name="m"`, or ""
}

func (x *exposition) header(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value; extra is a further label, or "".
func (x *exposition) sample(name, extra string, v float64) {
	labels := x.labels
	switch {
	case labels == "":
		labels = extra
	case extra != "":
		labels += "," + extra
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(x, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

func (x *exposition) one(name, kind, help string, v float64) {
	x.header(name, kind, help)
	x.sample(name, "", v)
}

func (x *exposition) histogram(name, help string, h simengine.Histogram) {
	x.header(name, "histogram", help)
	var n int64
	for i, bound := range h.Bounds {
		n += h.Counts[i]
		x.sample(name+"_bucket", `le="`+strconv.FormatFloat(bound, 'f', -1, 64)+`"`, float64(n))
	}
	n += h.Counts[len(h.Bounds)]
	x.sample(name+"_bucket", `le="+Inf"`, float64(n))
	x.sample(name+"_count", "", float64(n))
	x.sample(name+"_sum", "", h.Sum)
}

// exporter writes the metrics page.
type exporter struct{ *server }

func (s exporter) metrics(w http.ResponseWriter, _ *http.Request) {
	var x exposition
	if s.llamaCpp() {
		s.llamaMetrics(&x)
	} else {
		s.vllmMetrics(&x)
	}
	writeBody(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", x.Bytes())
}

// quoteLabel escapes a label's value.
func quoteLabel(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v) + `"`
}

func (s exporter) vllmMetrics(x *exposition) {
	g := s.engine.Gauges()
	x.labels = `engine="0",model_name=` + quoteLabel(s.cfg.ServedName())
	x.one("vllm:num_requests_running", "gauge", "Requests in execution batches (simulated).", float64(g.Running))
	x.one("vllm:num_requests_waiting", "gauge", "Requests waiting to be processed.", float64(g.Waiting))
	x.one("vllm:kv_cache_usage_perc", "gauge", "KV cache usage, 1 is full.", g.KVUsage)
	for _, c := range []struct {
		name, help string
		value      int64
	}{
		{"prefix_cache_queries_total", "Tokens looked up in the prefix cache.", g.PrefixQueries},
		{"prefix_cache_hits_total", "Tokens found in the prefix cache.", g.PrefixHits},
		{"num_preemptions_total", "Preemptions.", g.Preemptions},
		{"prompt_tokens_total", "Prefill tokens processed.", g.PromptTokens},
		{"generation_tokens_total", "Generation tokens processed.", g.OutputTokens},
	} {
		x.one("vllm:"+c.name, "counter", c.help, float64(c.value))
	}

	x.header("vllm:request_success_total", "counter", "Requests finished, by reason.")
	for _, reason := range reasons(g.Finished) {
		x.sample("vllm:request_success_total", `finished_reason="`+string(reason)+`"`, float64(g.Finished[reason]))
	}

	x.histogram("vllm:time_to_first_token_seconds", "Time to first token.", g.Ttft)
	x.histogram("vllm:inter_token_latency_seconds", "Time between steps that gave tokens.", g.TokenLatency)
	x.histogram("vllm:e2e_request_latency_seconds", "Time from arrival to last token.", g.E2e)
	x.histogram("vllm:request_queue_time_seconds", "Time from arrival to first step.", g.QueueTime)
	if s.cfg.Speculation.Tokens > 0 {
		specMetrics(x, "vllm:", g, s.cfg.Speculation.BeforeV1)
	}

	x.header("vllm:cache_config_info", "gauge", "Settings of the KV cache.")
	x.sample("vllm:cache_config_info", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d",enable_prefix_caching="%s"`,
		s.cfg.BlockSize, s.cfg.Blocks, pythonBool(!s.cfg.DisablePrefixCaching)), 1)
	x.one("sim:schedule_slip_seconds_total", "counter", "Time by which this machine was too slow to simulate.",
		g.SlippedS)
}

// specMetrics are the counters of drafts: before V1 those of tokens only.
func specMetrics(x *exposition, prefix string, g simengine.Gauges, beforeV1 bool) {
	prefix += "spec_decode_"
	if !beforeV1 {
		x.one(prefix+"num_drafts_total", "counter", "Drafts.", float64(g.Drafts))
	}

	x.one(prefix+"num_draft_tokens_total", "counter", "Drafted tokens.", float64(g.DraftTokens))
	x.one(prefix+"num_accepted_tokens_total", "counter", "Accepted tokens.", float64(g.Accepted))
	if beforeV1 {
		x.one(prefix+"num_emitted_tokens_total", "counter", "Tokens emitted by steps with drafts.", float64(g.Emitted))
		return
	}

	name := prefix + "num_accepted_tokens_per_pos_total"
	x.header(name, "counter", "Accepted tokens by position.")
	for i, n := range g.AcceptedAt {
		x.sample(name, fmt.Sprintf(`position="%d"`, i), float64(n))
	}
}

func reasons(finished map[simengine.Finish]int64) []simengine.Finish {
	var list []simengine.Finish
	for r := range finished {
		list = append(list, r)
	}
	slices.Sort(list)
	return list
}

func (s exporter) llamaMetrics(x *exposition) {
	g := s.engine.Gauges()
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"prompt_tokens_total", "counter", "Prompt tokens processed, without cached ones.", float64(g.PromptComputed)},
		{"prompt_tokens_cached_total", "counter", "Prompt tokens reused from the cache.", float64(g.PrefixHits)},
		{"prompt_seconds_total", "counter", "Prompt process time.", g.PromptSeconds},
		{"tokens_predicted_total", "counter", "Generation tokens processed.", float64(g.OutputTokens)},
		{"tokens_predicted_seconds_total", "counter", "Predict process time.", g.OutputSeconds},
		{"n_decode_total", "counter", "Steps.", float64(g.Steps)},
		{"n_tokens_max", "counter", "Longest sequence.", float64(g.Longest)},
		{
			"prompt_tokens_seconds", "gauge", "Average prompt throughput, tokens/s.",
			ratio(float64(g.PromptComputed), g.PromptSeconds),
		},
		{
			"predicted_tokens_seconds", "gauge", "Average generation throughput, tokens/s.",
			ratio(float64(g.OutputTokens), g.OutputSeconds),
		},
		{"requests_processing", "gauge", "Requests processing.", float64(g.Running)},
		{"requests_deferred", "gauge", "Requests deferred.", float64(g.Waiting)},
		{"n_busy_slots_per_decode", "gauge", "Busy slots a step.", ratio(float64(g.StepSeqs), float64(g.Steps))},
	} {
		x.one("llamacpp:"+m.name, m.kind, m.help, m.value)
	}

	specMetrics(x, "llamacpp:", g, false)
}

// ratio is a/b, and 0 without any b.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
