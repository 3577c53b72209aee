package engines

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
)

func commandKind() Kind {
	return Kind{
		Name:        "command",
		WholeArgv:   true,
		LocalModel:  true,
		Template:    commandTemplate,
		DefaultPort: 8000,
		StopGrace:   30 * time.Second,
		Command:     commandCommand,
		MetricsPath: "/metrics",
		Metrics:     anyMetrics(),
		Args: Args{
			Conflicts: func(spec recipe.Spec, _ Version) []Conflict { return bareFlashAttention(spec.Command) },
			WorldSize: unknownSize,
		},
		API: API{
			ServedName:  servedOrModel,
			ModelsPath:  "/v1/models",
			ModelsMaybe: true,
			MayTokenize: true,
		},
		Log: logs.Lines{
			Requests: logs.TorchRequests, // a wrapper around an engine, most often
		},
	}.started()
}

// placeholder is a ${name} in a command.
var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// commandCommand fills ${host}, ${port}, ${model} and ${gpus} into the argv of
// the recipe and appends its args as plain options: true is a switch, false is
// left out, a list repeats its option. No shell is involved.
func commandCommand(s recipe.Spec) (recipe.Command, error) {
	if len(s.Command) == 0 {
		return recipe.Command{}, fmt.Errorf("command: missing: give the server's program and arguments as a list")
	}
	if known := Dialects(); s.API != "" && !slices.Contains(known, s.API) {
		return recipe.Command{}, fmt.Errorf("api: %q is unknown: use %s", s.API, strings.Join(known, " or "))
	}
	values, err := placeholders(s)
	if err != nil {
		return recipe.Command{}, err
	}
	words, err := recipe.FillPeers(s.Command, s.Peers)
	if err != nil {
		return recipe.Command{}, err
	}
	argv := make([]string, 0, len(words))
	for _, word := range words {
		filled, err := fill(word, values)
		if err != nil {
			return recipe.Command{}, err
		}
		argv = append(argv, filled)
	}
	if argv[0] == "" {
		return recipe.Command{}, fmt.Errorf("command: the program's name is empty")
	}
	options, err := plainSpelling("this command").Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	return recipe.Assemble(s, append(argv, options...), nil, torchUnset()...)
}

func placeholders(s recipe.Spec) (map[string]string, error) {
	host, port := address(s)
	values := map[string]string{"${host}": host, "${port}": port}
	if s.Model != "" {
		values["${model}"] = s.Model
	}
	if s.GPUs != nil {
		list, err := recipe.GPUList(s.GPUs)
		if err != nil {
			return nil, err
		}
		values["${gpus}"] = list
	}
	return values, nil
}

func fill(word string, values map[string]string) (string, error) {
	var err error
	filled := placeholder.ReplaceAllStringFunc(word, func(name string) string {
		value, ok := values[name]
		switch {
		case ok:
			return value
		case name == "${model}":
			err = fmt.Errorf("command: %q needs the key model", word)
		case name == "${gpus}":
			err = fmt.Errorf("command: %q needs GPUs: give the key gpus", word)
		default:
			err = fmt.Errorf("command: %s in %q is unknown: there are ${host}, ${port}, ${model} and ${gpus}", name,
				word)
		}
		return name
	})
	return filled, err
}

// plainSpelling is that of an unknown program.
func plainSpelling(program string) recipe.Spelling {
	return recipe.Spelling{
		Engine:      program,
		Short:       func(name string) bool { return len(name) == 1 },
		List:        func(string) recipe.ListForm { return recipe.Repeated },
		JoinDash:    true,
		Underscores: true,
	}
}

// bareFlashAttention finds -fa without a value, which builds since the end of
// August 2025 take from the word behind it.
func bareFlashAttention(argv []string) []Conflict {
	if len(argv) == 0 || !slices.ContainsFunc(argv,
		func(word string) bool { return path.Base(word) == "llama-server" }) {
		return nil
	}
	for i, word := range argv {
		bare := i+1 == len(argv) || strings.HasPrefix(argv[i+1], "-")
		if (word == "-fa" || word == "--flash-attn") && bare {
			return []Conflict{{Message: word +
				": if llama-server is of September 2025 or later, it takes a value (on, off, auto), and the word " +
				"behind it for one: write " + word + " on"}}
		}
	}
	return nil
}

// commandTemplate is the starter scenario.
var commandTemplate = starterHead("any server with an OpenAI-style API", "command") +
	`server:                            # shared by all variants
  launcher: command
  model: my-model                  # the name that requests ask for
  api: openai                      # or llamacpp
  command:                         # the argv, one entry each; no shell reads it
    - ./my-server                  # with a slash: relative to this file
    - --listen=${host}:${port}     # host, port and model are filled in at launch
    - --model=${model}
    - --threads=${threads}
  ready: {timeout: 10m, stall: 5m, path: /health}
  stop: {grace: 30s}

variants:
  - name: threads${threads}
    matrix: {threads: [4, 8]}
` + starterSmallLoad + starterEnd
