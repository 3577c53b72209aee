package engines

import (
	"fmt"

	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
)

func externalKind() Kind {
	return Kind{
		Name:        "external",
		Template:    externalTemplate,
		External:    true,
		Command:     ExternalCommand,
		MetricsPath: "/metrics",
		Metrics:     anyMetrics(),
		Args:        Args{WorldSize: unknownSize},
		API: API{
			ServedName:  servedOrModel,
			ModelsPath:  "/v1/models",
			ModelsMaybe: true,
			MayTokenize: true,
			Describe: []Description{
				{Path: "/props", Facts: map[string]logs.Fact{"default_generation_settings.n_ctx": logs.FactContext}},
				{Path: "/v1/models", Facts: map[string]logs.Fact{"data.0.max_model_len": logs.FactContext}},
			},
		},
	}
}

// ExternalCommand is empty: the server runs already and stays as it is. What
// would only matter for a start is refused, because it has no effect.
func ExternalCommand(s recipe.Spec) (recipe.Command, error) {
	if s.BaseURL == "" {
		return recipe.Command{}, fmt.Errorf("base-url: missing: say where the running server is, as http://host:8000")
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
			return recipe.Command{}, fmt.Errorf("%s: an external server is not started by bench, so it has no "+
				"effect: remove the key", key.name)
		}
	}
	return recipe.Command{}, nil
}

// anyMetrics are those of all kinds, for a server of which it is not known
// what it is. Their names begin with the engine's, so they do not mix.
func anyMetrics() scrape.Metrics {
	all := scrape.Metrics{Counters: map[string][]string{}, Gauges: map[string]scrape.Gauge{}}
	for _, m := range []scrape.Metrics{vllmMetrics(), llamaMetrics(), sglangMetrics(), tgiMetrics()} {
		for ours, theirs := range m.Counters {
			all.Counters[ours] = append(all.Counters[ours], theirs...)
		}
		for ours, gauge := range m.Gauges {
			all.Gauges[ours] = scrape.Gauge{
				Names:   append(all.Gauges[ours].Names, gauge.Names...),
				Highest: gauge.Highest,
			}
		}
		all.AcceptedAt = append(all.AcceptedAt, m.AcceptedAt...)
	}
	return all
}

// externalTemplate is the starter scenario.
var externalTemplate = starterHead("a server that is already running", "external") + `server:
  launcher: external               # never started, stopped or reset by bench
  base-url: http://127.0.0.1:8000  # without /v1
  model: my-model                  # the name that requests ask for, as in /v1/models
  # api-key: ${env:SERVER_API_KEY}   # from your shell, never written to the results
` + starterSmallLoad + `
repeats: 3                         # passes of one server start: intervals do not include how starts vary
restart: never                     # bench does not own the server
on-failure: continue
deadlines: {step: 30m, run: 12h}
`
