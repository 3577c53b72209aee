package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/results"
)

// fromObjects reads JSON objects. What is not a result is told as a line.
func fromObjects(name string, objects []lenient.Object, forced string) (format string, entries []*entry,
	rest []results.ImportedLine,
) {
	var tests, measured []lenient.Object
	for _, o := range objects {
		kind := kindOf(o)
		if forced == formatVLLM || forced == formatSGLang {
			kind = forced
		}
		if format == "" || kind != "" {
			format = kind
		}
		switch kind {
		case formatVLLM, formatSGLang:
			entries = append(entries, fromSaved(name, kind, o))
		case formatOwn:
			e, err := fromOwn(name, o)
			if err != nil {
				rest = append(rest, results.ImportedLine{Line: o.Line, Kind: results.LineNotFigures, Text: err.Error()})
				continue
			}
			entries = append(entries, e)
		case formatLlamaJSON:
			tests = append(tests, o)
		case formatProgram:
			measured = append(measured, o)
		case formatPerf, formatGuide, formatOptimizer, formatInferenceX, formatMTP:
			found, ok := fromTool(name, kind, o)
			if !ok {
				rest = append(rest, results.ImportedLine{
					Line: o.Line, Kind: results.LineNotFigures,
					Text: errorOfTool(o).Error(),
				})
				continue
			}
			entries = append(entries, found...)
		default:
			rest = append(rest, results.ImportedLine{
				Line: o.Line, Kind: results.LineNotFigures,
				Text: "an object with " + plain.Shown(fmt.Sprint(o.Keys[:min(len(o.Keys), 20)])),
			})
		}
	}

	found, broken := fromTests(name, tests)
	entries, rest = append(entries, found...), append(rest, broken...)
	found, broken = fromPrograms(name, measured)
	return format, append(entries, found...), append(rest, broken...)
}

// kindOf tells by its keys what wrote an object; "": nobody known.
func kindOf(o lenient.Object) string {
	switch {
	case o.Has("format_version", "step", "verdict"):
		return formatOwn
	case o.Has("avg_ts", "n_prompt"), o.Has("avg_ts", "n_gen"), o.Has("bench_raw"), holdsTests(o):
		return formatLlamaJSON
	case programs.Of(o.Has) != "":
		return formatProgram
	case o.Has("aiperf_version"), o.Has("input_config", "request_throughput"), isMetricObject(o, "request_throughput"):
		return formatPerf
	case o.Has("benchmarks") && (o.Has("metadata") || o.Has("args")):
		return formatGuide
	case o.Has("config", "results"):
		return formatOptimizer
	case o.Has("tput_per_gpu"), o.Has("output_tput_per_gpu"):
		return formatInferenceX
	case o.Has("total_predicted", "total_draft"):
		return formatMTP
	case o.Has("mean_e2e_latency_ms"), o.Has("total_output_tokens_retokenized"):
		return formatSGLang
	case o.Has("duration", "completed"), o.Has("mean_ttft_ms", "output_throughput"),
		o.Has("mean_ttft_ms", "num_prompts"), o.Has("mean_ttft_ms", "model_id"):
		return formatVLLM
	}

	return ""
}

// holdsTests says that tests of llama-bench stand somewhere within an object.
func holdsTests(o lenient.Object) bool {
	return slices.ContainsFunc(o.Keys, func(key string) bool { return llamabench.Holds(o.Values[key]) })
}

// isMetricObject says that a key holds a metric with its unit.
func isMetricObject(o lenient.Object, key string) bool {
	var metric struct {
		Unit string   `json:"unit"`
		Avg  *float64 `json:"avg"`
	}
	return o.Into(key, &metric) && metric.Unit != "" && metric.Avg != nil
}

// fromTool reads the result of another tool; false: its form is not known.
func fromTool(name, kind string, o lenient.Object) ([]*entry, bool) {
	switch kind {
	case formatGuide:
		return fromGuide(name, o)
	case formatOptimizer:
		e, ok := fromOptimizer(name, o)
		return []*entry{e}, ok
	case formatInferenceX:
		return []*entry{fromInferenceX(name, o)}, true
	case formatMTP:
		return []*entry{fromMTP(name, o)}, true
	}
	return []*entry{fromPerf(name, o)}, true
}

// generationOf tells by its keys which client wrote a result.
func generationOf(o lenient.Object) results.Generation {
	switch {
	case o.Has("best_of"), o.Has("request_goodput:"):
		return results.VLLM06
	case o.Has("max_output_tokens_per_s"), o.Has("start_times"), o.Has("failed"):
		return results.VLLM
	}
	return results.VLLM010
}

// fromSaved reads what --save-result of vLLM's client or --output-file of
// SGLang's wrote.
func fromSaved(name, format string, o lenient.Object) *entry {
	e := newEntry(name, format, o.Line)
	if format == formatVLLM {
		e.origin.Reading = generationOf(o)
	}

	for _, again := range o.Twice {
		e.warn(results.WarnImportedUnusable, "a key occurs twice; the last value is used: %s", plain.Shown(again))
	}

	for _, key := range o.Keys {
		text := lenient.Brief(o.Values[key])
		label := key
		if key == "endpoint_type" && o.Text("backend") == "" {
			label = "backend"
		}
		t, ok := labels.Of(label, true)
		if key == "tokenizer_id" { // of the client; prompts were counted with it
			t, ok = labels.Target{Name: "tokenizer"}, true
		}
		e.put(t, ok, key, text, o.Line)
	}

	e.endpointType = o.Text("endpoint_type")
	if way := o.Text("ramp_up_strategy"); way != "" {
		e.ramp = strings.Join([]string{
			"ramp", way, lenient.Brief(o.Values["ramp_up_start_rps"]), lenient.Brief(o.Values["ramp_up_end_rps"]),
		}, "-")
	}
	if best := lenient.Brief(o.Values["best_of"]); best != "" && best != "1" && best != "null" {
		e.bestOf = "best-of-" + best
	}
	e.metadata(o)
	e.detail(o)
	return e
}

// metadata takes what a client wrote of --metadata, and the settings that
// SGLang's result repeats of the server: single values under names that no
// client has of its own.
func (e *entry) metadata(o lenient.Object) {
	for _, key := range o.Keys {
		var value any
		if !o.Into(key, &value) || isClientKey(key) {
			continue
		}
		if _, understood := labels.Of(key, true); understood {
			continue
		}
		switch value.(type) {
		case string, float64, bool:
			e.params[key] = lenient.Brief(o.Values[key])
		}
	}

	if o.Text("simulated") == "true" || string(o.Values["simulated"]) == "true" {
		e.simulated = true
	}
}

// isClientKey says that a key is one of a client's own, and tells nothing of
// the server or the load.
func isClientKey(key string) bool {
	switch key {
	case "endpoint_type", "best_of", "rtfx", "simulated", "unknown", "ramp_up_strategy", "ramp_up_start_rps",
		"ramp_up_end_rps", "total_output_tokens_retokenized", "output_throughput_retokenized",
		"total_throughput_retokenized",
		"input_throughput", "concurrency", "accept_length", "max_concurrent_requests", "peak_output_throughput",
		"steady_state_duration", "warmup_requests", "output_file", "sharegpt_context_len":
		return true
	}
	for _, beginning := range []string{"spec_decode_", "mean_", "median_", "std_", "min_", "max_", "total_"} {
		if strings.HasPrefix(key, beginning) {
			return true
		}
	}
	return percentileKey.MatchString(key)
}

var percentileKey = regexp.MustCompile(`^p\d+(\.\d+)?_`)

// fromOwn reads a result.json of bench.
func fromOwn(name string, o lenient.Object) (*entry, error) {
	e := newEntry(name, formatOwn, o.Line)
	var r results.Result
	whole, err := json.Marshal(o.Values)
	if err == nil {
		err = json.Unmarshal(whole, &r)
	}

	switch {
	case err != nil:
		return nil, fmt.Errorf("a result of bench that cannot be read: %w", err)
	case r.Step.Variant == "" || r.Step.Point == "" || r.Verdict == "":
		return nil, errors.New("a result of bench without a step or a verdict")
	case r.Format > results.FormatVersion:
		return nil, fmt.Errorf("a result of format version %d, newer than %d: use a newer bench", r.Format,
			results.FormatVersion)
	}

	e.own, e.simulated = &r, r.Simulated
	e.variant, e.point, e.repeat = r.Step.Variant, r.Step.Point, r.Step.Repeat
	e.origin.StatedSettings = settingNames()
	e.state("run_id", r.Run, o.Line, "")
	e.state("scenario", r.Scenario, o.Line, "")
	return e, nil
}

// settingNames are all settings of a load.
func settingNames() []string {
	return strings.Fields("api endpoint dataset num_prompts max_concurrency request_rate burstiness ramp send_for " +
		"input_len output_len ignore_eos temperature warmups compat")
}
