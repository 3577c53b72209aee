package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

const (
	assumedPromptTokensPerS = 500.0
	assumedBatchTokensPerS  = 2000.0 // output tokens/s of all sequences of vLLM together
	assumedModelLoad        = 10.0   // seconds
)

// programWork is what a program of a method does.
type programWork struct {
	seconds func(options) float64 // how long it takes
	assumes string                // what that rests on

	// tests is how many tests it is asked for, and how many of them a context of so
	// many tokens certainly holds; nil: not known.
	tests func(o options, context float64) (asked, held int)
}

// programWorks has a line for each of engines.MeasuringPrograms.
func programWorks() map[string]programWork {
	return map[string]programWork{
		results.MethodLlamaBench: {
			seconds: llamaBenchSeconds,
			assumes: "500 prompt tokens/s, 50 generated tokens/s, each test once more to warm up, 10 s to load a model",
		},
		results.MethodBatchedBench: {
			seconds: batchedSeconds,
			assumes: "500 prompt tokens/s, 50 generated tokens/s a sequence, 10 s to load a model",
			tests:   batchedTests,
		},
		results.MethodVllmThroughput: {
			seconds: func(o options) float64 {
				return assumedStart + o.number(1000, "num-prompts")*
					o.number(assumedOutput, "output-len", "random-output-len")/assumedBatchTokensPerS
			},
			assumes: "2 min to start the engine, 2000 output tokens/s, 200 output tokens where the dataset decides",
		},
		results.MethodVllmLatency: {
			seconds: func(o options) float64 {
				return assumedStart + (o.number(30, "num-iters")+o.number(10, "num-iters-warmup"))*
					o.number(128, "output-len")/assumedTokensPerS
			},
			assumes: "2 min to start the engine, 50 output tokens/s a sequence",
		},
		results.MethodVllmStartup: {
			seconds: func(o options) float64 {
				return assumedStart * (o.number(3, "num-iters-cold") + o.number(1, "num-iters-warmup") +
					o.number(3, "num-iters-warm"))
			},
			assumes: "2 min for each start of the engine",
		},
	}
}

// options are those of a program.
type options struct {
	args   []recipe.Arg
	models int
	times  int // repetitions of a test
}

// values are the numbers of the first option with one of these names, else otherwise.
func (o options) values(otherwise []float64, names ...string) []float64 {
	for _, arg := range o.args {
		named := func(name string) bool { return sameOption(arg.Name, name) }
		if arg.Value != nil && slices.ContainsFunc(names, named) {
			return lengthsOf(arg.Value)
		}
	}
	return otherwise
}

func (o options) number(otherwise float64, names ...string) float64 {
	return o.values([]float64{otherwise}, names...)[0]
}

// llamaBenchSeconds: where it is not asked for, llama-bench tests a prompt of 512
// tokens and an answer of 128.
func llamaBenchSeconds(o options) float64 {
	prompts, answers := []string{"n-prompt", "p"}, []string{"n-gen", "n"}
	sweep := float64(o.models)
	for _, arg := range o.args {
		if !slices.ContainsFunc(slices.Concat(prompts, answers), func(name string) bool {
			return sameOption(arg.Name, name)
		}) {
			sweep *= float64(max(1, len(lengthsOf(arg.Value))))
		}
	}

	total := 0.0
	for _, n := range o.values([]float64{512}, prompts...) {
		total += n / assumedPromptTokensPerS
	}
	for _, n := range o.values([]float64{128}, answers...) {
		total += n / assumedTokensPerS
	}
	return sweep * (total*float64(o.times+1) + assumedModelLoad)
}

func batchedSeconds(o options) float64 {
	total := assumedModelLoad
	o.eachBatch(func(pp, tg, pl float64) {
		total += pp*pl/assumedPromptTokensPerS + tg/assumedTokensPerS
	})
	return total
}

// batchedTests: the context is one for all sequences. Those that share their prompt
// may need less.
func batchedTests(o options, context float64) (asked, held int) {
	o.eachBatch(func(pp, tg, pl float64) {
		asked++
		if pl*(pp+tg) <= context {
			held++
		}
	})
	return asked, held
}

// eachBatch calls f for each test of llama-batched-bench: pl prompts of pp tokens, and
// answers of tg tokens to them.
func (o options) eachBatch(f func(pp, tg, pl float64)) {
	for _, pp := range o.values(nil, "npp") {
		for _, tg := range o.values(nil, "ntg") {
			for _, pl := range o.values(nil, "npl") {
				f(pp, tg, pl)
			}
		}
	}
}

// ExpectedTests is how many tests the program of a variant is asked for, and how many
// of them a context of so many tokens certainly holds; 0, 0: not known.
func ExpectedTests(sc *scenarios.Scenario, v scenarios.Variant, context int64) (asked, held int) {
	tests := programWorks()[string(sc.Method)].tests
	if tests == nil {
		return 0, 0
	}
	return tests(optionsOf(sc, v), float64(context))
}

func optionsOf(sc *scenarios.Scenario, v scenarios.Variant) options {
	spec := recipe.Spec{Args: Args(v.Server.Args)}
	asProgram(sc, &spec, Machine{})
	return options{args: spec.Args, models: len(programModels(sc, v)), times: sc.Program.Repetitions}
}

// programEstimate is how long the program of a variant may take.
func programEstimate(sc *scenarios.Scenario, v scenarios.Variant) float64 {
	return programWorks()[string(sc.Method)].seconds(optionsOf(sc, v))
}

// programKind is the program with the models of a variant.
func programKind(sc *scenarios.Scenario, v scenarios.Variant, program engines.Measuring) engines.Kind {
	var more []string
	if program.Several {
		more = []string{"-r", strconv.Itoa(max(1, sc.Program.Repetitions))} // of llama.cpp's program
	}
	kind := program.Kind(programModels(sc, v), more...)
	kind.Simulated = v.Server.Kind().Simulated
	return kind
}

// programModels are the models of a variant: its own, or those of all.
func programModels(sc *scenarios.Scenario, v scenarios.Variant) []string {
	if len(sc.Program.Models) > 0 {
		return sc.Program.Models
	}
	return []string{v.Server.Model}
}

// asProgram makes a server's spec that of the program. The options of the variant
// take precedence over those of all.
func asProgram(sc *scenarios.Scenario, spec *recipe.Spec, machine Machine) {
	spec.Port, spec.Host = 0, ""
	if len(sc.Program.Binary) > 0 {
		spec.Binary = slices.Clone(sc.Program.Binary)
	}
	if kind, _ := engines.Lookup(spec.Launcher); kind.Simulated && spec.Binary == nil {
		spec.Binary = []string{scenarios.BenchProgram, engines.SimulateProgram, string(sc.Method)}
	}
	for i, word := range spec.Binary {
		if word == scenarios.BenchProgram {
			spec.Binary[i] = machine.Self
		}
	}

	own := spec.Args
	spec.Args = nil
	for _, arg := range Args(sc.Program.Args) {
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
