package launchers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRender(t *testing.T) {
	tests := []struct {
		name string
		s    spelling
		args []Arg
		want []string
	}{
		{"nothing", vllmSpelling(), nil, nil},
		{"underscores", vllmSpelling(), []Arg{{"gpu_memory_utilization", number("0.90")}}, []string{"--gpu-memory-utilization", "0.90"}},
		{"path into JSON", vllmSpelling(), []Arg{{"speculative_config.num_speculative_tokens", number("5")}}, []string{"--speculative-config.num_speculative_tokens", "5"}},
		{"dashes given", vllmSpelling(), []Arg{{"--max_num_seqs", "4"}, {"-tp", "2"}}, []string{"--max-num-seqs", "4", "-tp", "2"}},
		{"null beside a value", vllmSpelling(), []Arg{{"tp", nil}, {"tensor-parallel-size", "2"}}, []string{"--tensor-parallel-size", "2"}},
		{"negative number", vllmSpelling(), []Arg{{"seed", number("-1")}}, []string{"--seed=-1"}},
		{"negative number, short", vllmSpelling(), []Arg{{"q", "-x"}}, []string{"-q=-x"}},
		{"one value in a list", vllmSpelling(), []Arg{{"sizes", []any{number("-1")}}}, []string{"--sizes=-1"}},
		{"booleans and lists in a list", vllmSpelling(), []Arg{{"xyz", []any{true, []any{"a", number("1")}}}}, []string{"--xyz", "true", `["a",1]`}},
		{"markup in JSON", vllmSpelling(), []Arg{{"xyz", map[string]any{"b": "<&>", "a": nil}}}, []string{"--xyz", `{"a":null,"b":"<&>"}`}},
		{"number as spelled", vllmSpelling(), []Arg{{"xyz", number("1e-05")}}, []string{"--xyz", "1e-05"}},
		{"off", vllmSpelling(), []Arg{{"enable-x", false}, {"disable-y", false}, {"no-z", false}, {"no-w", true}}, []string{"--no-enable-x", "--no-w"}},
		{"llama value with a dash", llamaSpelling(), []Arg{{"n", number("-1")}}, []string{"-n", "-1"}},
		{"llama two letters long", llamaSpelling(), []Arg{{"ui", true}, {"to", "5"}}, []string{"--ui", "-to", "5"}},
		{"llama unknown", llamaSpelling(), []Arg{{"zz", "1"}, {"zzz", "1"}}, []string{"-zz", "1", "--zzz", "1"}},
		{"llama off", llamaSpelling(), []Arg{{"cb", false}, {"nkvo", true}, {"metrics", false}, {"fa", false}}, []string{"--no-cont-batching", "-nkvo", "-fa", "off"}},
		{"llama auto", llamaSpelling(), []Arg{{"flash-attn", "auto"}}, []string{"--flash-attn", "auto"}},
		{"llama load modes", llamaSpelling(), []Arg{{"mlock", true}}, []string{"--load-mode", "mlock"}},
		{"llama load mode off", llamaSpelling(), []Arg{{"mlock", false}, {"no_mmap", true}}, []string{"--load-mode", "none"}},
		{"llama old build", llamaSpelling(), []Arg{{"--mlock", true}, {"--no-mmap", true}}, []string{"--mlock", "--no-mmap"}},
		{"plain", plainSpelling("x"), []Arg{{"tp_size", "2"}, {"v", true}, {"w", false}}, []string{"--tp_size", "2", "-v"}},
	}
	for _, test := range tests {
		got, err := test.s.render(test.args)
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
// value may also stand behind "=".
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
		text, _ := compactJSON(map[string]any{a: b})
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
		for _, s := range []spelling{vllmSpelling(), sglangSpelling(), tgiSpelling(), plainSpelling("x")} {
			argv, err := s.render([]Arg{{"first", "1"}, {name, value}, {"last", "2"}})
			if err != nil {
				continue
			}
			got := argparse(argv)
			var values []string
			for _, o := range got[1 : len(got)-1] {
				if o.Flag != s.flag(name) {
					t.Fatalf("%s: render(%q, %q) = %q has the option %q", s.engine, name, value, argv, o.Flag)
				}
				values = append(values, o.Values...)
			}
			if !slices.Equal(values, want) {
				t.Fatalf("%s: render(%q, %q) = %q: the engine reads %q, want %q", s.engine, name, value, argv, values, want)
			}
			if got[0].Flag != "--first" || got[len(got)-1].Flag != "--last" {
				t.Fatalf("%s: render(%q, %q) = %q: neighbours are lost", s.engine, name, value, argv)
			}
		}
	})
}

// No kind makes an empty argv element unless the recipe asks for one.
func FuzzCommands(f *testing.F) {
	f.Add("org/m", "tp", uint8(0), "8", "")
	f.Add("/models/m.gguf", "lora", uint8(1), "a", "b")
	f.Add("hf.co/x/y:z", "num-parallel", uint8(2), "", "")
	f.Add("?", "hf", uint8(0), "", "")
	kinds := All()
	f.Fuzz(func(t *testing.T, model, name string, kind uint8, a, b string) {
		value, _ := fuzzValue(kind, a, b)
		for _, k := range kinds {
			spec := Spec{
				Launcher: k.Name, Model: model, Command: []string{"serve", "x${port}"}, BaseURL: "http://h", Replica: 1, Replicas: 2,
				Args: []Arg{{name, value}},
			}
			if k.Simulated {
				spec.Binary = []string{"bench"}
			}
			k.WorldSize(spec.Args)
			k.ServedName(spec)
			command, err := k.Command(spec)
			if err != nil {
				continue
			}
			if a != "" && b != "" && slices.Contains(command.Argv, "") {
				t.Errorf("%s: Command(%q, %q: %q) = %q has an empty element", k.Name, model, name, value, command.Argv)
			}
			if !k.External && len(command.Argv) == 0 {
				t.Errorf("%s: Command(%q, %q: %q) has no argv", k.Name, model, name, value)
			}
		}
	})
}
