package engines

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestRender(t *testing.T) {
	tests := []struct {
		name string
		s    recipe.Spelling
		args []recipe.Arg
		want []string
	}{
		{"nothing", vllmSpelling(), nil, nil},
		{
			"underscores", vllmSpelling(),
			[]recipe.Arg{{Name: "gpu_memory_utilization", Value: number("0.90")}},
			[]string{"--gpu-memory-utilization", "0.90"},
		},
		{"path into JSON", vllmSpelling(), []recipe.Arg{{
			Name:  "speculative_config.num_speculative_tokens",
			Value: number("5"),
		}}, []string{"--speculative-config.num_speculative_tokens", "5"}},
		{"switch within JSON", vllmSpelling(), []recipe.Arg{
			{Name: "compilation-config.x", Value: true},
			{Name: "compilation-config.y", Value: false},
		}, []string{
			"--compilation-config.x", "true",
			"--compilation-config.y", "false",
		}},
		{"list within JSON", vllmSpelling(), []recipe.Arg{
			{Name: "c.sizes", Value: []any{number("1"), "a"}},
			{Name: "c.none", Value: []any{}},
		}, []string{"--c.sizes", `[1,"a"]`, "--c.none", "[]"}},
		{"text within JSON", vllmSpelling(), []recipe.Arg{
			{Name: "c.a", Value: "x y"},
			{Name: "c.b", Value: "1"},
			{Name: "c.d", Value: "true"},
		}, []string{"--c.a", "x y", "--c.b", `"1"`, "--c.d", `"true"`}},
		{
			"dashes given", vllmSpelling(),
			[]recipe.Arg{{Name: "--max_num_seqs", Value: "4"}, {Name: "-tp", Value: "2"}},
			[]string{"--max-num-seqs", "4", "-tp", "2"},
		},
		{"null beside a value", vllmSpelling(), []recipe.Arg{{Name: "tp", Value: nil}, {
			Name:  "tensor-parallel-size",
			Value: "2",
		}}, []string{"--tensor-parallel-size", "2"}},
		{"negative number", vllmSpelling(), []recipe.Arg{{Name: "seed", Value: number("-1")}}, []string{"--seed=-1"}},
		{"negative number, short", vllmSpelling(), []recipe.Arg{{Name: "q", Value: "-x"}}, []string{"-q=-x"}},
		{
			"one value in a list", vllmSpelling(),
			[]recipe.Arg{{Name: "sizes", Value: []any{number("-1")}}},
			[]string{"--sizes=-1"},
		},
		{
			"booleans and lists in a list", vllmSpelling(),
			[]recipe.Arg{{Name: "xyz", Value: []any{true, []any{"a", number("1")}}}},
			[]string{"--xyz", "true", `["a",1]`},
		},
		{
			"markup in JSON", vllmSpelling(),
			[]recipe.Arg{{Name: "xyz", Value: map[string]any{"b": "<&>", "a": nil}}},
			[]string{"--xyz", `{"a":null,"b":"<&>"}`},
		},
		{
			"list that is JSON", vllmSpelling(),
			[]recipe.Arg{{Name: "allowed-origins", Value: []any{"*", "http://a"}}},
			[]string{"--allowed-origins", `["*","http://a"]`},
		},
		{
			"number as spelled", vllmSpelling(),
			[]recipe.Arg{{Name: "xyz", Value: number("1e-05")}},
			[]string{"--xyz", "1e-05"},
		},
		{"off", vllmSpelling(), []recipe.Arg{
			{Name: "enable-x", Value: false},
			{Name: "disable-y", Value: false},
			{Name: "no-z", Value: false},
			{Name: "no-w", Value: true},
		}, []string{"--no-enable-x", "--no-w"}},
		{
			"llama value with a dash", llamaSpelling(),
			[]recipe.Arg{{Name: "n", Value: number("-1")}},
			[]string{"-n", "-1"},
		},
		{
			"llama two letters long", llamaSpelling(),
			[]recipe.Arg{{Name: "ui", Value: true}, {Name: "to", Value: "5"}},
			[]string{"--ui", "-to", "5"},
		},
		{
			"llama unknown", llamaSpelling(),
			[]recipe.Arg{{Name: "zz", Value: "1"}, {Name: "zzz", Value: "1"}},
			[]string{"-zz", "1", "--zzz", "1"},
		},
		{"llama off", llamaSpelling(), []recipe.Arg{
			{Name: "cb", Value: false},
			{Name: "nkvo", Value: true},
			{Name: "metrics", Value: false},
			{Name: "fa", Value: false},
		}, []string{
			"--no-cont-batching", "-nkvo",
			"-fa", "off",
		}},
		{
			"llama auto", llamaSpelling(),
			[]recipe.Arg{{Name: "flash-attn", Value: "auto"}},
			[]string{"--flash-attn", "auto"},
		},
		{
			"llama load modes", llamaSpelling(),
			[]recipe.Arg{{Name: "mlock", Value: true}},
			[]string{"--load-mode", "mlock"},
		},
		{"llama load mode off", llamaSpelling(), []recipe.Arg{
			{Name: "mlock", Value: false},
			{Name: "no_mmap", Value: true},
		}, []string{"--load-mode", "none"}},
		{"llama old build", llamaSpelling(), []recipe.Arg{
			{Name: "--mlock", Value: true},
			{Name: "--no-mmap", Value: true},
		}, []string{"--mlock", "--no-mmap"}},
		{"plain", plainSpelling("x"), []recipe.Arg{
			{Name: "tp_size", Value: "2"},
			{Name: "v", Value: true},
			{Name: "w", Value: false},
		}, []string{"--tp_size", "2", "-v"}},
	}
	for _, test := range tests {
		got, err := test.s.Render(test.args)
		if err != nil {
			t.Errorf("%s: render: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: render differs (-want +got):\n%s", test.name, diff)
		}
	}
}

// option is what an engine understands of a command line.
type option struct {
	Flag   string
	Values []string
}

// argparse splits a command line as Python's argparse and clap do: an element
// that begins with a dash is an option, what follows are its values, and a
// value may also be behind "=".
func argparse(argv []string) []option {
	var options []option
	for _, word := range argv {
		switch {
		case strings.HasPrefix(word, "-"):
			flag, value, joined := strings.Cut(word, "=")
			options = append(options, option{Flag: flag})
			if joined {
				options[len(options)-1].Values = []string{value}
			}
		case len(options) == 0:
			options = append(options, option{Values: []string{word}})
		default:
			last := &options[len(options)-1]
			last.Values = append(last.Values, word)
		}
	}
	return options
}

// fuzzValue makes an argument of fuzzed pieces and says which values an engine
// has to read out of the command line again.
func fuzzValue(kind uint8, a, b string) (value any, want []string) {
	switch kind % 8 {
	case 0:
		return a, []string{a}
	case 1:
		return []any{a, b}, []string{a, b}
	case 2:
		return true, nil
	case 3:
		text, _ := recipe.CompactJSON(map[string]any{a: b})
		return map[string]any{a: b}, []string{text}
	case 4:
		return []any{a}, []string{a}
	case 5:
		return json.Number("-" + b), []string{"-" + b}
	case 6:
		return []any{}, nil
	}
	return nil, nil
}

// Whatever a recipe says, rendering neither panics nor makes an element that
// the engine reads as another option, and every value arrives as it was.
func FuzzRenderIsReadBack(f *testing.F) {
	f.Add("gpu_memory_utilization", uint8(0), "0.9", "")
	f.Add("sizes", uint8(1), "-1", "--x")
	f.Add("x.y_z", uint8(3), "a", "\"<>\n")
	f.Add("-tp", uint8(5), "", "1")
	f.Add("enforce-eager", uint8(2), "", "")
	f.Add("x", uint8(4), "-=", "")
	f.Fuzz(func(t *testing.T, name string, kind uint8, a, b string) {
		value, want := fuzzValue(kind, a, b)
		for _, s := range []recipe.Spelling{vllmSpelling(), sglangSpelling(), tgiSpelling(), plainSpelling("x")} {
			argv, err := s.Render([]recipe.Arg{
				{Name: "first", Value: "1"},
				{Name: name, Value: value},
				{Name: "last", Value: "2"},
			})
			if err != nil {
				continue
			}
			got := argparse(argv)
			var values []string
			for _, o := range got[1 : len(got)-1] {
				if o.Flag != s.Flag(name) {
					t.Fatalf("%s: render(%q, %q) = %q has the option %q", s.Engine, name, value, argv, o.Flag)
				}
				values = append(values, o.Values...)
			}
			if !slices.Equal(values, want) {
				t.Fatalf("%s: render(%q, %q) = %q: the engine reads %q, want %q", s.Engine, name, value,
					argv, values, want)
			}
			if got[0].Flag != "--first" || got[len(got)-1].Flag != "--last" {
				t.Fatalf("%s: render(%q, %q) = %q: neighbours are lost", s.Engine, name, value, argv)
			}
		}
	})
}

func TestVLLMMemoryShare(t *testing.T) {
	for _, test := range []struct {
		args []recipe.Arg
		want float64
	}{
		{nil, 0.9},
		{[]recipe.Arg{{Name: "gpu_memory_utilization", Value: number("0.5")}}, 0.5},
		{[]recipe.Arg{{Name: "gpu-memory-utilization", Value: "0.25"}}, 0.25},
		{[]recipe.Arg{{Name: "gpu-memory-utilization", Value: nil}}, 0.9},
		{[]recipe.Arg{{Name: "gpu-memory-utilization", Value: "much"}}, 0.9},
	} {
		if got := vllmMemoryShare(test.args); got != test.want {
			t.Errorf("vllmMemoryShare(%v) = %g, want %g", test.args, got, test.want)
		}
	}
}
