package parse

import (
	_ "embed"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios/schema"
)

//go:embed reference_rules.md
var referenceRules string

// Schema is the JSON Schema of scenario files, for editors, which offer the
// profiles that are named here.
func Schema(profiles ...string) []byte {
	return schema.JSONSchema(fileBlock().Info(), "bench scenario", map[string][]string{
		loadBlock().Name + " profile": profiles,
		searchBlock().Name + " slo":   catalog.ConditionNames(),
	})
}

// Reference is the reference of scenario files in Markdown, made from the
// tables that decode them.
func Reference() []byte {
	var b strings.Builder
	b.WriteString("# Scenario files\n\n" +
		"Unknown keys, wrong types and values out of range are errors with file, line and column; all of a file's " +
		"errors are shown at once.\n\n" +
		"This page is generated from the tables that read the files. `bench schema` prints a JSON Schema made from " +
		"the same tables.\n")
	for _, s := range sections() {
		schema.WriteSection(&b, s)
	}
	b.WriteString("\n" + referenceRules)
	return []byte(b.String())
}

func sections() []schema.Section {
	grid, point := sweepBlocks()
	inherited := map[string]bool{}
	for _, k := range serverBlock().Info().Names() {
		inherited[k] = true
	}

	return []schema.Section{
		{Title: "Top level", Info: fileBlock().Info()},
		{Title: "repeats", Info: untilBlock().Info()},
		{Title: "search", Info: searchBlock().Info()},
		{Title: "prune", Info: pruneBlock().Info()},
		{Title: "llama-bench", Info: llamaBenchBlock().Info()},
		{Title: "simulate", Info: simulateBlock().Info()},
		{Title: "price", Info: priceBlock().Info()},
		{Title: "price of a variant", Info: variantPriceBlock().Info()},
		{Title: "slurm", Info: slurmBlock().Info()},
		{Title: "client", Info: clientBlock().Info()},
		{Title: "deadlines", Info: deadlinesBlock().Info()},
		{Title: "watchdog", Info: watchdogBlock().Info()},
		{Title: "disk", Info: diskBlock().Info()},
		{Title: "telemetry", Info: telemetryBlock().Info()},
		{Title: "settle", Info: settleBlock().Info()},
		{Title: "vram", Info: vramBlock().Info()},
		{Title: "hooks", Info: levelsBlock().Info()},
		{Title: "hooks of a level", Info: hooksBlock().Info()},
		{Title: "hooks: a hook", Info: hookBlock().Info()},
		{Title: "hooks: http", Info: httpBlock().Info()},
		{Title: "hooks: check", Info: hookCheckBlock().Info()},
		{Title: "checks", Info: checkBlock().Info()},
		{Title: "notify", Info: notifyBlock().Info()},
		{Title: "server", Info: serverBlock().Info()},
		{Title: "server.ready", Info: readyBlock().Info()},
		{Title: "server.smoke", Info: smokeBlock().Info()},
		{Title: "server.tls", Info: tlsBlock().Info()},
		{Title: "server.stop", Info: stopBlock().Info()},
		{Title: "server.container", Info: containerBlock().Info()},
		{Title: "variants", Info: variantBlock().Info(), Skip: inherited},
		{Title: "load", Info: loadBlock().Info()},
		{Title: "load.dataset", Info: datasetBlock().Info()},
		{Title: "load.dataset.images", Info: imagesBlock().Info()},
		{Title: "load.ramp", Info: rampBlock().Info()},
		{Title: "load.sampling", Info: samplingBlock().Info()},
		{Title: "load.timeouts", Info: timeoutsBlock().Info()},
		{Title: "load.goodput", Info: goodputBlock().Info()},
		{Title: "load.sweep as a grid", Info: grid},
		{Title: "load.sweep as a list of points", Info: point},
	}
}
