package stated

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
)

// SettingOf returns the setting that an argument of a client gives; "": none of the
// load. dataset is the client's kind of dataset.
func SettingOf(argument, dataset string) string {
	switch argument {
	case "num_prompts", "max_concurrency", "request_rate", "burstiness", "model", "backend", "endpoint", "dataset_path",
		"ignore_eos", "temperature", "tokenizer":
		return argument
	case "dataset_name":
		return "dataset"
	case "random_input_len", "random_output_len":
		if dataset == "random" {
			return strings.TrimPrefix(argument, "random_")
		}
	}
	return ""
}

// Fitting returns the arguments of an earlier client's command that do not
// contradict what the result states itself.
func (e *Entry) Fitting(args [][2]string) [][2]string {
	return slices.DeleteFunc(slices.Clone(args), func(a [2]string) bool {
		name := SettingOf(a[0], "random")
		if e.IsStated(name) || name == "model" && e.Model != "" || name == "backend" && e.Backend != "" {
			return true
		}
		n, ok := plain.Number(a[1])
		return name == "num_prompts" && ok && int(n) < e.Figures.Completed+e.Figures.Failed
	})
}

// Settle applies the arguments of the client that measured the result.
func (e *Entry) Settle(args [][2]string, line int) {
	dataset := ""
	for _, a := range args {
		if a[0] == "dataset_name" {
			dataset = a[1]
		}
	}

	for _, a := range args {
		if name := SettingOf(a[0], dataset); name != "" {
			e.Setting(name, a[0], a[1], line)
		}
	}
}
