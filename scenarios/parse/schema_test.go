package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	// small is one of testdata
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(append(profiles.Names(), "small")...)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validateYAML(t *testing.T, s *jsonschema.Schema, src []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchemaAcceptsWhatTheReaderAccepts(t *testing.T) {
	schema := compiledSchema(t)
	for _, fsys := range []fs.FS{os.DirFS(".."), os.DirFS("testdata")} {
		for _, pattern := range []string{"*.yaml", "good/*.yaml"} {
			paths, err := fs.Glob(fsys, pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				src, err := fs.ReadFile(fsys, path)
				if err != nil {
					t.Fatal(err)
				}
				if err := validateYAML(t, schema, src); err != nil {
					t.Errorf("schema refuses %s: %v", path, err)
				}
			}
		}
	}
}

// Editors offer the names of profiles and the figures of targets, and know that
// other percentiles are targets, too.
func TestSchemaOffersNames(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				AnyOf []struct {
					AnyOf      []struct{ Enum []string }
					Properties map[string]any
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(profiles.Names()...), &doc); err != nil {
		t.Fatal(err)
	}
	profile := doc.Defs["under-load"].Properties["profile"].AnyOf
	if len(profile) == 0 || len(profile[0].AnyOf) == 0 || !slices.Equal(profile[0].AnyOf[0].Enum, profiles.Names()) {
		t.Errorf("profile: is completed from %+v, want %q", profile, profiles.Names())
	}
	slo := doc.Defs["under-search"].Properties["slo"].AnyOf
	for _, name := range []string{"p99_ttft_ms", "goodput_share", "median_tpot_s"} {
		if len(slo) == 0 || slo[0].Properties[name] == nil {
			t.Errorf("slo: is not completed with %s", name)
		}
	}

	schema := compiledSchema(t)
	const text = "schema: 1\nserver: {launcher: simulator, model: m}\nvariants: [{name: a}]\n" +
		"load: {profile: %s}\nsearch: {from: 1, to: 4, slo: {%s: 500}}\n"
	for _, c := range []struct {
		profile, target string
		ok              bool
	}{
		{"chat-short", "p99_ttft_ms", true},
		{"chat-short", "p97.5_ttft_ms", true},
		{`"${name}"`, "p99_ttft_ms", true},
		{"null", "p99_ttft_ms", true},
		{"chat-shrt", "p99_ttft_ms", false},
	} {
		err := validateYAML(t, schema, fmt.Appendf(nil, text, c.profile, c.target))
		if (err == nil) != c.ok {
			t.Errorf("profile %s, target %s: %v", c.profile, c.target, err)
		}
	}
}

func TestSchemaAcceptsTemplates(t *testing.T) {
	schema := compiledSchema(t)
	for _, kind := range scenarios.TemplateKinds() {
		src, err := scenarios.Template(kind, slices.Contains(scenarios.ImageKinds(), kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := validateYAML(t, schema, src); err != nil {
			t.Errorf("schema refuses the template for %s: %v", kind, err)
		}
	}
}

// Files whose errors lie within one key are refused by the schema as well.
func TestSchemaRefusesBadFiles(t *testing.T) {
	schema := compiledSchema(t)
	for _, name := range []string{"keys", "types", "enums", "schema", "gpus"} {
		path := filepath.Join("testdata/bad", name+".yaml")
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validateYAML(t, schema, src); err == nil {
			t.Errorf("schema accepts %s, want a refusal", path)
		}
	}
}

// Each single mistake is refused, not only files that are full of them.
func TestSchemaRefusesEachMistake(t *testing.T) {
	schema := compiledSchema(t)
	good := "schema: 1\nserver: {launcher: simulator}\nload: {input-len: 8, output-len: 8}\n"
	if err := validateYAML(t, schema, []byte(good)); err != nil {
		t.Fatalf("schema refuses the base: %v", err)
	}
	for _, line := range []string{
		"nme: x", "repeats: 0", "repeats: many", "order: random", "deadlines: {step: 30}", "deadlines: {stp: 30m}",
		"variants: [{notes: x}]",
		"variants: [{name: a, arg: {}}]", "method: sqzbx", "smallest-difference: 3", "tables: [speed]", "baseline: [a]",
		"llama-bench: {model: a}", "retries: -1", "retries: {auth: -1}", "watchdog: {stall: 5}", "disk: {min-free: 5}",
		"disk: {max-log: 5 GBit}", "telemetry: on", "telemetry: {sampler: nvml2}", "settle: {power: 0}",
		"vram: {foreign: kill}", "hooks: {run: []}",
		"hooks: {run: {before: [{cmd: [a]}]}}", "checks: [{kind: mood}]", "notify: [{on: [never]}]",
	} {
		if err := validateYAML(t, schema, []byte(good+line+"\n")); err == nil {
			t.Errorf("schema accepts %q, want a refusal", line)
		}
		if _, err := Source("a.yaml", []byte(good+line+"\n"), Options{}); err == nil {
			t.Errorf("Parse accepts %q, want an error", line)
		}
	}
	for _, change := range []string{
		"sweep: {max-concurrency: 8}", "sweep: [{concurrency: 8}]", "request-rate: 0",
		"headers: {a: [1]}", "min-success: 2",
	} {
		src := strings.Replace(good, "output-len: 8", "output-len: 8, "+change, 1)
		if err := validateYAML(t, schema, []byte(src)); err == nil {
			t.Errorf("schema accepts load key %q, want a refusal", change)
		}
		if _, err := Source("a.yaml", []byte(src), Options{}); err == nil {
			t.Errorf("Parse accepts load key %q, want an error", change)
		}
	}
}
