package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchrig/bench/metrics/catalog"
)

// target is what a name in a file stands for.
type target struct {
	name  string  // of a figure or setting: "request_throughput", "ttft"
	stat  string  // of a latency: "mean", "median", "std", "min", "max", "n", "p"; else ""
	p     float64 // of stat "p"
	scale float64 // to our unit; 0: the value is not a number
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
func (t target) isFigure() bool { return t.stat != "" || figureNamed(t.name) }

// figureNamed says whether a plain name is a measurement's that files may have.
func figureNamed(name string) bool {
	f, err := catalog.Find(name)
	return err == nil && f.Aliases != nil
}

// plainName is a figure or setting by how files call it, in words; "": unknown.
func plainName(text string) string {
	if f, known := catalog.Imported(text); known {
		return f.Name
	}
	return settingNamed(text)
}

// settingNamed is a setting by how files call it; "": unknown.
func settingNamed(text string) string {
	switch text {
	case "backend", "endpoint", "temperature", "variant", "point", "repeat", "label", "date":
		return text
	case "maximum request concurrency", "max request concurrency", "max concurrency":
		return "max_concurrency"
	case "request rate", "traffic request rate", "request rate configured":
		return "request_rate"
	case "burstiness factor", "burstiness":
		return "burstiness"
	case "num prompts", "number of prompts", "asked":
		return "num_prompts"
	case "model", "model id":
		return "model"
	case "dataset name":
		return "dataset"
	case "dataset path":
		return "dataset_path"
	case "random input len":
		return "input_len"
	case "random output len":
		return "output_len"
	case "ignore eos":
		return "ignore_eos"
	case "tokenizer id", "tokenizer":
		return "tokenizer"
	}

	return ""
}

// isWord says of a setting that its values are not numbers.
func isWord(name string) bool {
	switch name {
	case "model", "backend", "endpoint", "dataset", "dataset_path", "ignore_eos", "tokenizer", "variant", "point",
		"label", "date":
		return true
	}
	return false
}

var (
	unitInBrackets = regexp.MustCompile(`\s*\(([^()]*)\)\s*:?\s*$`)
	notWords       = regexp.MustCompile(`[^a-z0-9.%]+`)
	latencyName    = sync.OnceValue(latencyPattern)
)

func latencyPattern() *regexp.Regexp {
	var names []string
	for _, s := range catalog.Samples() {
		names = append(names, s.Aliases...)
	}
	return regexp.MustCompile(`^(mean|avg|average|median|std|min|max|n|p\d{1,2}(?:\.\d+)?) (` +
		strings.Join(names, "|") + `)(?: (ms|s|us))?$`)
}

// metricName is a latency by its short name.
func metricName(text string) string {
	for _, s := range catalog.Samples() {
		if slices.Contains(s.Aliases, text) {
			return s.Name
		}
	}
	return text
}

// secondsOf is how many seconds a unit has; 0: not a unit of time.
func secondsOf(unit string) float64 {
	switch unit {
	case "s", "sec", "seconds":
		return 1
	case "ms":
		return 1e-3
	case "us", "µs":
		return 1e-6
	}
	return 0
}

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
	if m := latencyName().FindStringSubmatch(text); m != nil {
		return latencyTarget(m, unit)
	}

	name := plainName(text)
	if name == "duration_s" {
		if text == "duration s" || unit == "" && program {
			unit = "s"
		}
		scale := secondsOf(unit)
		return target{name: name, scale: scale}, scale > 0
	}

	if name == "" || !unitFits(name, unit) {
		return target{}, false
	}
	if isWord(name) {
		return target{name: name}, true
	}

	return target{name: name, scale: 1}, true
}

func latencyTarget(m []string, unit string) (target, bool) {
	if unit == "" {
		unit = m[3]
	}

	t := target{name: metricName(m[2]), stat: m[1]}
	if t.stat == "n" {
		t.scale = 1
		return t, unit == "" || unit == "s" // a count; older summary.csv have n_ttft_s
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

	t.scale = secondsOf(unit)
	return t, t.scale > 0
}

// unitFits refuses a unit that the figure does not have.
func unitFits(name, unit string) bool {
	has := "req/s" // of request_rate
	if f, err := catalog.Find(name); err == nil {
		has = f.Unit
	} else if name != "request_rate" {
		has = "none"
	}

	switch unit {
	case "":
		return true
	case "req/s", "requests/s", "rps":
		return has == "req/s"
	case "tok/s", "tokens/s", "token/s":
		return has == "tok/s"
	}
	return false
}
