package parse

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

//go:embed reference_rules.md
var referenceRules string

func TestReferenceIsCurrent(t *testing.T) {
	golden(t, "../../docs/scenario-reference.md", string(reference()))
}

// Every key of every table is in the reference, and every block's example is
// read without an error.
func TestReferenceExamples(t *testing.T) {
	ref := string(reference())
	for _, s := range sections() {
		for _, k := range s.Info.Keys {
			if !strings.Contains(ref, "| `"+k.Key+"` |") {
				t.Errorf("reference lacks %s of %s", k.Key, s.Title)
			}
		}
		src := exampleFile(s.Title, strings.TrimPrefix(s.Info.Example, "\n"))
		if _, err := Source("a.yaml", []byte(src), Options{}); err != nil {
			t.Errorf("example of %s:\n%s%v", s.Title, src, err)
		}
	}
}

// wrappers are the lines above the example of a block that stands deep.
func wrappers() map[string]string {
	return map[string]string{
		"hooks of a level": "hooks:\n  run:\n",
		"hooks: a hook":    "hooks:\n  run:\n    before:\n      -\n",
		"hooks: http":      "hooks:\n  run:\n    before:\n    - http:\n",
		"hooks: check":     "hooks:\n  run:\n    before:\n    - check:\n",
		"checks":           "checks:\n  -\n",
		"notify":           "notify:\n  -\n",
	}
}

// exampleFile makes a whole file of a block's example.
func exampleFile(title, example string) string {
	parts := map[string]string{
		"schema": "schema: 1\n", "server": "server: {launcher: vllm, model: m}\n",
		"load": "load: {input-len: 8, output-len: 8}\n",
	}
	indent := func(s, by string) string { return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by) + "\n" }
	if before, wrapped := wrappers()[title]; wrapped {
		parts["deadlines"] = before + indent(example, "        ")
		title = "deadlines of another block"
	}
	if title == "llama-bench" {
		return "schema: 1\nmethod: llama-bench\nserver: {launcher: llamacpp}\nllama-bench:\n" + indent(example, "  ")
	}
	top, rest, _ := strings.Cut(title, ".")
	switch key, _, _ := strings.Cut(rest, " "); {
	case title == "deadlines of another block":
	case title == "Top level":
		parts["schema"] = example
	case title == "variants":
		parts[top] = "variants:\n  -\n" + indent(example, "    ")
	case strings.HasSuffix(title, "list of points"):
		parts[top] = "load:\n  sweep:\n    -\n" + indent(example, "      ")
	case key == "":
		parts[top] = top + ":\n" + indent(example, "  ")
	case key == "tls":
		parts[top] = "server:\n  launcher: external\n  base-url: https://host:8000\n  model: m\n  tls:\n" +
			indent(example, "    ")
	case key == "dataset.images":
		parts[top] = "load:\n  endpoint: chat\n  input-len: 8\n  output-len: 8\n  dataset:\n    kind: random_mm\n" +
			"    images:\n" + indent(example, "      ")
	case top == "server":
		parts[top] = "server:\n  launcher: vllm\n  model: m\n  " + key + ":\n" + indent(example, "    ")
	default:
		lens := map[string]string{
			"dataset": "  input-len: 8\n  output-len: 8\n", "timeouts": "  input-len: 8\n  output-len: 8\n",
			"ramp": "  input-len: 8\n  output-len: 8\n", "sampling": "  input-len: 8\n  output-len: 8\n",
			"goodput": "  input-len: 8\n  output-len: 8\n", "sweep": "  output-len: 8\n",
		}
		parts[top] = "load:\n" + lens[key] + "  " + key + ":\n" + indent(example, "    ")
	}
	var b strings.Builder
	for _, name := range []string{
		"schema", "simulate", "deadlines", "watchdog", "disk", "telemetry", "settle", "vram",
		"hooks", "server", "variants", "load",
	} {
		b.WriteString(parts[name])
	}
	return b.String()
}

// reference is the reference of scenario files in Markdown, made from the
// tables that decode them.
func reference() []byte {
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
		{Title: "tune", Info: tuneBlock().Info()},
		{Title: "llama-bench", Info: llamaBenchBlock().Info()},
		{Title: "simulate", Info: keys.Simulate().Info()},
		{Title: "price", Info: keys.Price().Info()},
		{Title: "price of a variant", Info: keys.VariantPrice().Info()},
		{Title: "slurm", Info: keys.Slurm().Info()},
		{Title: "client", Info: keys.Client().Info()},
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
		{Title: "server.container", Info: keys.Container().Info()},
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
