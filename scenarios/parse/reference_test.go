package parse

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

//go:embed reference_head.md
var referenceHead string

//go:embed reference_rules.md
var referenceRules string

func TestReferenceIsCurrent(t *testing.T) {
	golden(t, "../../docs/scenario-reference.md", string(reference()))
}

// The reference has each block of the JSON Schema, and no two blocks share a name,
// under which the schema defines them.
func TestReferenceIsComplete(t *testing.T) {
	var document struct {
		Blocks map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &document); err != nil {
		t.Fatal(err)
	}

	titles := map[string]string{}
	for _, s := range sections() {
		if other, taken := titles[s.Info.Name]; taken {
			t.Errorf("%s and %s are both named %q", other, s.Title, s.Info.Name)
		}
		titles[s.Info.Name] = s.Title
	}
	if blocks, top := len(document.Blocks), 1; len(titles) != blocks+top {
		t.Errorf("the reference has %d blocks and the schema %d: %q", len(titles), blocks+top,
			slices.Collect(maps.Keys(document.Blocks)))
	}
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
		"evaluate":         "evaluate:\n",
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
	if title == "cold-start" {
		return "schema: 1\nmethod: cold-start\nserver: {launcher: vllm, model: m}\ncold-start:\n" +
			indent(example, "  ")
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
	case title == "load.stages" || title == "load.classes":
		parts[top] = "load:\n  input-len: 8\n  output-len: 8\n  " + key + ":\n    -\n" + indent(example, "      ")
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
			"probes": "  input-len: 8\n  output-len: 8\n", "evaluate": "  input-len: 8\n  output-len: 8\n",
			"early": "  input-len: 8\n  output-len: 8\n  request-rate: 4\n",
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
	b.WriteString(referenceHead)
	for _, s := range sections() {
		s.write(&b)
	}
	b.WriteString("\n" + referenceRules)
	return []byte(b.String())
}

// section is one block of the reference.
type section struct {
	Title string
	Info  *schema.BlockInfo
	Skip  map[string]bool // keys that stand in another section
}

// write writes the block's table of keys and its example.
func (s section) write(b *strings.Builder) {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.Title, s.Info.Doc)
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, k := range s.Info.Keys {
		if s.Skip[k.Key] {
			continue
		}
		value := k.Note
		switch {
		case k.Required:
			value = "required"
		case k.Default != "":
			value = "`" + k.Default + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Key, cell(k.Shape.Words()), cell(value), cell(k.Doc))
	}
	fmt.Fprintf(b, "\n```yaml\n%s```\n", strings.TrimPrefix(s.Info.Example, "\n"))
}

func sections() []section {
	grid, point := keys.Sweep()
	inherited := map[string]bool{}
	for _, k := range keys.Server().Info().Names() {
		inherited[k] = true
	}

	all := []section{
		{Title: "Top level", Info: keys.File().Info()},
		{Title: "server", Info: keys.Server().Info()},
		{Title: "server.ready", Info: keys.Ready().Info()},
		{Title: "server.smoke", Info: keys.Smoke().Info()},
		{Title: "server.stop", Info: keys.Stop().Info()},
		{Title: "server.container", Info: keys.Container().Info()},
		{Title: "server.tls", Info: keys.TLS().Info()},
		{Title: "variants", Info: keys.Variant().Info(), Skip: inherited},
		{Title: "load", Info: keys.Load().Info()},
		{Title: "load.dataset", Info: keys.Dataset().Info()},
		{Title: "load.dataset.images", Info: keys.Images().Info()},
		{Title: "load.sweep as a grid", Info: grid},
		{Title: "load.sweep as a list of points", Info: point},
		{Title: "load.ramp", Info: keys.Ramp().Info()},
		{Title: "load.stages", Info: keys.Stage().Info()},
		{Title: "load.classes", Info: keys.Class().Info()},
		{Title: "load.probes", Info: keys.Probes().Info()},
		{Title: "load.early", Info: keys.Early().Info()},
		{Title: "load.evaluate", Info: keys.Evaluate().Info()},
		{Title: "load.goodput", Info: keys.Goodput().Info()},
		{Title: "load.sampling", Info: keys.Sampling().Info()},
		{Title: "load.timeouts", Info: keys.Timeouts().Info()},
		{Title: "repeats", Info: keys.Until().Info()},
		{Title: "search", Info: keys.Search().Info()},
		{Title: "prune", Info: keys.Prune().Info()},
		{Title: "tune", Info: keys.Tune().Info()},
		{Title: "blame", Info: keys.Blame().Info()},
		{Title: "bisect", Info: keys.Bisect().Info()},
		{Title: "cold-start", Info: keys.ColdStart().Info()},
		{Title: "simulate", Info: keys.Simulate().Info()},
		{Title: "price", Info: keys.Price().Info()},
		{Title: "price of a variant", Info: keys.VariantPrice().Info()},
		{Title: "deadlines", Info: keys.Deadlines().Info()},
		{Title: "watchdog", Info: keys.Watchdog().Info()},
		{Title: "disk", Info: keys.Disk().Info()},
		{Title: "telemetry", Info: keys.Telemetry().Info()},
		{Title: "settle", Info: keys.Settle().Info()},
		{Title: "vram", Info: keys.VRAM().Info()},
		{Title: "hooks", Info: keys.Levels().Info()},
		{Title: "hooks of a level", Info: keys.Hooks().Info()},
		{Title: "hooks: a hook", Info: keys.Hook().Info()},
		{Title: "hooks: http", Info: keys.HTTP().Info()},
		{Title: "hooks: check", Info: keys.HookCheck().Info()},
		{Title: "checks", Info: keys.Check().Info()},
		{Title: "evaluate", Info: keys.Evaluation().Info()},
		{Title: "notify", Info: keys.Notify().Info()},
		{Title: "client", Info: keys.Client().Info()},
		{Title: "slurm", Info: keys.Slurm().Info()},
	}
	at := slices.IndexFunc(all, func(s section) bool { return s.Title == "simulate" })
	for i, program := range engines.MeasuringPrograms() {
		all = slices.Insert(all, at+i, section{Title: program.Name, Info: keys.Program(program).Info()})
	}
	return all
}
