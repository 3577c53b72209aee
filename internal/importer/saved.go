package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/benchrig/bench/results"
)

// fromObjects reads JSON objects. What is no result is told as a line.
func fromObjects(name string, objects []object, forced string) (format string, entries []*entry, rest []results.ImportedLine) {
	var tests []object
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
				rest = append(rest, results.ImportedLine{Line: o.line, Kind: results.LineNotFigures, Text: err.Error()})
				continue
			}
			entries = append(entries, e)
		case formatLlamaJSON:
			tests = append(tests, o)
		default:
			rest = append(rest, results.ImportedLine{Line: o.line, Kind: results.LineNotFigures, Text: "an object with " + shown(fmt.Sprint(o.keys[:min(len(o.keys), 20)]))})
		}
	}
	return format, append(entries, fromTests(name, tests)...), rest
}

// kindOf tells by its keys what wrote an object; "": nobody known.
func kindOf(o object) string {
	switch {
	case o.has("format_version", "step", "verdict"):
		return formatOwn
	case o.has("avg_ts", "n_prompt"):
		return formatLlamaJSON
	case o.has("mean_e2e_latency_ms"), o.has("total_output_tokens_retokenized"):
		return formatSGLang
	case o.has("duration", "completed"), o.has("mean_ttft_ms", "output_throughput"):
		return formatVLLM
	}
	return ""
}

// generationOf tells by its keys which client wrote a result.
func generationOf(o object) results.Generation {
	switch {
	case o.has("best_of"), o.has("request_goodput:"):
		return results.VLLM06
	case o.has("max_output_tokens_per_s"), o.has("start_times"), o.has("failed"):
		return results.VLLM
	}
	return results.VLLM010
}

// fromSaved reads what --save-result of vLLM's client or --output-file of
// SGLang's wrote.
func fromSaved(name, format string, o object) *entry {
	e := newEntry(name, format, o.line)
	if format == formatVLLM {
		e.origin.Reading = generationOf(o)
	}
	for _, again := range o.twice {
		e.warn(results.WarnImportedUnusable, "a key stands twice, and the last counts: %s", shown(again))
	}
	for _, key := range o.keys {
		text := brief(o.values[key])
		label := key
		if key == "endpoint_type" && o.text("backend") == "" {
			label = "backend"
		}
		t, ok := labelled(label, true)
		if key == "tokenizer_id" { // of the client; prompts were counted with it
			t, ok = target{name: "tokenizer"}, true
		}
		e.put(t, ok, key, text, o.line)
	}
	e.server(o)
	e.detail(o)
	return e
}

// server takes the settings that SGLang's result repeats of the server.
func (e *entry) server(o object) {
	for key, param := range map[string]string{"tag": "tag", "sharegpt_output_len": "sharegpt_output_len", "random_range_ratio": "random_range_ratio"} {
		if raw, ok := o.values[key]; ok && string(raw) != "null" {
			e.params[param] = brief(raw)
		}
	}
}

// fromOwn reads a result.json of bench.
func fromOwn(name string, o object) (*entry, error) {
	e := newEntry(name, formatOwn, o.line)
	var r results.Result
	whole, err := json.Marshal(o.values)
	if err == nil {
		err = json.Unmarshal(whole, &r)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("a result of bench that cannot be read: %w", err)
	case r.Step.Variant == "" || r.Step.Point == "" || r.Verdict == "":
		return nil, errors.New("a result of bench without a step or a verdict")
	case r.Format > results.FormatVersion:
		return nil, fmt.Errorf("a result of format version %d, newer than %d: use a newer bench", r.Format, results.FormatVersion)
	}
	e.own, e.simulated = &r, r.Simulated
	e.variant, e.point, e.repeat = r.Step.Variant, r.Step.Point, r.Step.Repeat
	e.origin.Told = settingNames()
	e.state("run_id", r.Run, o.line, "")
	e.state("scenario", r.Scenario, o.line, "")
	return e, nil
}

// settingNames are all settings of a load.
func settingNames() []string {
	return strings.Fields("api endpoint dataset num_prompts max_concurrency request_rate burstiness ramp send_for input_len output_len ignore_eos temperature warmups compat")
}
