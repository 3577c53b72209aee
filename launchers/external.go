package launchers

import (
	"fmt"
	"slices"
)

func externalKind() Kind {
	return Kind{
		Name:        "external",
		External:    true,
		Command:     externalCommand,
		WorldSize:   unknownSize,
		ServedName:  servedOrModel,
		ModelsPath:  "/v1/models",
		ModelsMaybe: true,
		MetricsPath: "/metrics",
		Counters:    anyCounters(),
		Gauges:      anyGauges(),
		AcceptedAt:  slices.Concat(vllmAcceptedAt(), llamaAcceptedAt()),
		Describe: []Description{
			{Path: "/props", Facts: map[string]Fact{"default_generation_settings.n_ctx": FactContext}},
			{Path: "/v1/models", Facts: map[string]Fact{"data.0.max_model_len": FactContext}},
		},
		AnyModelName: true,
	}
}

// externalCommand is empty: the server runs already and stays as it is. What
// would only matter for a start is refused, because it has no effect.
func externalCommand(s Spec) (Command, error) {
	if s.BaseURL == "" {
		return Command{}, fmt.Errorf("base-url: missing: say where the running server is, as http://host:8000")
	}
	for _, key := range []struct {
		name  string
		given bool
	}{
		{"args", len(s.Args) > 0},
		{"binary", len(s.Binary) > 0},
		{"command", len(s.Command) > 0},
		{"env", len(s.Env) > 0},
	} {
		if key.given {
			return Command{}, fmt.Errorf("%s: an external server is not started by bench, so it has no effect: remove the key", key.name)
		}
	}
	return Command{}, nil
}
