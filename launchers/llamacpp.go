package launchers

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func llamacppKind() Kind {
	return Kind{
		Name:        "llamacpp",
		DefaultPort: 8080,
		// With a stream open a server stops at its next keep-alive ping, which
		// comes every 30 s.
		StopGrace:    35 * time.Second,
		Command:      llamaCommand,
		Entry:        []string{"llama-server"},
		WorldSize:    unknownSize, // it spreads over all GPUs that it sees
		ServedName:   llamaServedName,
		HealthPath:   "/health",
		ModelsPath:   "/v1/models",
		TokenizePath: "/tokenize",
		MetricsPath:  "/metrics",
		VersionPath:  "/props",
		Counters:     llamaCounters(),
		Gauges:       llamaGauges(),
		AcceptedAt:   llamaAcceptedAt(),
		ModelFile:    "/props",
		Reset:        llamaReset(),
		Fatal:        llamaFatal(),
		Milestones:   llamaMilestones(),
		Describe: []Description{
			{Path: "/props", Arguments: ".", Facts: map[string]Fact{
				"build_info": FactVersion, "total_slots": FactSlots, "default_generation_settings.n_ctx": FactContext,
			}},
			{Path: "/v1/models", Facts: map[string]Fact{"data.0.meta.size": FactModelBytes}},
		},
		AnyModelName: true,
		Body:         map[string]any{"cache_prompt": false}, // else a repeated prompt costs nothing
	}
}

// llamaCommand builds `llama-server -m MODEL ...`. Without a model the arguments
// must say where it comes from (hf-repo, model-url). Flags that were renamed are
// spelled as current builds take them (llamaCurrent); a name with its dashes
// ("--draft-max") is left as it stands, for older builds. Added unless the
// arguments name them: --metrics, and --spec-type draft-simple for a draft
// model, which current builds ignore without it.
func llamaCommand(s Spec) (Command, error) {
	spelling := llamaSpelling()
	if s.Model == "" && llamaSource(s.Args) != "" {
		for _, key := range llamaSources() {
			delete(spelling.owned, key)
		}
	} else if err := needModel(s); err != nil {
		return Command{}, err
	}
	if strings.Contains(s.ServedName, ",") {
		return Command{}, fmt.Errorf("served-name: %q holds a comma, and llama-server would take it for several names", s.ServedName)
	}
	options, err := spelling.render(s.Args)
	if err != nil {
		return Command{}, err
	}
	host, port := listenAddress(s, 8080)
	argv := slices.Clone(s.Binary)
	if len(argv) == 0 {
		argv = []string{"llama-server"}
	}
	if s.Model != "" {
		argv = append(argv, llamaModelFlag(s.Model), s.Model)
	}
	argv = append(argv, "--host", host, "--port", port)
	if name := llamaServedName(s); name != "" {
		argv = append(argv, "--alias", name)
	}
	if !spelling.has(s.Args, "metrics") {
		argv = append(argv, "--metrics")
	}
	if llamaDrafts(spelling, s.Args) && !spelling.has(s.Args, "spec-type") {
		argv = append(argv, "--spec-type", "draft-simple")
	}
	var own map[string]string
	if s.APIKey != "" {
		own = map[string]string{"LLAMA_API_KEY": s.APIKey}
	}
	return assemble(s, append(argv, options...), own, "LLAMA_API_KEY")
}

// llamaSources are the options that say where the model comes from.
func llamaSources() []string { return []string{"model", "hf-repo", "model-url", "docker-repo"} }

// llamaSource is the model that the arguments name, "" if they name none.
func llamaSource(args []Arg) string {
	for _, key := range llamaSources() {
		value, _ := llamaSpelling().find(args, key)
		if text, ok := value.(string); ok {
			return text
		}
	}
	return ""
}

func llamaDrafts(s spelling, args []Arg) bool {
	model, _ := s.find(args, "spec-draft-model")
	repo, _ := s.find(args, "spec-draft-hf")
	return model != nil || repo != nil
}

// llamaRepo matches a Hugging Face repository with an optional quantization.
var llamaRepo = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(:[\w.-]+)?$`)

// llamaModelFlag is how llama-server takes the model: a file, a repository
// to download from, or an address.
func llamaModelFlag(model string) string {
	switch {
	case strings.HasPrefix(model, "http://"), strings.HasPrefix(model, "https://"):
		return "-mu"
	case llamaRepo.MatchString(model) && !isGGUF(model):
		return "-hf"
	}
	return "-m"
}

func isGGUF(model string) bool { return strings.EqualFold(filepath.Ext(model), ".gguf") }

// llamaServedName is the alias under which the model is served: the file's
// name without its ending, so that the model list can be checked on any build.
func llamaServedName(s Spec) string {
	name := cmp.Or(s.Model, llamaSource(s.Args))
	if name != "" && llamaModelFlag(name) != "-hf" {
		path, _, _ := strings.Cut(name, "?")
		name = filepath.Base(path)
		if isGGUF(name) {
			name = strings.TrimSuffix(name, filepath.Ext(name))
		}
	}
	return cmp.Or(s.ServedName, strings.ReplaceAll(name, ",", "-"))
}
