// Package clients reads the result files of load clients other than bench's.
//
// What goes in: a JSON object that a client saved (vLLM's, SGLang's, AIPerf and
// genai-perf, GuideLLM, llm-optimizer, InferenceX), or a CSV export. What comes out:
// the results in it, each value under the client's own name, with the figure of
// bench that it is by the client's definition. It opens no file and guesses nothing.
package clients

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
)

// The formats.
const (
	VLLM       = "vllm-json"
	SGLang     = "sglang-json"
	Perf       = "aiperf" // AIPerf and genai-perf, as JSON or CSV
	GuideLLM   = "guidellm"
	Optimizer  = "llm-optimizer"
	InferenceX = "inferencex"
	MTP        = "mtp"
)

// Of returns the format of an object by its keys; "": not that of a client.
func Of(o lenient.Object) string {
	switch {
	case o.Has("aiperf_version"), o.Has("input_config", "request_throughput"), hasMetric(o, "request_throughput"):
		return Perf
	case o.Has("benchmarks") && (o.Has("metadata") || o.Has("args")):
		return GuideLLM
	case o.Has("config", "results"):
		return Optimizer
	case o.Has("tput_per_gpu"), o.Has("output_tput_per_gpu"):
		return InferenceX
	case o.Has("total_predicted", "total_draft"):
		return MTP
	case o.Has("mean_e2e_latency_ms"), o.Has("total_output_tokens_retokenized"):
		return SGLang
	case o.Has("duration", "completed"), o.Has("mean_ttft_ms", "output_throughput"),
		o.Has("mean_ttft_ms", "num_prompts"), o.Has("mean_ttft_ms", "model_id"):
		return VLLM
	}
	return ""
}

// hasMetric reports whether a key holds a metric with its unit.
func hasMetric(o lenient.Object, key string) bool {
	var metric struct {
		Unit string   `json:"unit"`
		Avg  *float64 `json:"avg"`
	}
	return o.Into(key, &metric) && metric.Unit != "" && metric.Avg != nil
}

// Read reads an object in a format of Of, from a file of that name.
func Read(name, format string, o lenient.Object) ([]*stated.Entry, error) {
	switch format {
	case GuideLLM:
		return fromGuide(name, o)
	case Optimizer:
		return fromOptimizer(name, o)
	case InferenceX:
		return []*stated.Entry{fromInferenceX(name, o)}, nil
	case MTP:
		return []*stated.Entry{fromMTP(name, o)}, nil
	case Perf:
		return []*stated.Entry{fromPerf(name, o)}, nil
	}
	return []*stated.Entry{fromSaved(name, format, o)}, nil
}

// Unread returns an error that names the client of an object from which no result was
// read, and which of its files to import; nil: the client is not known.
func Unread(o lenient.Object) error {
	client, other := "", ""
	switch {
	case o.Has("benchmarks", "metadata"), o.Has("guidellm_version"):
		client = "GuideLLM"
	case o.Has("aiperf_version"), o.Has("input_config", "request_throughput"):
		client = "AIPerf or genai-perf"
	case o.Has("metadata", "metrics", "error"), bytes.Contains(o.Values["data"], []byte(`"session_id"`)):
		client, other = "AIPerf", "profile_export_aiperf.json"
	case o.Has("experiments", "service_kind"):
		client, other = "genai-perf", "profile_export_genai_perf.json"
	case o.Has("results", "config"):
		client = "llm-optimizer"
	case o.Has("num_concurrent_requests", "mean_input_tokens"):
		client = "LLMPerf"
	case o.Has("loadgen_version"):
		client = "MLPerf loadgen"
	case o.Has("metrics", "root_group"):
		client = "k6"
	case o.Has("load_summary", "successes"):
		client = "inference-perf"
	default:
		return nil
	}

	if other != "" {
		return fmt.Errorf("a file of %s without results; import %s, which is written beside it", client, other)
	}
	return unreadForm(client, o)
}

func unreadForm(client string, o lenient.Object) error {
	return fmt.Errorf("a file of %s, in a form that is not read; its keys are %s", client,
		plain.Shown(fmt.Sprint(o.Keys[:min(len(o.Keys), 20)])))
}

// takeStat takes one statistic of a metric, in a unit. A plain figure has its value
// as the average.
func takeStat(e *stated.Entry, label, figure, stat, unit string, v float64, line int) {
	text := number(v)
	if t, ok := statTarget(figure, stat, unit); ok {
		e.Figure(t, label, text, v, line)
		return
	}
	e.State(label, text, line, "")
}

// number writes a number as it is in JSON.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// statTarget returns what a statistic of a figure stands for; false: nothing of
// bench's, or in a unit that is not known.
func statTarget(figure, stat, unit string) (labels.Target, bool) {
	if labels.FigureNamed(figure) {
		scale := 1.0
		if figure == "duration_s" {
			scale = labels.SecondsOf(unit)
		}
		return labels.Target{Name: figure, Scale: scale},
			scale > 0 && (stat == "avg" || stat == "mean" || stat == "value")
	}

	t := labels.Target{Name: figure, Stat: stat, Scale: labels.SecondsOf(unit)}
	switch stat {
	case "count":
		return labels.Target{Name: figure, Stat: "n", Scale: 1}, true
	case "avg":
		t.Stat = "mean"
	case "p50":
		t.Stat = "median"
	case "mean", "median", "std", "min", "max":
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(stat, "p"), 64)
		if err != nil || !strings.HasPrefix(stat, "p") || p <= 0 || p >= 100 {
			return labels.Target{}, false
		}
		t.Stat, t.P = "p", p
	}

	return t, t.Scale > 0
}
