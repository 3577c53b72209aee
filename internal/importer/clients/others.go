package clients

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// fromOptimizer reads a row of llm-optimizer: what the client measured, in
// SGLang's names, and the arguments of server and client.
func fromOptimizer(name string, o lenient.Object) ([]*stated.Entry, error) {
	var config struct {
		Client map[string]json.RawMessage `json:"client_args"`
		Server map[string]json.RawMessage `json:"server_args"`
	}

	inner, err := lenient.ObjectOf(o.Values["results"])
	if err != nil || !o.Into("config", &config) || Of(inner) == "" {
		return nil, unreadForm("llm-optimizer", o)
	}

	inner.Line = o.Line
	e := fromSaved(name, Optimizer, inner)
	for _, key := range slices.Sorted(maps.Keys(config.Server)) {
		e.Params[key] = lenient.Brief(config.Server[key])
	}

	for _, key := range slices.Sorted(maps.Keys(config.Client)) {
		setting := stated.SettingOf(key, "random")
		if t := labels.Setting(setting); setting != "" && t.Scale != 0 && !e.IsStated(setting) {
			e.Put(t, true, key, lenient.Brief(config.Client[key]), o.Line)
		}
	}

	return []*stated.Entry{e}, nil
}

// fromInferenceX reads a result of InferenceX (InferenceMAX): times in seconds,
// throughputs per GPU.
func fromInferenceX(name string, o lenient.Object) *stated.Entry {
	e := stated.New(name, InferenceX, o.Line)
	gpus := 0.0
	if !o.Into("num_gpus", &gpus) {
		o.Into("tp", &gpus)
	}

	for _, key := range o.Keys {
		var v float64
		isNumber := o.Into(key, &v)
		text := lenient.Brief(o.Values[key])
		switch {
		case isNumber && key == "conc":
			e.Setting("max_concurrency", key, text, o.Line)
		case isNumber && (key == "isl" || key == "osl"):
			e.Setting(map[string]string{"isl": "input_len", "osl": "output_len"}[key], key, text, o.Line)
		case isNumber && gpus > 0 && (key == "tput_per_gpu" || key == "output_tput_per_gpu"):
			figure := map[string]string{
				"tput_per_gpu":        "total_token_throughput",
				"output_tput_per_gpu": "output_throughput",
			}[key]
			e.Figure(labels.Target{Name: figure, Scale: gpus}, key+" x "+number(gpus)+" GPUs", number(v), v, o.Line)
		case isNumber && labels.LatencyName().MatchString(strings.ReplaceAll(key, "_", " ")):
			t, ok := labels.Of(key+" (s)", true)
			e.Put(t, ok, key, text, o.Line)
		case key == "model":
			e.Setting("model", key, text, o.Line)
		case isSetting(key):
			e.Params[key] = text
			e.State(key, text, o.Line, key)
		default:
			e.State(key, text, o.Line, "")
		}
	}

	e.Variant = strings.TrimSpace(strings.Join([]string{
		e.Params["hw"], e.Params["framework"], path.Base(e.Model), e.Params["precision"],
	}, " "))
	return e
}

// isSetting reports whether a key of InferenceX describes the server.
func isSetting(key string) bool {
	switch key {
	case "hw", "framework", "precision", "tp", "ep", "dp_attention", "spec_decoding", "disagg", "image", "num_gpus":
		return true
	}
	return false
}

// fromMTP reads the totals of a benchmark of multi-token prediction.
func fromMTP(name string, o lenient.Object) *stated.Entry {
	e := stated.New(name, MTP, o.Line)
	for _, total := range [][2]string{
		{"n_requests", "completed"}, {"total_predicted", "total_output_tokens"}, {"wall_s_total", "duration_s"},
	} {
		if raw, ok := o.Values[total[0]]; ok {
			e.Put(labels.Target{Name: total[1], Scale: 1}, true, total[0], lenient.Brief(raw), o.Line)
		}
	}

	d := &results.Drafting{Source: results.DraftsByLog}
	o.Into("total_draft", &d.DraftTokens)
	o.Into("total_draft_accepted", &d.AcceptedTokens)
	if d.DraftTokens != nil && d.AcceptedTokens != nil {
		d.Derive()
		e.Drafting = d
	}

	for _, key := range o.Keys {
		if strings.HasPrefix(key, "total_draft") || key == "aggregate_accept_rate" {
			e.State(key, lenient.Brief(o.Values[key]), o.Line, "")
		}
	}

	return e
}
