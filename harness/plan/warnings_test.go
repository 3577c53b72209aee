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
			[]string{"f:3:7: variant a: swap-space: if vllm is of March 2026 or later"},
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
