package importer

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
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
func fromPerf(name string, o lenient.Object) *entry {
	e := newEntry(name, formatPerf, o.Line)
	for _, key := range o.Keys {
		var metric map[string]any
		m, known := perfMetrics()[key]
		if !o.Into(key, &metric) || metric["unit"] == nil {
			continue
		}
		if !known {
			e.state(key, lenient.Brief(o.Values[key]), o.Line, "")
			continue
		}
		unit, _ := metric["unit"].(string)
		for _, stat := range slices.Sorted(maps.Keys(metric)) {
			if v, isNumber := metric[stat].(float64); isNumber {
				e.stat(key+"."+stat, m, stat, unit, v, o.Line)
			}
		}
	}

	e.perfConfig(o)
	e.perfErrors(o)
	return e
}

// perfErrors takes what failed requests ended with.
func (e *entry) perfErrors(o lenient.Object) {
	var errors []struct {
		Details struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error_details"`
	}
	o.Into("error_summary", &errors)
	for _, found := range errors {
		text := strings.Trim(found.Details.Type+": "+found.Details.Message, ": ")
		if text != "" {
			e.figures.FailureSamples = append(e.figures.FailureSamples, plain.Shown(text))
		}
	}
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
	if !e.set(t, v*t.Scale) {
		e.state(label, text, line, "")
		e.warn(results.WarnImportedDiffers, "%s is %s, and had another value before", label, text)
		return
	}
	e.state(label, text, line, t.As())
	e.found++
}

// statTarget is what a statistic of a metric stands for; false: nothing of ours,
// or in a unit that is not known.
func statTarget(m toolMetric, stat, unit string) (labels.Target, bool) {
	scale := m.scale
	if labels.FigureNamed(m.name) {
		if m.name == "duration_s" {
			scale = labels.SecondsOf(unit)
		}
		return labels.Target{Name: m.name, Scale: scale},
			scale > 0 && (stat == "avg" || stat == "mean" || stat == "value")
	}

	t := labels.Target{Name: m.name, Stat: stat, Scale: scale * labels.SecondsOf(unit)}
	switch stat {
	case "count":
		t.Stat, t.Scale = "n", 1
		return t, true
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

// perfConfig takes the load and the model out of the configuration, wherever
// the versions of the tool keep them.
func (e *entry) perfConfig(o lenient.Object) {
	var config any
	if !o.Into("input_config", &config) {
		return
	}

	walk("", config, func(key string, value any) {
		switch v := value.(type) {
		case float64:
			name := map[string]string{
				"concurrency": "max_concurrency", "request_rate": "request_rate", "request_count": "num_prompts",
				"num_prompts": "num_prompts",
			}[key]
			if name != "" && !e.isStated(name) {
				e.put(labels.Target{Name: name, Scale: 1}, true, "input_config."+key, strconv.FormatFloat(v, 'g', -1,
					64),
					o.Line)
			}
		case string:
			named := key == "model" || key == "model_name" || key == "model_names"
			if named || key == "name" && e.model == "" && strings.ContainsAny(v, "/-") {
				e.model = v
				e.state("input_config."+key, v, o.Line, "model")
			}
		}
	})
}

// walk visits every value that is neither a list nor an object, in the order of
// names. The values of a list have its name.
func walk(key string, value any, visit func(key string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(key, v[key], visit)
		}
	case []any:
		for _, item := range v {
			walk(key, item, visit)
		}
	default:
		visit(key, value)
	}
}

// isPerfCSV reports whether a text is the CSV export of AIPerf or genai-perf.
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
	if m := labels.UnitInBrackets.FindStringSubmatchIndex(text); m != nil {
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

// guideBenchmark is one benchmark of a report of GuideLLM. Versions keep the
// counts of its requests in different places.
type guideBenchmark struct {
	Config struct {
		Strategy guideStrategy   `json:"strategy"`
		Profile  json.RawMessage `json:"profile"`
		Backend  struct {
			Model string `json:"model"`
		} `json:"backend"`
	} `json:"config"`
	Args struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"args"`
	Duration  *float64                   `json:"duration"`
	Metrics   map[string]json.RawMessage `json:"metrics"`
	Requests  guideCounts                `json:"request_totals"`
	Scheduler struct {
		Requests guideCounts `json:"requests_made"`
	} `json:"scheduler_metrics"`
	Stats struct {
		Requests guideCounts `json:"requests_made"`
	} `json:"run_stats"`
}

type guideStrategy struct {
	Type    string   `json:"type_"`
	Streams *float64 `json:"streams"`
	Rate    *float64 `json:"rate"`
	Max     *float64 `json:"max_concurrency"`
}

// guideCounts are requests by how they ended: those that were still running at
// the end of the benchmark are incomplete.
type guideCounts struct {
	Successful, Errored, Incomplete *float64
}

// guideStats are the statistics of a metric over successful requests.
type guideStats struct {
	Mean, Median, Min, Max, Count *float64

	StdDev      *float64 `json:"std_dev"`
	Total       *float64 `json:"total_sum"`
	Percentiles map[string]*float64
}

// fromGuide reads a report of GuideLLM: a result for each benchmark in it.
func fromGuide(name string, o lenient.Object) ([]*entry, bool) {
	var list []guideBenchmark
	if !o.Into("benchmarks", &list) {
		return nil, false
	}

	var all []*entry
	for _, b := range list {
		e := newEntry(name, formatGuide, o.Line)
		if b.Duration != nil {
			e.stat("duration", toolMetric{"duration_s", 1}, "value", "s", *b.Duration, o.Line)
		}
		b.metricsInto(e, o.Line)
		b.countsInto(e, o.Line)
		b.loadInto(e, o.Line)
		var args struct{ Model string }
		o.Into("args", &args)
		e.model = cmp.Or(args.Model, b.Config.Backend.Model)
		all = append(all, e)
	}

	return all, true
}

func (b guideBenchmark) metricsInto(e *entry, line int) {
	for _, key := range slices.Sorted(maps.Keys(guideMetrics())) {
		d, ok := b.successful(key)
		if !ok {
			continue
		}
		m := guideMetrics()[key]
		for stat, v := range map[string]*float64{
			"mean": d.Mean, "median": d.Median, "std": d.StdDev, "min": d.Min,
			"max": d.Max, "count": d.Count,
		} {
			if v != nil && (stat == "mean" || !labels.FigureNamed(m.name)) {
				e.stat(key+"."+stat, m.toolMetric, stat, m.unit, *v, line)
			}
		}
		for p, v := range d.Percentiles {
			if v != nil && !labels.FigureNamed(m.name) && p != "p50" {
				e.stat(key+"."+p, m.toolMetric, guidePercentile(p), m.unit, *v, line)
			}
		}
	}

	for key, figure := range map[string]string{
		"prompt_token_count": "total_input_tokens",
		"output_token_count": "total_output_tokens",
	} {
		if d, ok := b.successful(key); ok && d.Total != nil {
			e.stat(key+".total_sum", toolMetric{figure, 1}, "value", "", *d.Total, line)
		}
	}
}

// successful are the statistics of a metric; false: it has none.
func (b guideBenchmark) successful(key string) (guideStats, bool) {
	var metric struct{ Successful *guideStats }
	if json.Unmarshal(b.Metrics[key], &metric) != nil || metric.Successful == nil {
		return guideStats{}, false
	}
	return *metric.Successful, true
}

// countsInto takes the counts of requests from the first place that has them.
// Incomplete requests are neither successful nor failed: the benchmark's end cut
// them off.
func (b guideBenchmark) countsInto(e *entry, line int) {
	var ofMetrics guideCounts
	if raw := b.Metrics["request_totals"]; json.Unmarshal(raw, &ofMetrics) != nil {
		ofMetrics = guideCounts{}
	}

	for _, c := range []guideCounts{ofMetrics, b.Requests, b.Scheduler.Requests, b.Stats.Requests} {
		if c.Successful == nil {
			continue
		}
		e.stat("request_totals.successful", toolMetric{"completed", 1}, "value", "", *c.Successful, line)
		if c.Errored != nil {
			e.stat("request_totals.errored", toolMetric{"failed", 1}, "value", "", *c.Errored, line)
		}
		if c.Incomplete != nil {
			e.state("request_totals.incomplete", strconv.FormatFloat(*c.Incomplete, 'g', -1, 64), line, "")
		}
		return
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

// isUnlimited reports whether the profile that was asked for has no limit of
// concurrency: that of the strategy is then GuideLLM's own, of its connections.
func (b guideBenchmark) isUnlimited() bool {
	var profile map[string]json.RawMessage
	return json.Unmarshal(b.Config.Profile, &profile) == nil && string(profile["max_concurrency"]) == "null"
}

func (b guideBenchmark) loadInto(e *entry, line int) {
	for _, s := range []guideStrategy{b.Config.Strategy, b.Args.Strategy} {
		streams, rate := s.Streams, s.Rate
		switch {
		case s.Type == "synchronous":
			streams = new(1.0)
		case streams == nil && !b.isUnlimited():
			streams = s.Max
		}

		if streams != nil && !e.isStated("max_concurrency") {
			e.put(labels.Target{Name: "max_concurrency", Scale: 1}, true, "strategy.streams",
				strconv.FormatFloat(*streams, 'g', -1, 64), line)
		}
		if rate != nil && !e.isStated("request_rate") {
			e.put(labels.Target{Name: "request_rate", Scale: 1}, true, "strategy.rate",
				strconv.FormatFloat(*rate, 'g', -1, 64), line)
		}
		if s.Type == "poisson" && !e.isStated("burstiness") {
			e.put(labels.Target{Name: "burstiness", Scale: 1}, true, "strategy.type_", "1", line)
		}
	}
}

// fromOptimizer reads a row of llm-optimizer: what the client measured, in
// SGLang's names, and the arguments of server and client.
func fromOptimizer(name string, o lenient.Object) (*entry, bool) {
	var config struct {
		Client map[string]any `json:"client_args"`
		Server map[string]any `json:"server_args"`
		Argv   []string       `json:"server_cmd_args"`
	}

	inner, err := lenient.ObjectOf(o.Values["results"])
	if err != nil || !o.Into("config", &config) || kindOf(inner) == "" {
		return nil, false
	}

	inner.Line = o.Line
	e := fromSaved(name, formatOptimizer, inner)
	for _, key := range slices.Sorted(maps.Keys(config.Server)) {
		e.params[key] = plainValue(config.Server[key])
	}

	for _, key := range slices.Sorted(maps.Keys(config.Client)) {
		setting := settingOf(key, "random")
		if setting == "" || labels.IsWord(setting) || e.isStated(setting) {
			continue
		}
		e.put(labels.Target{Name: setting, Scale: 1}, true, key, plainValue(config.Client[key]), o.Line)
	}

	return e, true
}

func plainValue(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return lenient.Brief(data)
}

// fromInferenceX reads a result of InferenceX (InferenceMAX): times in seconds,
// throughputs a GPU.
func fromInferenceX(name string, o lenient.Object) *entry {
	e := newEntry(name, formatInferenceX, o.Line)
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
			e.put(labels.Target{Name: "max_concurrency", Scale: 1}, true, key, text, o.Line)
		case isNumber && (key == "isl" || key == "osl"):
			setting := map[string]string{"isl": "input_len", "osl": "output_len"}[key]
			e.put(labels.Target{Name: setting, Scale: 1}, true, key, text, o.Line)
		case isNumber && gpus > 0 && (key == "tput_per_gpu" || key == "output_tput_per_gpu"):
			figure := map[string]string{
				"tput_per_gpu":        "total_token_throughput",
				"output_tput_per_gpu": "output_throughput",
			}[key]
			e.stat(key+" x "+strconv.FormatFloat(gpus, 'g', -1, 64)+" GPUs", toolMetric{figure, gpus}, "value", "", v,
				o.Line)
		case isNumber && labels.LatencyName().MatchString(strings.ReplaceAll(key, "_", " ")):
			t, ok := labels.Of(key+" (s)", true)
			e.put(t, ok, key, text, o.Line)
		case key == "model":
			e.word(labels.Target{Name: "model"}, text, key)
			e.state(key, text, o.Line, "model")
		case isSetting(key):
			e.params[key] = text
			e.state(key, text, o.Line, key)
		default:
			e.state(key, text, o.Line, "")
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
func fromMTP(name string, o lenient.Object) *entry {
	e := newEntry(name, formatMTP, o.Line)
	for key, figure := range map[string]string{
		"n_requests": "completed", "total_predicted": "total_output_tokens", "wall_s_total": "duration_s",
	} {
		if raw, ok := o.Values[key]; ok {
			e.put(labels.Target{Name: figure, Scale: 1}, true, key, lenient.Brief(raw), o.Line)
		}
	}

	d := &results.Drafting{Source: results.DraftsByLog}
	o.Into("total_draft", &d.DraftTokens)
	o.Into("total_draft_accepted", &d.AcceptedTokens)
	if d.DraftTokens != nil && d.AcceptedTokens != nil {
		d.Derive()
		e.drafting = d
	}

	for _, key := range o.Keys {
		if strings.HasPrefix(key, "total_draft") || key == "aggregate_accept_rate" {
			e.state(key, lenient.Brief(o.Values[key]), o.Line, "")
		}
	}

	return e
}
