package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// variables are the columns of what a run varies and what it holds: model,
// engine, load, server start, and the arguments in which servers differ.
func variables(run *results.Run) []csvField {
	fields := loadVariables()
	for _, name := range differingArguments(run) {
		fields = append(fields, ofStep(argumentName(name), func(r *results.Result) string {
			return text.Clean(versus.RecipeOf(r).Arguments()[name])
		}))
	}

	return fields
}

// argumentName is the name of the column of a flag.
func argumentName(flag string) string { return "arg." + text.Clean(strings.TrimLeft(flag, "-")) }

// loadVariables are the columns of model, engine, load and server start.
func loadVariables() []csvField {
	return []csvField{
		ofServer("model", func(s results.Server) string { return text.Clean(s.Model) }),
		ofServer("engine", func(s results.Server) string { return text.Clean(s.Launcher) }),
		ofServer("engine_version", func(s results.Server) string { return text.Clean(s.Version) }),
		ofStep("server_start", startsOf),
		ofStep("dataset", func(r *results.Result) string { return text.Clean(r.Asked.Dataset) }),
		ofStep("num_prompts", func(r *results.Result) string { return strconv.Itoa(r.Asked.NumPrompts) }),
		ofStep("max_concurrency", func(r *results.Result) string { return optional(r.Asked.MaxConcurrency) }),
		ofStep("request_rate_per_s", func(r *results.Result) string {
			if r.Asked.RequestRate == nil {
				return ""
			}
			return strconv.FormatFloat(*r.Asked.RequestRate, 'g', -1, 64)
		}),
		ofStep("input_len_tokens", func(r *results.Result) string { return optional(r.Asked.InputLen) }),
		ofStep("output_len_tokens", func(r *results.Result) string { return optional(r.Asked.OutputLen) }),
	}
}

// differingArguments are the flags that not all servers of a run were started
// with alike, sorted.
func differingArguments(run *results.Run) []string {
	var recipes []map[string]string
	names := map[string]bool{}
	for _, s := range run.Steps {
		if len(s.Result.Servers) == 0 {
			continue
		}
		args := versus.RecipeOf(s.Result).Arguments()
		recipes = append(recipes, args)
		for name := range args {
			if strings.HasPrefix(name, "-") {
				names[name] = true
			}
		}
	}

	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool {
		return !slices.ContainsFunc(recipes, func(args map[string]string) bool {
			return args[name] != recipes[0][name]
		})
	})
}

func startsOf(r *results.Result) string {
	var names []string
	for _, s := range r.Servers {
		names = append(names, text.Clean(s.Life))
	}

	return strings.Join(names, ";")
}

// ofServer is empty for steps that no server is known of.
func ofServer(name string, value func(results.Server) string) csvField {
	return ofStep(name, func(r *results.Result) string {
		if len(r.Servers) == 0 {
			return ""
		}
		return value(r.Servers[0])
	})
}

func optional(v *int) string {
	if v == nil {
		return ""
	}
	return strconv.Itoa(*v)
}
