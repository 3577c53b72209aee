package clients

import (
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// generationOf returns the generation of the client that wrote a result, by its keys.
func generationOf(o lenient.Object) results.Generation {
	switch {
	case o.Has("best_of"), o.Has("request_goodput:"):
		return results.VLLM06
	case o.Has("max_output_tokens_per_s"), o.Has("start_times"), o.Has("failed"):
		return results.VLLM
	}
	return results.VLLM010
}

// fromSaved reads a file that vLLM's client wrote with --save-result, or SGLang's with
// --output-file.
func fromSaved(name, format string, o lenient.Object) *stated.Entry {
	e := stated.New(name, format, o.Line)
	if format == VLLM {
		e.Origin.Reading = generationOf(o)
	}

	for _, again := range o.Twice {
		e.Warn(results.WarnImportedUnusable, "a key occurs twice; the last value is used: %s", plain.Shown(again))
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
		e.Put(t, ok, key, text, o.Line)
	}

	e.EndpointType = o.Text("endpoint_type")
	if way := o.Text("ramp_up_strategy"); way != "" {
		e.Ramp = strings.Join([]string{
			"ramp", way, lenient.Brief(o.Values["ramp_up_start_rps"]), lenient.Brief(o.Values["ramp_up_end_rps"]),
		}, "-")
	}
	if best := lenient.Brief(o.Values["best_of"]); best != "" && best != "1" && best != "null" {
		e.BestOf = "best-of-" + best
	}
	takeMetadata(e, o)
	readDetail(e, o)
	return e
}

// takeMetadata takes what a client was given with --metadata, and the settings of the
// server that SGLang's results repeat: single values under keys that are not a
// client's own.
func takeMetadata(e *stated.Entry, o lenient.Object) {
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
			e.Params[key] = lenient.Brief(o.Values[key])
		}
	}

	if o.Text("simulated") == "true" || string(o.Values["simulated"]) == "true" {
		e.Simulated = true
	}
}

// isClientKey reports whether a key is one of a client's own, and tells nothing about
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
