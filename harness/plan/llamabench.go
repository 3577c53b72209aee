package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

const (
	// LlamaBenchName is the name of the launcher that runs llama.cpp's own benchmark program.
	LlamaBenchName = "llama-bench"

	// Where it is not asked for, llama-bench tests a prompt and an answer of
	// these lengths.
	usualPrompt = 512
	usualAnswer = 128

	assumedPromptTokensPerS = 500.0
	assumedModelLoad        = 10.0 // seconds

	benchAssumptions = "500 prompt tokens/s, 50 generated tokens/s, each test once more to warm up, 10 s to load a " +
		"model"
)

// llamaBenchKind is the program with the models and repetitions of a variant.
func llamaBenchKind(sc *scenarios.Scenario, v scenarios.Variant) engines.Kind {
	kind := engines.LlamaBench(benchModels(sc, v),
		slices.Concat([]string{"-r", strconv.Itoa(max(1, sc.LlamaBench.Repetitions))}, llamabench.JSONLines())...)
	kind.Simulated = v.Server.Kind().Simulated
	return kind
}

// benchModels are the models of a variant: its own, or those of all.
func benchModels(sc *scenarios.Scenario, v scenarios.Variant) []string {
	if len(sc.LlamaBench.Models) > 0 {
		return sc.LlamaBench.Models
	}
	return []string{v.Server.Model}
}

// asProgram makes a server's spec that of the benchmark program. The options of
// the variant lie over those of all.
func asProgram(sc *scenarios.Scenario, spec *recipe.Spec, machine Machine) {
	spec.Port, spec.Host = 0, ""
	spec.Binary = slices.Clone(sc.LlamaBench.Binary)
	for i, word := range spec.Binary {
		if word == scenarios.BenchProgram {
			spec.Binary[i] = machine.Self
		}
	}

	own := spec.Args
	spec.Args = nil
	for _, arg := range Args(sc.LlamaBench.Args) {
		if !slices.ContainsFunc(own, func(a recipe.Arg) bool { return sameOption(a.Name, arg.Name) }) {
			spec.Args = append(spec.Args, arg)
		}
	}

	spec.Args = append(spec.Args, own...)
}

func sameOption(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimLeft(s, "-"), "_", "-") }
	return plain(a) == plain(b)
}

// benchEstimate is how long the tests of a variant may take.
func benchEstimate(sc *scenarios.Scenario, v scenarios.Variant) float64 {
	spec := recipe.Spec{Args: Args(v.Server.Args)}
	asProgram(sc, &spec, Machine{})
	prompts, answers := []float64{usualPrompt}, []float64{usualAnswer}
	sweep := float64(len(benchModels(sc, v)))
	for _, arg := range spec.Args {
		values := lengthsOf(arg.Value)
		switch {
		case sameOption(arg.Name, "n-prompt"), arg.Name == "p":
			prompts = values
		case sameOption(arg.Name, "n-gen"), arg.Name == "n":
			answers = values
		default:
			sweep *= float64(max(1, len(values)))
		}
	}

	total := 0.0
	for _, n := range prompts {
		total += n / assumedPromptTokensPerS
	}

	for _, n := range answers {
		total += n / assumedTokensPerS
	}

	return sweep * (total*float64(sc.LlamaBench.Repetitions+1) + assumedModelLoad)
}

// lengthsOf are the numbers of an option's value, 0 for what is not a number.
func lengthsOf(value any) []float64 {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	numbers := make([]float64, len(list))
	for i, v := range list {
		numbers[i], _ = strconv.ParseFloat(fmt.Sprint(v), 64)
	}
	return numbers
}
