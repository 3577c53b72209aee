package scenarios

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed reference_rules.md
var referenceRules string

// Reference is the reference of scenario files in Markdown, made from the
// tables that decode them.
func Reference() []byte {
	var b strings.Builder
	b.WriteString("# Scenario files\n\n" +
		"Unknown keys, wrong types and values out of range are errors with file, line and column; all of a file's errors are shown at once.\n\n" +
		"This page is generated from the tables that read the files. `bench schema` prints a JSON Schema made from the same tables.\n")
	for _, s := range sections() {
		writeSection(&b, s)
	}
	b.WriteString("\n" + referenceRules)
	return []byte(b.String())
}

// section is one block of the reference.
type section struct {
	title string
	info  *blockInfo
	skip  map[string]bool // keys that stand in another section
}

func sections() []section {
	grid, point := sweepBlocks()
	inherited := map[string]bool{}
	for _, k := range serverBlock().info().names() {
		inherited[k] = true
	}
	return []section{
		{title: "Top level", info: fileBlock().info()},
		{title: "repeats", info: untilBlock().info()},
		{title: "search", info: searchBlock().info()},
		{title: "prune", info: pruneBlock().info()},
		{title: "llama-bench", info: llamaBenchBlock().info()},
		{title: "simulate", info: simulateBlock().info()},
		{title: "price", info: priceBlock().info()},
		{title: "price of a variant", info: variantPriceBlock().info()},
		{title: "slurm", info: slurmBlock().info()},
		{title: "client", info: clientBlock().info()},
		{title: "deadlines", info: deadlinesBlock().info()},
		{title: "watchdog", info: watchdogBlock().info()},
		{title: "disk", info: diskBlock().info()},
		{title: "telemetry", info: telemetryBlock().info()},
		{title: "settle", info: settleBlock().info()},
		{title: "vram", info: vramBlock().info()},
		{title: "hooks", info: levelsBlock().info()},
		{title: "hooks of a level", info: hooksBlock().info()},
		{title: "hooks: a hook", info: hookBlock().info()},
		{title: "hooks: http", info: httpBlock().info()},
		{title: "hooks: check", info: hookCheckBlock().info()},
		{title: "checks", info: checkBlock().info()},
		{title: "notify", info: notifyBlock().info()},
		{title: "server", info: serverBlock().info()},
		{title: "server.ready", info: readyBlock().info()},
		{title: "server.smoke", info: smokeBlock().info()},
		{title: "server.tls", info: tlsBlock().info()},
		{title: "server.stop", info: stopBlock().info()},
		{title: "server.container", info: containerBlock().info()},
		{title: "variants", info: variantBlock().info(), skip: inherited},
		{title: "load", info: loadBlock().info()},
		{title: "load.dataset", info: datasetBlock().info()},
		{title: "load.dataset.images", info: imagesBlock().info()},
		{title: "load.ramp", info: rampBlock().info()},
		{title: "load.sampling", info: samplingBlock().info()},
		{title: "load.timeouts", info: timeoutsBlock().info()},
		{title: "load.goodput", info: goodputBlock().info()},
		{title: "load.sweep as a grid", info: grid},
		{title: "load.sweep as a list of points", info: point},
	}
}

func writeSection(b *strings.Builder, s section) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.title, s.info.doc)
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, k := range s.info.keys {
		if s.skip[k.key] {
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.key, cell(k.shape.words()), cell(defaultText(k)), cell(k.doc))
	}
	fmt.Fprintf(b, "\n```yaml\n%s```\n", strings.TrimPrefix(s.info.example, "\n"))
}

func defaultText(k info) string {
	switch {
	case k.required:
		return "required"
	case k.def != "":
		return "`" + k.def + "`"
	}
	return k.note
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
