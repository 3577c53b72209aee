package engines

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

func ollamaKind() Kind {
	return Kind{
		Name:        "ollama",
		Title:       "Ollama",
		Program:     Program{Name: "ollama", VersionArgs: []string{"--version"}},
		DefaultPort: 11434,
		StopGrace:   20 * time.Second,
		Run:         []string{"ollama"},
		Command:     ollamaCommand,
		NeedsModel:  true,
		Template:    ollamaTemplate,
		Args:        Args{WorldSize: unknownSize},
		Image: Image{
			Entry: []string{"ollama"},
			Caches: []container.Cache{{
				Name: "ollama", Path: "/root/.ollama", Variable: "OLLAMA_MODELS",
				Below: "models",
			}},
		},
		API: API{
			LoadsLate:   true,
			Owners:      []string{"library"},
			ServedName:  func(s recipe.Spec) string { return ollamaModel(s.Model) },
			HealthPath:  "/", // says "Ollama is running"; the model loads with the first request
			ModelsPath:  "/v1/models",
			VersionPath: "/api/version",
			Describe: []Description{
				{Path: "/api/version", Facts: map[string]logs.Fact{"version": logs.FactVersion}},
				{
					Path: "/api/ps", Arguments: "models.0",
					Facts: map[string]logs.Fact{
						"models.0.size":           logs.FactModelBytes,
						"models.0.context_length": logs.FactContext,
					},
				},
			},
		},
		Log: logs.Lines{
			Fatal:      ollamaFatal(),
			Requests:   regexp.MustCompile(`msg="(completion|chat) request"|\bprompt=`),
			Milestones: ollamaMilestones(),
		},
	}.started()
}

// ollamaCommand builds `ollama serve`, which takes its settings from the
// environment: num-parallel becomes OLLAMA_NUM_PARALLEL, true 1, false 0, a
// list one word with commas. The model must have been pulled before. Models
// stay loaded (keep-alive -1), and blobs and downloads of others are not pruned
// from the store (noprune), unless the arguments say otherwise.
func ollamaCommand(s recipe.Spec) (recipe.Command, error) {
	if s.ServedName != "" && ollamaModel(s.ServedName) != ollamaModel(s.Model) {
		return recipe.Command{}, fmt.Errorf("served-name: %q: ollama serves a model under its own name only: remove "+
			"the key", s.ServedName)
	}
	host, port := address(s)
	own := map[string]string{"OLLAMA_KEEP_ALIVE": "-1", "OLLAMA_NOPRUNE": "1"}
	given := map[string]string{}
	for _, arg := range s.Args {
		name, value, err := ollamaVariable(arg)
		switch {
		case err != nil:
			return recipe.Command{}, fmt.Errorf("args: %s: %w", arg.Name, err)
		case given[name] != "":
			return recipe.Command{}, fmt.Errorf("args: %s and %s are one setting of ollama: keep one of them",
				given[name], arg.Name)
		case s.Env[name] != "":
			return recipe.Command{}, fmt.Errorf("args: %s: env sets %s too: keep one of them", arg.Name, name)
		}
		given[name] = arg.Name
		own[name] = value
		if arg.Value == nil {
			delete(own, name)
		}
	}
	if _, ok := s.Env["OLLAMA_HOST"]; ok {
		return recipe.Command{}, fmt.Errorf("env: OLLAMA_HOST is set by bench: use the keys host: and port: of the " +
			"server block")
	}
	own["OLLAMA_HOST"] = net.JoinHostPort(host, port)
	argv := s.Binary
	if argv[len(argv)-1] != "serve" {
		argv = append(argv, "serve")
	}

	return recipe.Assemble(s, argv, own, ollamaSettings()...)
}

// ollamaSettings are inherited variables that change what is measured; where
// models lie (OLLAMA_MODELS) is left alone.
func ollamaSettings() []string {
	return []string{
		"OLLAMA_NUM_PARALLEL", "OLLAMA_MAX_LOADED_MODELS", "OLLAMA_MAX_QUEUE", "OLLAMA_CONTEXT_LENGTH",
		"OLLAMA_KEEP_ALIVE",
		"OLLAMA_FLASH_ATTENTION", "OLLAMA_KV_CACHE_TYPE", "OLLAMA_SCHED_SPREAD", "OLLAMA_GPU_OVERHEAD",
		"OLLAMA_LLM_LIBRARY",
		"OLLAMA_NEW_ENGINE", "OLLAMA_NOPRUNE", "OLLAMA_MULTIUSER_CACHE", "OLLAMA_LOAD_TIMEOUT", "OLLAMA_DEBUG",
	}
}

func ollamaVariable(arg recipe.Arg) (name, value string, err error) {
	if !recipe.OptionName.MatchString(arg.Name) || strings.Contains(arg.Name, ".") {
		return "", "", fmt.Errorf("not the name of a setting: write num-parallel for OLLAMA_NUM_PARALLEL")
	}
	name = strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(arg.Name, "-"), "-", "_"))
	name = "OLLAMA_" + strings.TrimPrefix(name, "OLLAMA_")
	switch name {
	case "OLLAMA_HOST", "OLLAMA_PORT":
		return "", "", fmt.Errorf("set by bench: use the keys host: and port: of the server block")
	case "OLLAMA_MODEL":
		return "", "", fmt.Errorf("set by bench: use the key model: of the server block")
	}
	value, err = ollamaValue(arg.Value)
	return name, value, err
}

func ollamaValue(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case map[string]any:
		return "", fmt.Errorf("a map cannot become an environment variable")
	case []any:
		texts := make([]string, 0, len(v))
		for _, item := range v {
			text, err := recipe.Scalar(item)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, ","), nil
	}

	return recipe.Scalar(value)
}

// ollamaModel is a model's name as ollama lists it: with its tag.
func ollamaModel(model string) string {
	last := model[strings.LastIndex(model, "/")+1:]
	if model == "" || strings.Contains(last, ":") {
		return model
	}
	return model + ":latest"
}

func ollamaMilestones() []logs.Milestone {
	return []logs.Milestone{
		logs.NewMilestone(`llama runner started in ([\d.]+) seconds`, logs.PhaseWeights),
		logs.NewMilestone(`KvSize:(\d+)`, logs.FactKVTokens),
	}
}

func ollamaFatal() []logs.FatalLine {
	return []logs.FatalLine{
		logs.Fatal(results.FailPortInUse, "", `listen tcp .*: bind: address already in use`),
		logs.Fatal(results.FailOutOfMemory, "", `model requires more system memory`,
			`cudaMalloc failed: out of memory`),
		logs.Fatal(results.FailEngineDied, "", `llama runner process has terminated`),
	}
}

// ollamaTemplate is the starter scenario.
var ollamaTemplate = starterHead("Ollama", "ollama") + `server:                            # shared by all variants
  launcher: ollama
  model: llama3.1:8b               # pull it first: ollama pull llama3.1:8b
  env:                             # ollama is set up by environment variables
    OLLAMA_KEEP_ALIVE: "-1"
  ready: {timeout: 10m, stall: 5m}

variants:
  - name: parallel${n}
    matrix: {n: [1, 4]}
    env: {OLLAMA_NUM_PARALLEL: "${n}"}

load:
  endpoint: chat                   # or completions
  dataset: {kind: random, seed: 0} # or sharegpt, jsonl with path: FILE
  num-prompts: 64
  input-len: 512
  output-len: 128
  sweep: {max-concurrency: [1, 4, 8]}
` + starterEnd
