package importer

import (
	"regexp"
	"strconv"
	"strings"
)

// target is what a name in a file stands for.
type target struct {
	name  string  // of a figure or setting: "request_throughput", "ttft"
	stat  string  // of a latency: "mean", "median", "std", "min", "max", "n", "p"; else ""
	p     float64 // of stat "p"
	scale float64 // to our unit; 0: the value is no number
}

// as names the target as summary.csv does.
func (t target) as() string {
	switch t.stat {
	case "":
		return t.name
	case "p":
		return "p" + strconv.FormatFloat(t.p, 'f', -1, 64) + "_" + t.name + "_s"
	}
	return t.stat + "_" + t.name + "_s"
}

// isFigure tells measurements from settings.
func (t target) isFigure() bool { return t.stat != "" || figureNames[t.name] }

var figureNames = map[string]bool{
	"completed": true, "failed": true, "duration_s": true, "total_input_tokens": true, "total_output_tokens": true, "request_throughput": true,
	"request_goodput": true, "output_throughput": true, "total_token_throughput": true, "max_output_tokens_per_s": true, "peak_concurrent_requests": true,
}

// plainNames are figures and settings by how files call them, in words.
var plainNames = map[string]string{
	"successful requests": "completed", "completed": "completed", "completed requests": "completed", "failed requests": "failed", "failed": "failed",
	"total input tokens": "total_input_tokens", "total generated tokens": "total_output_tokens", "total output tokens": "total_output_tokens",
	"request throughput": "request_throughput", "req s": "request_throughput", "requests s": "request_throughput", "qps": "request_throughput",
	"request goodput": "request_goodput", "output token throughput": "output_throughput", "output throughput": "output_throughput",
	"output tok s": "output_throughput", "output tokens s": "output_throughput", "total token throughput": "total_token_throughput",
	"total tok s": "total_token_throughput", "total tokens s": "total_token_throughput", "peak output token throughput": "max_output_tokens_per_s",
	"max output tokens per s": "max_output_tokens_per_s", "peak concurrent requests": "peak_concurrent_requests", "max concurrent requests": "peak_concurrent_requests",
	"maximum request concurrency": "max_concurrency", "max request concurrency": "max_concurrency", "max concurrency": "max_concurrency",
	"request rate": "request_rate", "traffic request rate": "request_rate", "request rate configured": "request_rate", "burstiness factor": "burstiness", "burstiness": "burstiness",
	"num prompts": "num_prompts", "number of prompts": "num_prompts", "model": "model", "model id": "model", "backend": "backend",
	"endpoint": "endpoint", "dataset name": "dataset", "dataset path": "dataset_path", "random input len": "input_len", "random output len": "output_len",
	"ignore eos": "ignore_eos", "temperature": "temperature", "tokenizer id": "tokenizer", "tokenizer": "tokenizer",
	"asked": "num_prompts", "variant": "variant", "point": "point", "repeat": "repeat", "label": "label", "date": "date",
}

// words are settings whose values are no numbers.
var words = map[string]bool{
	"model": true, "backend": true, "endpoint": true, "dataset": true, "dataset_path": true, "ignore_eos": true, "tokenizer": true,
	"variant": true, "point": true, "label": true, "date": true,
}

var (
	unitInBrackets = regexp.MustCompile(`\s*\(([^()]*)\)\s*:?\s*$`)
	notWords       = regexp.MustCompile(`[^a-z0-9.%]+`)
	latencyName    = regexp.MustCompile(`^(mean|avg|average|median|std|min|max|n|p\d{1,2}(?:\.\d+)?) (ttft|tpot|itl|icl|e2el|e2e latency|end to end latency|time to first token|time per output token|inter token latency)(?: (ms|s|us))?$`)
	metricNames    = map[string]string{
		"e2e latency": "e2el", "end to end latency": "e2el", "time to first token": "ttft", "time per output token": "tpot", "inter token latency": "itl",
	}
	seconds = map[string]float64{"s": 1, "sec": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
)

// labelled finds what a label stands for. In JSON, where a name is a program's
// own, plain durations are seconds; elsewhere a latency without a unit is not
// understood, and not guessed.
func labelled(label string, program bool) (target, bool) {
	const longest = 80
	if len(label) > longest {
		return target{}, false
	}
	text := strings.ToLower(strings.Trim(label, " *`:_"))
	unit := ""
	if m := unitInBrackets.FindStringSubmatchIndex(text); m != nil {
		unit, text = strings.TrimSpace(text[m[2]:m[3]]), text[:m[0]]
	}
	text = strings.TrimSpace(notWords.ReplaceAllString(text, " "))
	if m := latencyName.FindStringSubmatch(text); m != nil {
		return latencyTarget(m, unit)
	}
	switch text {
	case "benchmark duration", "duration", "duration s":
		if text == "duration s" || unit == "" && program {
			unit = "s"
		}
		scale, ok := seconds[unit]
		return target{name: "duration_s", scale: scale}, ok
	}
	name, ok := plainNames[text]
	if !ok || !unitFits(name, unit) {
		return target{}, false
	}
	if words[name] {
		return target{name: name}, true
	}
	return target{name: name, scale: 1}, true
}

func latencyTarget(m []string, unit string) (target, bool) {
	if unit == "" {
		unit = m[3]
	}
	t := target{name: m[2], stat: m[1]}
	if name, ok := metricNames[t.name]; ok {
		t.name = name
	}
	if t.stat == "n" {
		t.scale = 1
		return t, unit == "s"
	}
	switch {
	case t.stat == "avg" || t.stat == "average":
		t.stat = "mean"
	case t.stat[0] == 'p':
		p, err := strconv.ParseFloat(t.stat[1:], 64)
		if err != nil {
			return target{}, false
		}
		t.stat, t.p = "p", p
	}
	var ok bool
	t.scale, ok = seconds[unit]
	return t, ok
}

// unitFits refuses a unit that the figure does not have.
func unitFits(name, unit string) bool {
	switch unit {
	case "":
		return true
	case "req/s", "requests/s", "rps":
		return name == "request_throughput" || name == "request_goodput" || name == "request_rate"
	case "tok/s", "tokens/s", "token/s":
		return strings.Contains(name, "throughput") && name != "request_throughput" || name == "max_output_tokens_per_s"
	}
	return false
}

var (
	thousands = regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$`)
	number    = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// numberIn reads a value as people print it: bold, with thousands separators.
func numberIn(text string) (float64, bool) {
	text = plainCell(text)
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if !number.MatchString(text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// plainCell is a cell without Markdown's emphasis.
func plainCell(text string) string { return strings.Trim(strings.TrimSpace(text), "*`_ ") }
