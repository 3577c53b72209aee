package importer

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
)

// settingOf is the setting that an argument of a client is; "": none that says
// what load it sends.
func settingOf(argument, dataset string) string {
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

// fitting are the arguments of an earlier client's command that do not
// contradict what a result says about itself.
func (e *entry) fitting(args [][2]string) [][2]string {
	return slices.DeleteFunc(slices.Clone(args), func(a [2]string) bool {
		name := settingOf(a[0], "random")
		if e.isStated(name) || name == "model" && e.model != "" || name == "backend" && e.backend != "" {
			return true
		}
		n, ok := plain.Number(a[1])
		return name == "num_prompts" && ok && int(n) < e.figures.Completed+e.figures.Failed
	})
}

// settle applies a client's arguments to a result.
func (e *entry) settle(args [][2]string, line int) {
	dataset := ""
	for _, a := range args {
		if a[0] == "dataset_name" {
			dataset = a[1]
		}
	}

	for _, a := range args {
		name := settingOf(a[0], dataset)
		if name == "" {
			continue
		}
		t := labels.Target{Name: name, Scale: 1}
		if labels.IsWord(name) {
			t.Scale = 0
		}
		e.put(t, true, a[0], a[1], line)
	}
}

// shareEngines gives results that are under one name and model the engine that
// the file names for others of them.
func shareEngines(all []*entry) {
	of := map[[2]string]string{}
	key := func(e *entry) [2]string { return [2]string{e.variant, e.model} }
	for _, e := range all {
		if e.engine == "" {
			e.engine = commands.EngineIn(e.variant)
		}
		switch before, known := of[key(e)]; {
		case e.engine == "" || known && before == e.engine:
		case known:
			of[key(e)] = "" // two: nothing is guessed
		default:
			of[key(e)] = e.engine
		}
	}

	for _, e := range all {
		if e.engine == "" && e.variant != "" && e.model != "" {
			e.engine = of[key(e)]
		}
	}
}
