package versus

import (
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

func serverOf(launcher string, argv ...string) *results.Result {
	return &results.Result{Run: "r", Servers: []results.Server{{Launcher: launcher, Argv: argv}}}
}

// The names and marks of a start tell no configuration from another.
func TestMarksOfAStartDoNotDiffer(t *testing.T) {
	t.Parallel()
	in := func(run, life string) *results.Result {
		cookie := run + "." + life
		name := "bench-" + run[:4] + "-" + life + "-0"
		r := serverOf("vllm", "podman", "run", "-d", "--name", name, "--label", "benchrig.run="+run, "--label",
			"benchrig.cookie="+cookie, "--cidfile", "/r/"+run+"-id/lives/"+life+"/server-0.cid",
			"-e", "BENCH_COOKIE="+cookie, "vllm/vllm-openai:v1", "--model", "m")
		r.Run = run + "-id"
		r.Servers[0].Life = life
		r.Servers[0].Container = &results.ContainerInfo{
			Engine: "podman", Name: name, Label: "benchrig.cookie=" + cookie,
		}
		return r
	}
	a, b := RecipeOf(in("aaaaaaaa", "01-x")), RecipeOf(in("bbbbbbbb", "02-x"))
	if changes := a.Changes(b); len(changes) > 0 {
		t.Errorf("two starts of one container differ: %s", ChangesText(changes))
	}

	remote := func(cookie string) *results.Result {
		return serverOf("vllm", "srun", "--overlap", "env", "BENCH_COOKIE="+cookie, "vllm", "serve", "m")
	}
	if changes := RecipeOf(remote("a.1")).Changes(RecipeOf(remote("b.2"))); len(changes) > 0 {
		t.Errorf("two starts on another node differ: %s", ChangesText(changes))
	}
}

func TestSpellingsDoNotDiffer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		launcher string
		a, b     []string
		want     string
	}{
		{
			"short flags of vLLM", "vllm",
			[]string{"vllm", "serve", "m", "-tp", "8"},
			[]string{"vllm", "serve", "m", "--tensor-parallel-size", "8"},
			"",
		},
		{"underscores", "vllm", []string{"vllm", "--max_num_seqs=64"}, []string{"vllm", "--max-num-seqs", "64"}, ""},
		{
			"decimals", "vllm",
			[]string{"vllm", "--gpu-memory-utilization", "0.960"},
			[]string{"vllm", "--gpu-memory-utilization", "0.96"},
			"",
		},
		{
			"short numbers", "vllm",
			[]string{"vllm", "--max-model-len", "8K", "--max-num-batched-tokens=2k", "--kv-cache-memory-bytes", "1.5g"},
			[]string{
				"vllm", "--max-model-len", "8192", "--max-num-batched-tokens", "2000",
				"--kv-cache-memory-bytes=1500000000",
			},
			"",
		},
		{
			"thousands and 1024", "vllm",
			[]string{"vllm", "--max-model-len", "8k"},
			[]string{"vllm", "--max-model-len", "8192"},
			"argument --max-model-len: 8000 against 8192",
		},
		{
			"no short number", "vllm",
			[]string{"vllm", "--served-model-name", "8k"},
			[]string{"vllm", "--served-model-name", "8000"},
			"argument --served-model-name: 8k against 8000",
		},
		{
			"true", "vllm",
			[]string{"vllm", "--enable-prefix-caching=True"},
			[]string{"vllm", "--enable-prefix-caching"},
			"",
		},
		{
			"sglang", "sglang",
			[]string{"python", "--tp", "2", "--dp-size", "4"},
			[]string{"python", "--tensor-parallel-size", "2", "--data-parallel-size", "4"},
			"",
		},
		{
			"llama.cpp", "llamacpp",
			[]string{"llama-server", "-ngl", "99", "-c", "4096", "-np", "8"},
			[]string{"llama-server", "--n-gpu-layers", "99", "--ctx-size", "4096", "--parallel", "8"},
			"",
		},
		{
			"short flags with =, decimals without a zero", "vllm",
			[]string{"vllm", "serve", "m", "-tp=8", "--gpu-memory-utilization=.960", "-ep", "-dcp", "2"},
			[]string{
				"vllm", "serve", "m", "--tensor_parallel_size", "8", "--gpu-memory-utilization", "0.96",
				"--enable-expert-parallel=true", "--decode-context-parallel-size=2",
			},
			"",
		},
		{
			"JSON", "vllm",
			[]string{"vllm", "--speculative-config", `{"method": "eagle", "num_speculative_tokens": 3, "x": [0.50]}`},
			[]string{"vllm", "-sc", `{"x":[0.5],"num_speculative_tokens":3,"method":"eagle"}`},
			"",
		},
		{
			"other JSON", "vllm",
			[]string{"vllm", "--speculative-config", `{"k": 3}`},
			[]string{"vllm", "--speculative-config", `{"k": 4}`},
			`argument --speculative-config: {"k":3} against {"k":4}`,
		},
		{
			"no JSON", "vllm",
			[]string{"vllm", "--x", `{a}`},
			[]string{"vllm", "--x", `{b}`},
			"argument --x: {a} against {b}",
		},
		{
			"a negation", "vllm",
			[]string{"vllm", "--no-enable-prefix-caching"},
			[]string{"vllm", "--enable-prefix-caching=False"},
			"",
		},
		{
			"a switch and its negation", "vllm",
			[]string{"vllm", "--enable-prefix-caching"},
			[]string{"vllm", "--no-enable-prefix-caching"},
			"argument --enable-prefix-caching: set against false",
		},
		{
			"a negation alone", "llamacpp",
			[]string{"llama-server", "--no-mmap"},
			[]string{"llama-server"},
			"argument --no-mmap: set against unset",
		},
		{
			"a flag that is given twice", "vllm",
			[]string{"vllm", "--max-num-seqs", "64", "--max_num_seqs=64"},
			[]string{"vllm", "--max-num-seqs", "64"},
			"",
		},
		{
			"flags that add up", "llamacpp",
			[]string{"llama-server", "-ot", "a=CPU", "-ot", "b=CPU"},
			[]string{"llama-server", "--override-tensor", "a=CPU"},
			"argument --override-tensor: a=CPU b=CPU against a=CPU",
		},
		{
			"switches of llama.cpp", "llamacpp",
			[]string{"llama-server", "-fa", "on", "-kvu", "-cmoe", "-md", "d.gguf", "-ngld", "9", "--draft", "5"},
			[]string{
				"llama-server", "--flash-attn", "1", "--kv-unified", "--cpu-moe", "--model-draft", "d.gguf",
				"--gpu-layers-draft", "9", "--spec-draft-n-max", "5",
			},
			"",
		},
		{
			"flash attention on and auto", "llamacpp",
			[]string{"llama-server", "-fa"},
			[]string{"llama-server", "-fa", "auto"},
			"argument --flash-attn: set against auto",
		},
		{
			"ports and hosts of bench", "vllm",
			[]string{"vllm", "--port", "8000", "--host", "127.0.0.1"},
			[]string{"vllm", "--port", "8001", "--host", "0.0.0.0"},
			"",
		},
		{
			"a long number", "vllm",
			[]string{"vllm", "--seed", "12345678901234567890"},
			[]string{"vllm", "--seed", "12345678901234567891"},
			"argument --seed: 12345678901234567890 against 12345678901234567891",
		},
		{
			"another value", "vllm",
			[]string{"vllm", "-tp", "8"},
			[]string{"vllm", "-tp", "4"},
			"argument --tensor-parallel-size: 8 against 4",
		},
		{
			"a flag of another launcher", "command",
			[]string{"x", "-c", "1"},
			[]string{"x", "--ctx-size", "1"},
			"argument -c: 1 against unset; argument --ctx-size: unset against 1",
		},
		{
			"a version", "vllm",
			[]string{"vllm", "--tag", "0.10.0"},
			[]string{"vllm", "--tag", "0.1.0"},
			"argument --tag: 0.10.0 against 0.1.0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes := RecipeOf(serverOf(tt.launcher, tt.a...)).Changes(RecipeOf(serverOf(tt.launcher, tt.b...)))
			got := ""
			if len(changes) > 0 {
				got = ChangesText(changes)
			}
			if got != tt.want {
				t.Errorf("changes %q, want %q", got, tt.want)
			}
		})
	}
}

// What one side does not tell is not counted as a difference.
func TestUnknownIsNotDifferent(t *testing.T) {
	v := Against{Delta: []Delta{
		{Change: Change{What: "argument --a", From: "1", To: "2"}},
		{Change: Change{What: "machine", From: NotKnown, To: "box"}},
	}}
	v.Things = things(v.Delta)
	if v.Things != 1 {
		t.Errorf("%d differences, want 1", v.Things)
	}
	if got := v.OneSided(); len(got) != 1 || got[0] != "machine" {
		t.Errorf("known on one side: %q, want the machine", got)
	}
}

// An arm whose start nobody knows is not said to be started as the other.
func TestUnknownArmIsNotTheSame(t *testing.T) {
	cell := func(servers []results.Server, imported *results.Origin) compare.Cell {
		r := &results.Result{Servers: servers, Imported: imported}
		return compare.Cell{Steps: []*results.Result{r}, Counted: []*results.Result{r}}
	}
	known := []results.Server{{Launcher: "vllm", Argv: []string{"vllm", "serve", "m"}}}
	for _, tt := range []struct {
		name       string
		base, with compare.Cell
		want       string
	}{
		{"equal", cell(known, nil), cell(known, nil), "the same arguments and environment"},
		{"no server came up", cell(known, nil), cell(nil, nil), "arguments and environment are not known"},
		{
			"both read from a file", cell([]results.Server{{}}, &results.Origin{}),
			cell([]results.Server{{}}, &results.Origin{}), "arguments and environment are not known",
		},
		{
			"one read from a file", cell(known, nil), cell([]results.Server{{}}, &results.Origin{}),
			"server's command: vllm serve m against not known",
		},
		{
			"commands in the files", cell(known, &results.Origin{}), cell(known, &results.Origin{}),
			"the same arguments and environment",
		},
	} {
		if got := RecipesText(tt.base, tt.with); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
