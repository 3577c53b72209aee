package plan

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

func TestRecipeWarnings(t *testing.T) {
	vllm := func(name string, args ...scenarios.Arg) scenarios.Variant {
		return scenarios.Variant{
			Name: name, Pos: schema.Pos{File: "f", Line: 9, Column: 1},
			Server: scenarios.Server{Launcher: "vllm", Model: "m", Args: args},
		}
	}
	config := scenarios.Arg{Name: "speculative-config", Value: map[string]any{"model": "s"}}
	for _, c := range []struct {
		name     string
		variants []scenarios.Variant
		want     []string // parts
	}{
		{"nothing", []scenarios.Variant{vllm("a")}, nil},
		{
			"at an argument",
			[]scenarios.Variant{vllm("a", scenarios.Arg{Name: "swap-space", Value: "4", Pos: schema.Pos{
				File: "f",
				Line: 3, Column: 7,
			}})},
			[]string{"f:3:7: variant a: swap-space: vllm builds of March 2026 and later"},
		},
		{
			"no baseline",
			[]scenarios.Variant{vllm("a", config)},
			[]string{"f:9:1: variant a: no variant of this scenario runs the same model without speculation"},
		},
		{
			"several variants",
			[]scenarios.Variant{vllm("a", config), vllm("b", config)},
			[]string{"f:9:1: variants a, b: no variant of this scenario runs the same model without speculation"},
		},
		{"a baseline", []scenarios.Variant{vllm("a", config), vllm("b")}, nil},
	} {
		sc := sampleScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Variants = c.variants
		got := RecipeWarnings(sc)
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			same = same && strings.Contains(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s: RecipeWarnings = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestContextThatIsSplit: it is a warning only where a request may not fit its slot.
func TestContextThatIsSplit(t *testing.T) {
	random := func(input, output int, ratio float64) scenarios.Load {
		return scenarios.Load{
			InputLen: input, OutputLen: output, Dataset: scenarios.Dataset{Kind: "random", RangeRatio: ratio},
		}
	}
	ofAFile := random(128, 32, 0)
	ofAFile.Dataset.Kind = "jsonl"

	for _, c := range []struct {
		name string
		load scenarios.Load
		warn bool
	}{
		{"short", random(128, 32, 0), false},
		{"as long as a slot, without its template", random(896, 128, 0), true},
		{"too long at the end of its range", random(600, 100, 0.5), true},
		{"the file decides", ofAFile, true},
		{
			"of two classes one too long",
			scenarios.Load{OfClass: []scenarios.Load{random(8, 8, 0), random(2048, 8, 0)}},
			true,
		},
	} {
		sc := sampleScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Points = []scenarios.Load{c.load}
		sc.Variants = []scenarios.Variant{{Name: "a", Server: scenarios.Server{
			Launcher: "llamacpp", Model: "m",
			Args: []scenarios.Arg{{Name: "ctx-size", Value: "4096"}, {Name: "parallel", Value: "4"}},
		}}}
		if got := RecipeWarnings(sc); len(got) > 0 != c.warn {
			t.Errorf("%s: warnings %q, want some: %t", c.name, got, c.warn)
		}
	}
}

func TestPathPrefix(t *testing.T) {
	for _, c := range []struct{ launcher, base, endpoint, want string }{
		{"external", "http://h:8000/", "/v1/chat/completions", ""},
		{"external", "http://h:8000/", "/shisa-405b-fp16/v1/chat/completions", "/shisa-405b-fp16"},
		{"external", "http://h:8000/shisa-405b-fp16/", "/shisa-405b-fp16/v1/chat/completions", ""},
		{"external", "http://h", "/a/b/v1/completions", "/a/b"},
		{"external", "http://h", "/a/generate_stream", "/a"},
		{"external", "http://h", "/v1/generate", ""},
		{"external", "http://h", "/own", ""},
		{"vllm", "", "/x/v1/completions", ""},
	} {
		sc := sampleScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Points[0].Endpoint = c.endpoint
		kind, _ := engines.Lookup(c.launcher)
		if got := pathPrefix(sc, kind, c.base); got != c.want {
			t.Errorf("pathPrefix(%s, %q, endpoint %q) = %q, want %q", c.launcher, c.base, c.endpoint, got, c.want)
		}
	}
}
