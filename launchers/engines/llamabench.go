package engines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// LlamaBench is llama.cpp's own benchmark program, which loads models itself
// and serves nobody: for Launcher.Start. It is given more after its options.
func LlamaBench(models []string, more ...string) Kind {
	return Kind{
		Name:      "llama-bench",
		StopGrace: 10 * time.Second,
		Command:   func(s recipe.Spec) (recipe.Command, error) { return llamaBenchCommand(s, models, more) },
		WorldSize: unknownSize, // it spreads over all GPUs that it sees
		Fatal:     llamaBenchFatal(),
	}
}

// llamaBenchCommand builds `llama-bench -m MODEL ... OPTIONS MORE`. A list is
// one value with commas, over which the program itself sweeps.
func llamaBenchCommand(s recipe.Spec, models, more []string) (recipe.Command, error) {
	argv := slices.Clone(s.Binary)
	if len(argv) == 0 {
		argv = []string{"llama-bench"}
	}
	if len(models) == 0 {
		return recipe.Command{}, fmt.Errorf("model: missing: say which model llama-bench shall load")
	}

	for _, model := range models {
		switch {
		case model == "", strings.HasPrefix(model, "-"), strings.ContainsRune(model, 0):
			return recipe.Command{}, fmt.Errorf("model: %q is not the path of a model", model)
		case strings.Contains(model, ","):
			return recipe.Command{}, fmt.Errorf("model: %q holds a comma, and llama-bench would take it for several "+
				"models: rename the file", model)
		}
		argv = append(argv, "-m", model)
	}

	spelling := llamaBenchSpelling()
	for _, arg := range s.Args {
		if slices.Contains([]string{"model", "hf-repo", "hf-file", "output", "output-err", "repetitions"},
			spelling.Key(arg.Name)) {
			return recipe.Command{}, fmt.Errorf("args: %s is set by bench: there are models: and repetitions: under "+
				"llama-bench:, and the output is read by bench", arg.Name)
		}
	}

	options, err := spelling.Render(withNumbers(s.Args))
	if err != nil {
		return recipe.Command{}, err
	}

	return recipe.Assemble(s, slices.Concat(argv, options, more), nil)
}

// withNumbers spells true and false in lists as all builds take them.
func withNumbers(args []recipe.Arg) []recipe.Arg {
	out := slices.Clone(args)
	for i, arg := range out {
		list, ok := arg.Value.([]any)
		if !ok {
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
func llamaBenchFatal() []FatalLine {
	const lower = "lower n-prompt, n-depth, batch-size or n-gpu-layers"
	return slices.Concat(
		[]FatalLine{
			fatal(results.FailBadFlag, "the flag was renamed or removed, or takes other values: see llama-bench "+
				"--help of this build",
				`^error: invalid parameter for argument`),
			fatal(results.FailOutOfMemory, lower, `failed to initialize the context: failed to allocate`),
		},
		llamaFatal(),
		[]FatalLine{
			fatal(results.FailOutOfMemory, lower, `error: failed to create context with model`),
			fatal(results.FailModel, "", `error: failed to load model`),
		})
}
