package clients

import (
	"encoding/csv"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// perfMetrics maps metrics of AIPerf and genai-perf to figures of bench. Their
// inter-token latency is (latency - TTFT) / (tokens - 1) of a request: bench's TPOT.
func perfMetrics() map[string]string {
	return map[string]string{
		"time_to_first_token":     "ttft",
		"inter_token_latency":     "tpot",
		"request_latency":         "e2el",
		"request_throughput":      "request_throughput",
		"goodput":                 "request_goodput",
		"output_token_throughput": "output_throughput",
		"total_token_throughput":  "total_token_throughput",
		"request_count":           "completed",
		"error_request_count":     "failed",
		"benchmark_duration":      "duration_s",
		"total_output_tokens":     "total_output_tokens",
		"total_osl":               "total_output_tokens",
		"total_isl":               "total_input_tokens",
		"total_input_tokens":      "total_input_tokens",
	}
}

// fromPerf reads the JSON export of AIPerf or genai-perf: an object a metric,
// with its unit and statistics.
func fromPerf(name string, o lenient.Object) *stated.Entry {
	e := stated.New(name, Perf, o.Line)
	for _, key := range o.Keys {
		var metric map[string]any
		figure, known := perfMetrics()[key]
		if !o.Into(key, &metric) || metric["unit"] == nil {
			continue
		}
		if !known {
			e.State(key, lenient.Brief(o.Values[key]), o.Line, "")
			continue
		}
		unit, _ := metric["unit"].(string)
		for _, stat := range slices.Sorted(maps.Keys(metric)) {
			if v, isNumber := metric[stat].(float64); isNumber {
				takeStat(e, key+"."+stat, figure, stat, unit, v, o.Line)
			}
		}
	}

	takePerfConfig(e, o)
	takePerfErrors(e, o)
	return e
}

// takePerfErrors takes the messages of failed requests.
func takePerfErrors(e *stated.Entry, o lenient.Object) {
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
			e.Figures.FailureSamples = append(e.Figures.FailureSamples, plain.Shown(text))
		}
	}
}

// takePerfConfig takes the load and the model out of the configuration, wherever
// the versions of the tool keep them.
func takePerfConfig(e *stated.Entry, o lenient.Object) {
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
			if name != "" && !e.IsStated(name) {
				e.Setting(name, "input_config."+key, number(v), o.Line)
			}
		case string:
			named := key == "model" || key == "model_name" || key == "model_names"
			if named || key == "name" && e.Model == "" && strings.ContainsAny(v, "/-") {
				e.Model = v
				e.State("input_config."+key, v, o.Line, "model")
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

// IsPerfCSV reports whether a text is the CSV export of AIPerf or genai-perf.
func IsPerfCSV(text []byte) bool {
	head, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\n")
	return strings.HasPrefix(strings.ToLower(head), "metric,avg,min,max")
}

// FromPerfCSV reads the CSV export of AIPerf or genai-perf: a table of latencies with
// their statistics, and one of plain values. It returns the lines without a figure.
func FromPerfCSV(name string, text []byte) (*stated.Entry, []results.ImportedLine) {
	e := stated.New(name, Perf, 1)
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
			rest = stated.AppendLine(rest, no+1, results.LineNotFigures, line)
			continue
		}

		title, unit := perfTitle(cells[0])
		figure, known := perfMetrics()[title]
		if !known {
			rest = stated.AppendLine(rest, no+1, results.LineNote, line)
			continue
		}
		for i, cell := range cells[1:] {
			if v, ok := plain.Number(cell); ok {
				takeStat(e, cells[0]+" "+heads[i+1], figure, strings.ToLower(heads[i+1]), unit, v, no+1)
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
