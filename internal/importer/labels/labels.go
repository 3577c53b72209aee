// Package labels finds what a label in another program's results stands for.
//
// What goes in: a label such as "P99 TTFT (ms)" or "output_throughput". What comes
// out: a figure or a setting of bench, and the factor to its unit. It reads no value
// and knows no format.
package labels

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchrig/bench/metrics/catalog"
)

// Target is what a name in a file stands for.
type Target struct {
	Name  string  // of a figure or setting: "request_throughput", "ttft"
	Stat  string  // of a latency: "mean", "median", "std", "min", "max", "n", "p"; else ""
	P     float64 // of stat "p"
	Scale float64 // to bench's unit; 0: the value is not a number
}

// As names the target as summary.csv does.
func (t Target) As() string {
	switch t.Stat {
	case "":
		return t.Name
	case "p":
		return "p" + strconv.FormatFloat(t.P, 'f', -1, 64) + "_" + t.Name + "_s"
	}
	return t.Stat + "_" + t.Name + "_s"
}

// IsFigure reports whether the target is a measurement, not a setting.
func (t Target) IsFigure() bool { return t.Stat != "" || FigureNamed(t.Name) }

// FigureNamed reports whether a name without a statistic is that of a figure which
// files may have.
func FigureNamed(name string) bool {
	f, err := catalog.Find(name)
	return err == nil && f.Aliases != nil
}

// plainName returns the figure or setting that files call by these words; "": unknown.
func plainName(text string) string {
	if f, known := catalog.Imported(text); known {
		return f.Name
	}
	return settingNamed(text)
}

// settingNamed returns the setting that files call by these words; "": unknown.
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

// Setting returns the target of a setting that has this name in bench.
func Setting(name string) Target {
	switch name {
	case "model", "backend", "endpoint", "dataset", "dataset_path", "ignore_eos", "tokenizer", "variant", "point",
		"label", "date":
		return Target{Name: name}
	}
	return Target{Name: name, Scale: 1}
}

// UnitInBrackets matches the end of a label with its unit; LatencyName matches the names
// of latencies with their statistic.
var (
	UnitInBrackets = regexp.MustCompile(`\s*\(([^()]*)\)\s*:?\s*$`)
	notWords       = regexp.MustCompile(`[^a-z0-9.%]+`)
	LatencyName    = sync.OnceValue(latencyPattern)
)

func latencyPattern() *regexp.Regexp {
	var names []string
	for _, s := range catalog.Samples() {
		names = append(names, s.Aliases...)
	}
	return regexp.MustCompile(`^(mean|avg|average|median|std|min|max|n|p\d{1,2}(?:\.\d+)?) (` +
		strings.Join(names, "|") + `)(?: (ms|s|us))?$`)
}

// metricName returns the name of the latency that has this alias.
func metricName(text string) string {
	for _, s := range catalog.Samples() {
		if slices.Contains(s.Aliases, text) {
			return s.Name
		}
	}
	return text
}

// SecondsOf returns how many seconds a unit has; 0: not a unit of time.
func SecondsOf(unit string) float64 {
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

// Of finds what a label stands for. With program, the label is a name that a program
// gave, as in JSON: durations without a unit are then seconds. Elsewhere a latency
// without a unit is not understood, and not guessed.
func Of(label string, program bool) (Target, bool) {
	const longest = 80
	if len(label) > longest {
		return Target{}, false
	}

	text := strings.ToLower(strings.Trim(label, " *`:_"))
	unit := ""
	if m := UnitInBrackets.FindStringSubmatchIndex(text); m != nil {
		unit, text = strings.TrimSpace(text[m[2]:m[3]]), text[:m[0]]
	}

	text = strings.TrimSpace(notWords.ReplaceAllString(text, " "))
	if m := LatencyName().FindStringSubmatch(text); m != nil {
		return latencyTarget(m, unit)
	}

	name := plainName(text)
	if name == "duration_s" {
		if text == "duration s" || unit == "" && program {
			unit = "s"
		}
		scale := SecondsOf(unit)
		return Target{Name: name, Scale: scale}, scale > 0
	}

	if name == "" || !unitFits(name, unit) {
		return Target{}, false
	}
	return Setting(name), true
}

func latencyTarget(m []string, unit string) (Target, bool) {
	if unit == "" {
		unit = m[3]
	}

	t := Target{Name: metricName(m[2]), Stat: m[1]}
	if t.Stat == "n" {
		t.Scale = 1
		return t, unit == "" || unit == "s" // older files summary.csv have n_ttft_s
	}

	switch {
	case t.Stat == "avg" || t.Stat == "average":
		t.Stat = "mean"
	case t.Stat[0] == 'p':
		p, err := strconv.ParseFloat(t.Stat[1:], 64)
		if err != nil {
			return Target{}, false
		}
		t.Stat, t.P = "p", p
	}

	t.Scale = SecondsOf(unit)
	return t, t.Scale > 0
}

// unitFits reports whether a figure or setting may have this unit.
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

// IsCount reports whether a label names a count, which has no fraction.
func IsCount(label string) bool {
	t, understood := Of(label, false)
	return understood && t.Counts()
}

// Counts reports whether the target is a count, which has no fraction.
func (t Target) Counts() bool {
	f, err := catalog.Find(t.Name)
	return t.Stat == "" && err == nil && f.Whole && f.Unit == ""
}
