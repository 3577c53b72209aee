package engines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// Measuring is a program that measures an engine without a server, and the method
// of a scenario that runs it. A new program is a line in MeasuringPrograms, with a
// reader of what it writes in internal/programs.
type Measuring struct {
	Name     string   // of the method
	About    string   // what it is, for help
	Example  string   // of its block in a scenario, YAML
	Launcher string   // the kind whose recipes it takes
	Run      []string // its command where a recipe names no binary
	Words    []string // follow the binary of a recipe, which is that of the kind; nil: the program is another one
	Model    string   // the option before a model
	Several  bool     // it takes several models, and repeats each test
	File     string   // the option before the file that it writes; "": it prints
	Prints   []string // make it print what can be read

	Needs    []string                // options without which it measures nothing
	Set      []string                // options that bench sets, by their canonical names
	unset    []string                // variables that it must not inherit
	spelling func() recipe.Spelling  // of its options
	fatal    func() []logs.FatalLine // lines of its log that say why it failed
}

// MeasuringPrograms lists the programs.
func MeasuringPrograms() []Measuring {
	vllm := func(name, about, example string) Measuring {
		return Measuring{
			Name: "vllm-" + name, About: about, Example: example,
			Launcher: "vllm", Run: []string{"vllm"}, Words: []string{"bench", name},
			Model: "--model", File: "--output-json", Set: []string{"model", "output-json"},
			unset: torchUnset(), spelling: vllmSpelling, fatal: vllmFatal,
		}
	}

	return []Measuring{
		{
			Name: results.MethodLlamaBench, About: "llama.cpp's own program, one sequence at a time",
			Launcher: "llamacpp", Run: []string{"llama-bench"}, Model: "-m", Several: true,
			Prints: []string{"-o", "jsonl"},
			Set:    []string{"model", "hf-repo", "hf-file", "output", "output-err", "repetitions"},
			Example: "models: [models/llama-2-7b.Q4_K_M.gguf, models/llama-2-7b.Q8_0.gguf]\n" +
				"args: {n-prompt: [512], n-gen: [128], flash-attn: [0, 1], n-gpu-layers: 99}\nrepetitions: 5\n",
			spelling: llamaBenchSpelling, fatal: llamaBenchFatal,
		},
		{
			Name: results.MethodBatchedBench, About: "llama.cpp's program for batches of sequences",
			Launcher: "llamacpp", Run: []string{"llama-batched-bench"}, Model: "-m",
			Prints: []string{"--output-format", "jsonl"}, Needs: []string{"npp", "ntg", "npl"},
			Set:      []string{"model", "output-format"},
			Example:  "args: {npp: [128, 512], ntg: [128], npl: [1, 4, 16], ctx-size: 16384, n-gpu-layers: 99}\n",
			spelling: batchedSpelling, fatal: llamaBenchFatal,
		},
		vllm("throughput", "vLLM's offline throughput",
			"args: {dataset-name: random, input-len: 512, output-len: 128, num-prompts: 500}\n"),
		vllm("latency", "vLLM's time of one batch",
			"args: {input-len: 512, output-len: 128, batch-size: 8, num-iters: 30}\n"),
		vllm("startup", "vLLM's starts with cold and warm compile caches",
			"args: {num-iters-cold: 3, num-iters-warm: 3}\n"),
	}
}

// AboutMeasuring says of each program what it is.
func AboutMeasuring() string {
	var each []string
	for _, m := range MeasuringPrograms() {
		each = append(each, m.Name+": "+m.About)
	}
	return "Instead of server and client, a program: " + strings.Join(each, ". ") + "."
}

// MeasuringProgram finds the program of a method.
func MeasuringProgram(method string) (Measuring, bool) {
	for _, m := range MeasuringPrograms() {
		if m.Name == method {
			return m, true
		}
	}
	return Measuring{}, false
}

// Replaces reports whether the program may take the place of a server of a kind.
func (m Measuring) Replaces(kind Kind) bool { return kind.Name == m.Launcher || kind.Simulated }

// Kind is the program as something that a launcher starts: for Launcher.Start. It
// loads the models itself, serves nobody, and is given more after its options.
func (m Measuring) Kind(models []string, more ...string) Kind {
	const grace = 10 * time.Second
	of, _ := Lookup(m.Launcher)
	return Kind{
		Name: m.Name, StopGrace: max(grace, of.OrphanGrace), OrphanGrace: of.OrphanGrace,
		Command: func(s recipe.Spec) (recipe.Command, error) { return m.command(s, models, more) },
		Private: of.Private,
		Args:    Args{WorldSize: of.Args.WorldSize},
		Log:     logs.Lines{Fatal: m.fatal(), Milestones: of.Log.Milestones},
	}
}

// command builds `PROGRAM -m MODEL ... OPTIONS MORE`.
func (m Measuring) command(s recipe.Spec, models, more []string) (recipe.Command, error) {
	argv, err := m.program(s.Binary)
	if err != nil {
		return recipe.Command{}, err
	}
	if len(models) == 0 {
		return recipe.Command{}, fmt.Errorf("model: missing: say which model %s is to load", m.Name)
	}
	for _, model := range models {
		switch {
		case model == "", strings.HasPrefix(model, "-"), strings.ContainsRune(model, 0):
			return recipe.Command{}, fmt.Errorf("model: %q is not the path of a model", model)
		case m.Several && strings.Contains(model, ","):
			return recipe.Command{}, fmt.Errorf("model: %q holds a comma, and %s would take it for several models: "+
				"rename the file", model, m.Name)
		}
		argv = append(argv, m.Model, model)
	}

	options, err := m.options(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}
	argv = slices.Concat(argv, options, more, m.Prints)
	if m.File != "" {
		file := s.OutputPath
		if file == "" {
			file = OutputName // of a plan: the folder is not there yet
		}
		argv = append(argv, m.File, file)
	}
	return recipe.Assemble(s, argv, nil, m.unset...)
}

// OutputName is the name of the file that a program writes.
const OutputName = "output.json"

// program is the beginning of the command line.
func (m Measuring) program(binary []string) ([]string, error) {
	argv := slices.Clone(binary)
	if len(argv) == 0 {
		argv = slices.Clone(m.Run)
	}
	if m.Words == nil || slices.Contains(argv, SimulateProgram) {
		return argv, nil
	}

	last := argv[len(argv)-1]
	if strings.HasSuffix(last, vllmAPIServer) || strings.HasSuffix(last, "api_server.py") {
		return nil, fmt.Errorf("binary: %q only serves: name the program %s, which has the command %s", last, m.Run[0],
			strings.Join(m.Words, " "))
	}
	if last == "serve" {
		argv = argv[:len(argv)-1]
	}
	return append(argv, m.Words...), nil
}

// SimulateProgram is the command of bench that stands in for a program.
const SimulateProgram = "simulate-program"

// options are the words of the arguments.
func (m Measuring) options(args []recipe.Arg) ([]string, error) {
	spelling := m.spelling()
	for _, arg := range args {
		if slices.Contains(m.Set, spelling.Key(arg.Name)) {
			return nil, fmt.Errorf("args: %s is set by bench: remove it", arg.Name)
		}
	}
	for _, name := range m.Needs {
		if value, given := spelling.Find(args, name); !given || value == nil {
			return nil, fmt.Errorf("args: %s is missing: %s measures every combination of %s", name, m.Name,
				strings.Join(m.Needs, ", "))
		}
	}
	return spelling.Render(withNumbers(spelling, args))
}

// withNumbers spells true and false in lists with commas as all builds take them.
func withNumbers(spelling recipe.Spelling, args []recipe.Arg) []recipe.Arg {
	out := slices.Clone(args)
	for i, arg := range out {
		list, ok := arg.Value.([]any)
		if !ok || spelling.List(spelling.Key(arg.Name)) != recipe.Comma {
			continue
		}
		list = slices.Clone(list)
		for k, value := range list {
			if on, ok := value.(bool); ok {
				list[k] = json.Number(zeroOrOne(on))
			}
		}
		out[i].Value = list
	}

	return out
}

// batchedSpelling is that of llama-server, with the options that only
// llama-batched-bench has.
func batchedSpelling() recipe.Spelling {
	own := []string{"npp", "ntg", "npl", "pps", "tgs"}
	of := llamaSpelling()
	s := of
	s.Engine = results.MethodBatchedBench
	s.Short = func(name string) bool { return slices.Contains(own, name) || of.Short(name) }
	s.List = func(name string) recipe.ListForm {
		if slices.Contains(own, name) {
			return recipe.Comma
		}
		return of.List(name)
	}
	return s
}

func zeroOrOne(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// llamaBenchShort are the options with a single dash, and the long names that
// mean the same.
func llamaBenchShort() map[string]string {
	return map[string]string{
		"m": "model", "hf": "hf-repo", "hfr": "hf-repo", "hff": "hf-file", "hft": "hf-token", "p": "n-prompt",
		"n": "n-gen", "pg": "pg", "d": "n-depth",
		"b": "batch-size", "ub": "ubatch-size", "ctk": "cache-type-k", "ctv": "cache-type-v", "t": "threads",
		"C": "cpu-mask", "ngl": "n-gpu-layers",
		"ncmoe": "n-cpu-moe", "sm": "split-mode", "mg": "main-gpu", "nkvo": "no-kv-offload", "fa": "flash-attn",
		"dev": "device", "lm": "load-mode",
		"lzm": "lazy-mode", "mmp": "mmap", "embd": "embeddings", "ts": "tensor-split", "ot": "override-tensor",
		"nopo": "no-op-offload",
		"fitt": "fit-target", "fitc": "fit-ctx", "r": "repetitions", "o": "output", "oe": "output-err", "v": "verbose",
	}
}

func llamaBenchSpelling() recipe.Spelling {
	short := llamaBenchShort()
	return recipe.Spelling{
		Engine: "llama-bench",
		Short:  func(name string) bool { return short[name] != "" || len(name) == 1 },
		Canonical: func(name string) string {
			if long := short[name]; long != "" {
				return long
			}

			return name
		},
		BoolValue: func(name string, on bool) string {
			if slices.Contains([]string{"progress", "no-warmup", "offline", "verbose"}, name) {
				return "" // switches
			}

			return zeroOrOne(on)
		},
		List: func(name string) recipe.ListForm {
			if name == "pg" { // its values hold a comma themselves
				return recipe.Repeated
			}

			return recipe.Comma
		},
	}
}

// llamaBenchFatal: the library's own lines say more than the program's.
func llamaBenchFatal() []logs.FatalLine {
	const lower = "lower n-prompt, n-depth, ctx-size, batch-size or n-gpu-layers"
	return slices.Concat(
		[]logs.FatalLine{
			logs.Fatal(results.FailBadFlag, "the flag was renamed or removed, or takes other values: see --help of "+
				"this build",
				`^error: invalid parameter for argument`),
			logs.Fatal(results.FailOutOfMemory, lower, `failed to initialize the context: failed to allocate`),
		},
		llamaFatal(),
		[]logs.FatalLine{
			logs.Fatal(results.FailOutOfMemory, lower, `error: failed to create context with model`,
				`error: failed to create the llama_context`),
			logs.Fatal(results.FailModel, "", `error: failed to load model`, `error: unable to load model`),
		})
}
