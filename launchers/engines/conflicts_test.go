package engines

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/recipe"
)

func TestConflicts(t *testing.T) {
	t.Parallel()
	steps := recipe.Arg{Name: "num-scheduler-steps", Value: number("12")}
	draft := []recipe.Arg{{Name: "speculative_model", Value: "small"}, {
		Name:  "num_speculative_tokens",
		Value: number("5"),
	}}
	env := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name, kind string
		spec       recipe.Spec
		version    string
		want       []string // beginnings of messages, or parts; in order
	}{
		{
			"nothing to say", "vllm",
			recipe.Spec{Args: []recipe.Arg{{Name: "tensor-parallel-size", Value: number("8")}}},
			"", nil,
		},
		{"several steps, any version", "vllm", recipe.Spec{Args: []recipe.Arg{steps}}, "", []string{
			"num-scheduler-steps: vllm 0.10.1 and newer refuse it", "older V0 engine",
		}},
		{"several steps, old version", "vllm", recipe.Spec{Args: []recipe.Arg{steps}}, "0.6.4.post1", nil},
		{
			"several steps, between", "vllm",
			recipe.Spec{Args: []recipe.Arg{steps}},
			"v0.9.2",
			[]string{"older V0 engine"},
		},
		{
			"several steps, too new", "vllm",
			recipe.Spec{Args: []recipe.Arg{steps}},
			"0.11.0",
			[]string{"num-scheduler-steps: vllm 0.11.0 refuses it"},
		},
		{
			"one step", "vllm",
			recipe.Spec{Args: []recipe.Arg{{Name: "num-scheduler-steps", Value: number("1")}}},
			"0.6.4", nil,
		},
		{
			"steps and speculation", "vllm",
			recipe.Spec{Args: append([]recipe.Arg{steps}, draft...)},
			"0.6.4",
			[]string{"not supported with speculative decoding"},
		},
		{
			"steps, chunks and stages", "vllm",
			recipe.Spec{Args: []recipe.Arg{steps, {
				Name:  "enable-chunked-prefill",
				Value: true,
			}, {Name: "-pp", Value: number("4")}}},
			"0.6.4",
			[]string{"chunked prefill is not supported with pipeline-parallel-size"},
		},
		{
			"steps and stages", "vllm",
			recipe.Spec{Args: []recipe.Arg{steps, {Name: "-pp", Value: number("4")}}},
			"0.6.4", nil,
		},
		{"flags of old", "vllm", recipe.Spec{Args: draft}, "0.8.2", nil},
		{"flags that have gone", "vllm", recipe.Spec{Args: draft}, "0.8.5", []string{
			"speculative_model: vllm 0.8.5 refuses it: give speculative-config",
			"num_speculative_tokens: vllm 0.8.5 refuses it: give speculative-config",
		}},
		{
			"left out by null", "vllm",
			recipe.Spec{Args: []recipe.Arg{{Name: "use-v2-block-manager", Value: nil}}},
			"",
			nil,
		},
		{"the image tells", "vllm", recipe.Spec{
			Args:      draft,
			Container: container.Options{Image: "registry:5000/vllm/vllm-openai:v0.7.3"},
		}, "", nil},
		{
			"the image tells a month", "vllm",
			recipe.Spec{
				Args:      draft[:1],
				Container: container.Options{Image: "nvcr.io/nvidia/vllm:25.09-py3"},
			},
			"",
			[]string{"vllm 0.8.3 and newer"},
		},
		{
			"the image does not", "vllm",
			recipe.Spec{
				Args:      draft[:1],
				Container: container.Options{Image: "registry:5000/vllm/vllm-openai:latest"},
			},
			"",
			[]string{"vllm 0.8.3 and newer"},
		},
		{
			"variables", "vllm",
			recipe.Spec{Env: env("VLLM_USE_TRITON_FLASH_ATTN", "0")},
			"",
			[]string{"VLLM_USE_TRITON_FLASH_ATTN: vllm 0.12.0 and newer ignore it"},
		},
		{"a variable that works", "vllm", recipe.Spec{Env: env("VLLM_ATTENTION_BACKEND", "X")}, "0.14.1", nil},
		{
			"one that does not any more", "vllm",
			recipe.Spec{Env: env("VLLM_ATTENTION_BACKEND", "X")},
			"0.15.0",
			[]string{"VLLM_ATTENTION_BACKEND: vllm 0.15.0 ignores it: give the argument attention-backend"},
		},
		{
			"one that was never in a release", "vllm",
			recipe.Spec{Env: env("VLLM_SWIZZLE_TENSOR", "1")},
			"0.10.1",
			[]string{"no release of vllm knows it"},
		},
		{"of another kind", "sglang", recipe.Spec{Env: env("VLLM_USE_V1", "1"), Args: []recipe.Arg{steps}}, "", nil},
		{
			"GPUs chosen twice", "sglang",
			recipe.Spec{Env: env("HIP_VISIBLE_DEVICES", "0", "ROCR_VISIBLE_DEVICES", "4")},
			"",
			[]string{"ROCR_VISIBLE_DEVICES: "},
		},
		{"GPUs chosen differently", "vllm", recipe.Spec{Env: env("HIP_VISIBLE_DEVICES", "0", "CUDA_VISIBLE_DEVICES",
			"1")}, "", []string{"HIP_VISIBLE_DEVICES: "}},
		{
			"old words as they stand", "llamacpp",
			recipe.Spec{Args: []recipe.Arg{{Name: "--draft-max", Value: number("8")}}},
			"",
			[]string{"--draft-max: llamacpp builds of April 2026 and later refuse it"},
		},
		{"spelled anew", "llamacpp", recipe.Spec{Args: []recipe.Arg{{Name: "draft-max", Value: number("8")}}}, "", nil},
		{
			"a context over slots", "llamacpp",
			recipe.Spec{Args: []recipe.Arg{
				{Name: "-c", Value: number("4096")},
				{Name: "np", Value: number("16")},
			}},
			"",
			[]string{"-c: 4096 tokens are split over 16 slots: a prompt and its answer must fit 256 tokens"},
		},
		{"a wide one", "llamacpp", recipe.Spec{Args: []recipe.Arg{
			{Name: "ctx-size", Value: number("32768")},
			{Name: "parallel", Value: number("16")},
		}}, "", nil},
		{"one for all", "llamacpp", recipe.Spec{Args: []recipe.Arg{
			{Name: "ctx-size", Value: number("4096")},
			{Name: "parallel", Value: number("16")},
			{Name: "kv-unified", Value: true},
		}}, "b10587-3f545becc", nil},
		{"one for all, any build", "llamacpp", recipe.Spec{Args: []recipe.Arg{
			{Name: "ctx-size", Value: number("4096")},
			{Name: "parallel", Value: number("16")},
			{Name: "kv-unified", Value: true},
		}}, "", []string{
			"ctx-size: if llama-server is older than November 2025, it splits it in spite of kv-unified",
		}},
		{
			"one for all, an old build", "llamacpp",
			recipe.Spec{Args: []recipe.Arg{
				{Name: "ctx-size", Value: number("4096")},
				{Name: "parallel", Value: number("16")},
				{Name: "kv-unified", Value: true},
			}},
			"b6327",
			[]string{
				"ctx-size: build 6327 splits it in spite of kv-unified, as all did before November 2025: 4096 tokens " +
					"are split over 16 slots: a prompt and its answer must fit 256 tokens",
			},
		},
		{
			"bare -fa", "command",
			recipe.Spec{Command: []string{"/opt/llama-server", "-fa", "-ngl", "99"}},
			"",
			[]string{"-fa: "},
		},
		{"-fa with a value", "command", recipe.Spec{Command: []string{"llama-server", "-fa", "on"}}, "", nil},
		{
			"a slip", "vllm",
			recipe.Spec{Args: []recipe.Arg{{Name: "tensor-paralel-size", Value: number("8")}}},
			"",
			[]string{
				"tensor-paralel-size: vllm is not known to have this option: did you mean tensor-parallel-size?",
			},
		},
		{"a newer option", "vllm", recipe.Spec{Args: []recipe.Arg{{Name: "quantum-foam", Value: true}}}, "", nil},
		{"short names and no-", "vllm", recipe.Spec{Args: []recipe.Arg{
			{Name: "tp", Value: number("2")},
			{Name: "no-enable-prefix-caching", Value: true},
		}}, "", nil},
		{
			"parts of JSON", "vllm",
			recipe.Spec{Args: []recipe.Arg{{Name: "speculative-config.method", Value: "ngram"}}},
			"", nil,
		},
		{"gone with V0", "vllm", recipe.Spec{Args: []recipe.Arg{
			{Name: "task", Value: "embed"},
			{Name: "device", Value: "cuda"},
		}}, "0.13.0", []string{
			"device: vllm 0.13.0 refuses it: remove it", "task: vllm 0.13.0 refuses it: remove it for generation",
		}},
		{"another program's", "command", recipe.Spec{Command: []string{"other", "-fa", "-x"}}, "", nil},
	} {
		kind, _ := Lookup(c.kind)
		c.spec.Launcher = c.kind
		var got []string
		for _, conflict := range Conflicts(kind, c.spec, c.version) {
			got = append(got, conflict.Message)
		}
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			same = same && strings.Contains(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s: Conflicts(%s, %q) = %q, want %q", c.name, c.kind, c.version, got, c.want)
		}
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.8.2", "0.8.3", true},
		{"0.8.3", "0.8.3", false},
		{"0.10.1", "0.9.2", false},
		{"v0.6.4.post1", "0.6.5", true},
		{"0.8", "0.8.1", true},
		{"1.0.0rc1", "0.15.0", false},
		{"b10587-3f545becc", "0.8.3", false},
		{"", "0.8.3", false},
	} {
		if got := Version(c.a).olderThan(c.b); got != c.want {
			t.Errorf("Version(%q).olderThan(%q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Every option that has gone has left the list of those that are there.
func TestRetiredOptionsAreNotListed(t *testing.T) {
	t.Parallel()
	listed := strings.Fields(vllmOptions)
	for _, r := range vllmRetired() {
		if slices.Contains(listed, r.Arg) {
			t.Errorf("%s is retired and listed", r.Arg)
		}
		if r.Arg != "" && r.Instead == "" || r.Since == "" && r.When == "" {
			t.Errorf("%+v says neither when nor what to do", r)
		}
	}
}

func TestSimulatorRefusesUnknownOptions(t *testing.T) {
	t.Parallel()
	kind, _ := Lookup("simulator")
	_, err := kind.Command(recipe.Spec{
		Binary: []string{"bench"},
		Args:   []recipe.Arg{{Name: "tensor-paralel-size", Value: number("8")}},
	})
	if err == nil || !strings.Contains(err.Error(), "did you mean tensor-parallel-size?") {
		t.Errorf("Command() = %v, want a refusal with the right name", err)
	}
	if _, err := kind.Command(recipe.Spec{
		Binary: []string{"bench"},
		Args:   []recipe.Arg{{Name: "xyz", Value: nil}},
	}); err != nil {
		t.Errorf("Command() = %v, want nothing said of an option that is left out", err)
	}
}

// TestEmbeddings: a server that answers with numbers is refused before it is
// started.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		arg     recipe.Arg
		refused bool
	}{
		{"vllm", recipe.Arg{Name: "runner", Value: "pooling"}, true},
		{"vllm", recipe.Arg{Name: "--runner", Value: "generate"}, false},
		{"vllm", recipe.Arg{Name: "task", Value: "embed"}, true},
		{"vllm", recipe.Arg{Name: "task", Value: "generate"}, false},
		{"vllm", recipe.Arg{Name: "convert", Value: "classify"}, true},
		{"vllm", recipe.Arg{Name: "convert", Value: []any{"x"}}, false},
		{"sglang", recipe.Arg{Name: "is_embedding", Value: true}, true},
		{"sglang", recipe.Arg{Name: "is-embedding", Value: false}, false},
	} {
		kind, _ := Lookup(c.kind)
		_, err := kind.Command(recipe.Spec{Binary: []string{"x"}, Model: "m", Args: []recipe.Arg{c.arg}})
		_, asked := kind.Command(recipe.Spec{
			Binary: []string{"x"}, Model: "m", Args: []recipe.Arg{c.arg}, Answer: recipe.Smoke{Path: "/v1/embeddings"},
		})
		if asked != nil && strings.Contains(asked.Error(), "generates no tokens") {
			t.Errorf("%s with %s: %v where embeddings are measured", c.kind, c.arg.Name, asked)
		}
		if refused := err != nil && strings.Contains(err.Error(), "generates no tokens"); refused != c.refused {
			t.Errorf("%s with %s: %v: error %v, want it refused: %t", c.kind, c.arg.Name, c.arg.Value, err, c.refused)
		}
	}
}

func TestLlamaServerForms(t *testing.T) {
	t.Parallel()
	kind, _ := Lookup("llamacpp")
	for name, c := range map[string]struct {
		spec recipe.Spec
		want string // in the command line, or in the error
	}{
		"a router": {recipe.Spec{
			ServedName: "qwen",
			Args:       []recipe.Arg{{Name: "models-dir", Value: "/models"}},
		}, "--models-dir /models"},
		"a router without name": {
			recipe.Spec{Args: []recipe.Arg{{Name: "models-dir", Value: "/models"}}},
			"served-name: missing",
		},
		"vision": {recipe.Spec{
			Model: "/m.gguf",
			Args:  []recipe.Arg{{Name: "mmproj", Value: "/mm.gguf"}},
		}, "--mmproj /mm.gguf"},
		"embeddings": {
			recipe.Spec{Model: "/m.gguf", Args: []recipe.Arg{{Name: "embeddings", Value: true}}},
			"generates no tokens",
		},
		"no embeddings": {
			recipe.Spec{Model: "/m.gguf", Args: []recipe.Arg{{Name: "embeddings", Value: false}}},
			"-m /m.gguf",
		},
		"reranking": {
			recipe.Spec{Model: "/m.gguf", Args: []recipe.Arg{{Name: "rerank", Value: true}}},
			"generates no tokens",
		},
	} {
		command, err := kind.Command(c.spec)
		text := strings.Join(command.Argv, " ")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, "--alias qwen") {
			t.Errorf("%s: %q, want %q in it", name, text, c.want)
		}
	}
}
