package parse

import (
	_ "embed"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios/schema"
)

// Schema is the JSON Schema of scenario files, for editors, which offer the
// profiles that are named here.
func Schema(profiles ...string) []byte {
	return schema.JSONSchema(fileBlock().Info(), "bench scenario", map[string][]string{
		loadBlock().Name + " profile": profiles,
		searchBlock().Name + " slo":   catalog.ConditionNames(),
	})
}
