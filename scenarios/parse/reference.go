package parse

import (
	_ "embed"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// Schema is the JSON Schema of scenario files, for editors, which offer the
// profiles that are named here.
func Schema(profiles ...string) []byte {
	return schema.JSONSchema(keys.File().Info(), "bench scenario", map[string][]string{
		keys.Load().Name + " profile": profiles,
		keys.Search().Name + " slo":   catalog.ConditionNames(),
	})
}
