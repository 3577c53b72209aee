package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

func TestRecipeChanges(t *testing.T) {
	server := func(port string, env map[string]string, argv ...string) *results.Result {
		return &results.Result{
			Run: "r-" + port,
			Servers: []results.Server{{
				Launcher: "vllm", BaseURL: "http://127.0.0.1:" + port, Argv: argv, Env: env,
				Life: "01-a",
			}},
		}
	}
	a := server("8000", map[string]string{"X": "1", "BENCH_COOKIE": "a"}, "/usr/bin/vllm", "serve", "m", "--port",
		"8000", "--gpu_memory_utilization=0.9", "--log", "/w/results/s/r-8000/lives/01-a/x", "-1")
	tests := []struct {
		name string
		b    *results.Result
		want string
	}{
		{"the same", server("9000", map[string]string{"X": "1", "BENCH_COOKIE": "b"}, "/usr/bin/vllm", "serve", "m",
			"--port", "9000", "--gpu-memory-utilization", "0.9", "--log", "/other/s/r-9000/lives/01-a/x", "-1"), ""},
		{
			"a variable", server("8000", map[string]string{"X": "2", "Y": ""}, a.Servers[0].Argv...),
			"environment X: 1 against 2; environment Y: unset against ",
		},
		{
			"a flag", server("8000", a.Servers[0].Env,
				append(append([]string{}, a.Servers[0].Argv...), "--enforce-eager")...),
			"argument --enforce-eager: unset against set",
		},
		{"a model", server("8000", a.Servers[0].Env,
			append([]string{"/usr/bin/vllm", "serve", "n"}, a.Servers[0].Argv[3:]...)...), "argument 2: m against n"},
		{
			"a program", server("8000", a.Servers[0].Env, append([]string{"/opt/vllm"}, a.Servers[0].Argv[1:]...)...),
			"program: /usr/bin/vllm against /opt/vllm",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := versus.RecipeOf(a).Changes(versus.RecipeOf(tt.b))
			if tt.want == "" {
				if len(got) > 0 {
					t.Errorf("changes = %v, want none", got)
				}
				return
			}
			if text := versus.ChangesText(got); text != tt.want {
				t.Errorf("changes = %q, want %q", text, tt.want)
			}
		})
	}
}

// Whatever a command line holds, it does not differ from itself.
func FuzzArguments(f *testing.F) {
	f.Add("serve\x00--a=1\x00-b\x00-1\x00--port\x008000", "8000")
	f.Add("--\x00-\x00--x\x00/results/r1/lives", "r1")
	f.Fuzz(func(t *testing.T, line, word string) {
		argv := append([]string{"p"}, strings.Split(line, "\x00")...)
		r := &results.Result{
			Run:     word,
			Servers: []results.Server{{BaseURL: "http://h:" + word, Argv: argv, Life: word}},
		}
		if changes := versus.RecipeOf(r).Changes(versus.RecipeOf(r)); len(changes) > 0 {
			t.Errorf("%q differs from itself: %v", argv, changes)
		}
		other := &results.Result{Run: word, Servers: []results.Server{{
			BaseURL: r.Servers[0].BaseURL,
			Argv:    append(slices.Clip(argv), "--a-flag-of-its-own"), Life: word,
		}}}
		if !strings.Contains(line, "--a-flag-of-its-own") &&
			len(versus.RecipeOf(r).Changes(versus.RecipeOf(other))) == 0 {
			t.Errorf("%q and one more flag are called the same", argv)
		}
	})
}
