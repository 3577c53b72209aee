package importer

import (
	"encoding/csv"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/results"
)

// toolMetric says what a metric of another tool is by our definitions.
type toolMetric struct {
	name  string // of ours
	scale float64
}

// perfMetrics are those of AIPerf and genai-perf. Their inter-token latency is
// (latency - TTFT) / (tokens - 1) of a request, which is our TPOT.
func perfMetrics() map[string]toolMetric {
	return map[string]toolMetric{
		"time_to_first_token":     {"ttft", 1},
		"inter_token_latency":     {"tpot", 1},
		"request_latency":         {"e2el", 1},
		"request_throughput":      {"request_throughput", 1},
		"goodput":                 {"request_goodput", 1},
		"output_token_throughput": {"output_throughput", 1},
		"total_token_throughput":  {"total_token_throughput", 1},
		"request_count":           {"completed", 1},
		"error_request_count":     {"failed", 1},
		"benchmark_duration":      {"duration_s", 1},
		"total_output_tokens":     {"total_output_tokens", 1},
		"total_osl":               {"total_output_tokens", 1},
		"total_isl":               {"total_input_tokens", 1},
		"total_input_tokens":      {"total_input_tokens", 1},
	}
}

// fromPerf reads the JSON export of AIPerf or genai-perf: an object a metric,
// with its unit and statistics.
func fromPerf(name string, o object) *entry {
	e := newEntry(name, formatPerf, o.line)
	for _, key := range o.keys {
		var metric map[string]any
		m, known := perfMetrics()[key]
		if !o.into(key, &metric) || metric["unit"] == nil {
			continue
		}
		if !known {
			e.state(key, brief(o.values[key]), o.line, "")
			continue
		}
		unit, _ := metric["unit"].(string)
		for _, stat := range slices.Sorted(maps.Keys(metric)) {
			if v, isNumber := metric[stat].(float64); isNumber {
				e.stat(key+"."+stat, m, stat, unit, v, o.line)
			}
		}
	}

	e.perfConfig(o)
	return e
}

// stat sets one statistic of a metric. Plain figures have their value as the
// average.
func (e *entry) stat(label string, m toolMetric, stat, unit string, v float64, line int) {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	t, ok := statTarget(m, stat, unit)
	if !ok {
		e.state(label, text, line, "")
		return
	}
	if !e.set(t, v*t.scale) {
		e.state(label, text, line, "")
		e.warn(results.WarnImportedDiffers, "%s is %s, and had another value before", label, text)
		return
	}
	e.state(label, text, line, t.as())
	e.found++
}

// statTarget is what a statistic of a metric stands for; false: nothing of ours,
// or in a unit that is not known.
func statTarget(m toolMetric, stat, unit string) (target, bool) {
	scale := m.scale
	if figureNamed(m.name) {
		if m.name == "duration_s" {
			scale = secondsOf(unit)
		}
		return target{name: m.name, scale: scale}, scale > 0 && (stat == "avg" || stat == "mean" || stat == "value")
	}

	t := target{name: m.name, stat: stat, scale: scale * secondsOf(unit)}
	switch stat {
	case "count":
		t.stat, t.scale = "n", 1
		return t, true
	case "avg":
		t.stat = "mean"
	case "p50":
		t.stat = "median"
	case "mean", "median", "std", "min", "max":
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(stat, "p"), 64)
		if err != nil || !strings.HasPrefix(stat, "p") || p <= 0 || p >= 100 {
			return target{}, false
		}
		t.stat, t.p = "p", p
	}

	return t, t.scale > 0
}

// perfConfig takes the load and the model out of the configuration, wherever
// the versions of the tool keep them.
func (e *entry) perfConfig(o object) {
	var config any
	if !o.into("input_config", &config) {
		return
	}

	walk(config, func(key string, value any) {
		switch v := value.(type) {
		case float64:
			name := map[string]string{
				"concurrency": "max_concurrency", "request_rate": "request_rate", "request_count": "num_prompts",
				"num_prompts": "num_prompts",
			}[key]
			if name != "" && !e.isStated(name) {
				e.put(target{name: name, scale: 1}, true, "input_config."+key, strconv.FormatFloat(v, 'g', -1, 64),
					o.line)
			}
		case string:
			if key == "name" && e.model == "" && strings.ContainsAny(v, "/-") || key == "model" || key == "model_name" {
				e.model = v
				e.state("input_config."+key, v, o.line, "model")
			}
		}
	})
}

// walk visits every value that is neither a list nor an object, in the order of names.
func walk(value any, visit func(key string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(key, v[key])
			walk(v[key], visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

// isPerfCSV says whether a text is the CSV export of AIPerf or genai-perf.
func isPerfCSV(text []byte) bool {
	head, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\n")
	return strings.HasPrefix(strings.ToLower(head), "metric,avg,min,max")
}

// fromPerfCSV reads that: a table of latencies with their statistics, and one
// of plain values.
func fromPerfCSV(name string, text []byte) (*entry, []results.ImportedLine) {
	e := newEntry(name, formatPerf, 1)
	var rest []results.ImportedLine
	var heads []string
	for no, line := range strings.Split(string(text), "\n") {
		cells, err := csv.NewReader(strings.NewReader(line)).Read()
		switch {
		case err != nil:
			continue // a blank line
		case strings.EqualFold(cells[0], "Metric"):
			heads = cells
			continue
		case len(heads) < len(cells):
			rest = appendLine(rest, no+1, results.LineNotFigures, line)
			continue
		}

		title, unit := perfTitle(cells[0])
		m, known := perfMetrics()[title]
		if !known {
			rest = appendLine(rest, no+1, results.LineNote, line)
			continue
		}
		for i, cell := range cells[1:] {
			if v, ok := plain.Number(cell); ok {
				e.stat(cells[0]+" "+heads[i+1], m, strings.ToLower(heads[i+1]), unit, v, no+1)
			}
		}
	}

	return e, rest
}

// perfTitle splits "Time to First Token (ms)".
func perfTitle(text string) (name, unit string) {
	if m := unitInBrackets.FindStringSubmatchIndex(text); m != nil {
		text, unit = text[:m[0]], strings.TrimSpace(text[m[2]:m[3]])
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_"), unit
}

// guideMetrics are those of GuideLLM. Its inter-token latency leaves out the
// first token, as our TPOT does; its time per output token does not.
func guideMetrics() map[string]struct {
	toolMetric
	unit string
} {
	type metric = struct {
		toolMetric
		unit string
	}

	return map[string]metric{
		"requests_per_second":      {toolMetric{"request_throughput", 1}, ""},
		"output_tokens_per_second": {toolMetric{"output_throughput", 1}, ""},
		"tokens_per_second":        {toolMetric{"total_token_throughput", 1}, ""},
		"request_latency":          {toolMetric{"e2el", 1}, "s"},
		"time_to_first_token_ms":   {toolMetric{"ttft", 1}, "ms"},
		"inter_token_latency_ms":   {toolMetric{"tpot", 1}, "ms"},
	}
}

// guideBenchmark is one benchmark of a report of GuideLLM.
type guideBenchmark struct {
	Config struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"config"`
	Args struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"args"`
	Duration *float64 `json:"duration"`
	Metrics  map[string]map[string]struct {
		Mean, Median, Min, Max *float64
		StdDev                 *float64 `json:"std_dev"`
		Count                  *float64
		Total                  *float64 `json:"total_sum"`
		Percentiles            map[string]*float64
	} `json:"metrics"`
	Requests map[string]json.RawMessage `json:"request_totals"`
}

type guideStrategy struct {
	Type    string   `json:"type_"`
	Streams *float64 `json:"streams"`
	Rate    *float64 `json:"rate"`
	Max     *float64 `json:"max_concurrency"`
}

// fromGuide reads a report of GuideLLM: a result for each benchmark in it.
func fromGuide(name string, o object) ([]*entry, bool) {
	var list []guideBenchmark
	if !o.into("benchmarks", &list) {
		return nil, false
	}

	var all []*entry
	for _, b := range list {
		e := newEntry(name, formatGuide, o.line)
		if b.Duration != nil {
			e.stat("duration", toolMetric{"duration_s", 1}, "value", "s", *b.Duration, o.line)
		}
		b.metricsInto(e, o.line)
		for key, figure := range map[string]string{
			"successful": "completed", "errored": "failed",
			"total": "num_prompts",
		} {
			if raw, ok := b.Requests[key]; ok {
				t := target{name: figure, scale: 1}
				e.put(t, true, "request_totals."+key, brief(raw), o.line)
			}
		}
		b.loadInto(e, o.line)
		var args struct{ Model, Target string }
		if o.into("args", &args) {
			e.model = args.Model
		}
		all = append(all, e)
	}

	return all, true
}

func (b guideBenchmark) metricsInto(e *entry, line int) {
	for _, key := range slices.Sorted(maps.Keys(b.Metrics)) {
		d, ok := b.Metrics[key]["successful"]
		m, known := guideMetrics()[key]
		if !ok || !known {
			continue
		}
		for stat, v := range map[string]*float64{
			"mean": d.Mean, "median": d.Median, "std": d.StdDev, "min": d.Min,
			"max": d.Max, "count": d.Count,
		} {
			if v != nil && (stat == "mean" || !figureNamed(m.name)) {
				e.stat(key+"."+stat, m.toolMetric, stat, m.unit, *v, line)
			}
		}
		for p, v := range d.Percentiles {
			if v != nil && !figureNamed(m.name) && p != "p50" {
				e.stat(key+"."+p, m.toolMetric, guidePercentile(p), m.unit, *v, line)
			}
		}
	}

	for key, figure := range map[string]string{
		"prompt_token_count": "total_input_tokens",
		"output_token_count": "total_output_tokens",
	} {
		if d, ok := b.Metrics[key]["successful"]; ok && d.Total != nil {
			e.stat(key+".total_sum", toolMetric{figure, 1}, "value", "", *d.Total, line)
		}
	}
}

// guidePercentile is "p99.9" for "p999", "p01" for the first.
func guidePercentile(name string) string {
	digits := strings.TrimPrefix(name, "p")
	if len(digits) > 2 {
		return "p" + digits[:2] + "." + digits[2:]
	}
	return "p" + strings.TrimLeft(digits, "0")
}

func (b guideBenchmark) loadInto(e *entry, line int) {
	for _, s := range []guideStrategy{b.Config.Strategy, b.Args.Strategy} {
		streams, rate := s.Streams, s.Rate
		switch {
		case s.Type == "synchronous":
			streams = new(1.0)
		case streams == nil:
			streams = s.Max
		}
		if streams != nil && !e.isStated("max_concurrency") {
			e.put(target{name: "max_concurrency", scale: 1}, true, "strategy.streams",
				strconv.FormatFloat(*streams, 'g', -1, 64), line)
		}
		if rate != nil && !e.isStated("request_rate") {
			e.put(target{name: "request_rate", scale: 1}, true, "strategy.rate",
				strconv.FormatFloat(*rate, 'g', -1, 64), line)
		}
	}
}

// fromOptimizer reads a row of llm-optimizer: what the client measured, in
// SGLang's names, and the arguments of server and client.
func fromOptimizer(name string, o object) (*entry, bool) {
	var config struct {
		Client map[string]any `json:"client_args"`
		Server map[string]any `json:"server_args"`
		Argv   []string       `json:"server_cmd_args"`
	}

	inner, err := objectOf(o.values["results"])
	if err != nil || !o.into("config", &config) || kindOf(inner) == "" {
		return nil, false
	}

	inner.line = o.line
	e := fromSaved(name, formatOptimizer, inner)
	for _, key := range slices.Sorted(maps.Keys(config.Server)) {
		e.params[key] = plainValue(config.Server[key])
	}

	for _, key := range slices.Sorted(maps.Keys(config.Client)) {
		setting := settingOf(key, "random")
		if setting == "" || isWord(setting) || e.isStated(setting) {
			continue
		}
		e.put(target{name: setting, scale: 1}, true, key, plainValue(config.Client[key]), o.line)
	}

	return e, true
}

func plainValue(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return brief(data)
}

// fromInferenceX reads a result of InferenceX (InferenceMAX): times in seconds,
// throughputs a GPU.
func fromInferenceX(name string, o object) *entry {
	e := newEntry(name, formatInferenceX, o.line)
	gpus := 0.0
	if !o.into("num_gpus", &gpus) {
		o.into("tp", &gpus)
	}

	for _, key := range o.keys {
		var v float64
		isNumber := o.into(key, &v)
		text := brief(o.values[key])
		switch {
		case isNumber && key == "conc":
			e.put(target{name: "max_concurrency", scale: 1}, true, key, text, o.line)
		case isNumber && (key == "isl" || key == "osl"):
			setting := map[string]string{"isl": "input_len", "osl": "output_len"}[key]
			e.put(target{name: setting, scale: 1}, true, key, text, o.line)
		case isNumber && gpus > 0 && (key == "tput_per_gpu" || key == "output_tput_per_gpu"):
			figure := map[string]string{
				"tput_per_gpu":        "total_token_throughput",
				"output_tput_per_gpu": "output_throughput",
			}[key]
			e.stat(key+" x "+strconv.FormatFloat(gpus, 'g', -1, 64)+" GPUs", toolMetric{figure, gpus}, "value", "", v,
				o.line)
		case isNumber && latencyName().MatchString(strings.ReplaceAll(key, "_", " ")):
			t, ok := labelled(key+" (s)", true)
			e.put(t, ok, key, text, o.line)
		case key == "model":
			e.word(target{name: "model"}, text, key)
			e.state(key, text, o.line, "model")
		case isSetting(key):
			e.params[key] = text
			e.state(key, text, o.line, key)
		default:
			e.state(key, text, o.line, "")
		}
	}

	e.variant = strings.TrimSpace(strings.Join([]string{
		e.params["hw"], e.params["framework"], path.Base(e.model),
		e.params["precision"],
	}, " "))
	return e
}

func isSetting(key string) bool {
	switch key {
	case "hw", "framework", "precision", "tp", "ep", "dp_attention", "spec_decoding", "disagg", "image", "num_gpus":
		return true
	}
	return false
}

// fromMTP reads the sum of a benchmark of multi-token prediction.
func fromMTP(name string, o object) *entry {
	e := newEntry(name, formatMTP, o.line)
	for key, figure := range map[string]string{
		"n_requests": "completed", "total_predicted": "total_output_tokens", "wall_s_total": "duration_s",
	} {
		if raw, ok := o.values[key]; ok {
			e.put(target{name: figure, scale: 1}, true, key, brief(raw), o.line)
		}
	}

	d := &results.Drafting{Source: results.DraftsByLog}
	o.into("total_draft", &d.DraftTokens)
	o.into("total_draft_accepted", &d.AcceptedTokens)
	if d.DraftTokens != nil && d.AcceptedTokens != nil {
		d.Derive()
		e.drafting = d
	}

	for _, key := range o.keys {
		if strings.HasPrefix(key, "total_draft") || key == "aggregate_accept_rate" {
			e.state(key, brief(o.values[key]), o.line, "")
		}
	}

	return e
}
