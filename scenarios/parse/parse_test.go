package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/scenarios"
)

func TestGoodFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(paths) < 5 {
		t.Fatalf("testdata/good holds %d files, %v, want at least 5", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Source(path, src, testOptions(string(src)))
			if err != nil {
				t.Fatalf("Parse(%s):\n%v", path, err)
			}
			if !bytes.Equal(s.Source, src) {
				t.Errorf("Parse(%s).Source differs from the file", path)
			}
			got := strings.ReplaceAll(dump(*withoutSource(s)), s.Dir, "DIR")
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", got)
		})
	}
}

func withoutSource(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Source = nil
	return &c
}

func mustParse(t *testing.T, src string, opts Options) *scenarios.Scenario {
	t.Helper()
	s, err := Source("dir/a.yaml", []byte(src), opts)
	if err != nil {
		t.Fatalf("Parse(%s):\n%v", src, err)
	}
	return s
}

func TestArgumentValuesKeepTheirSpelling(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		want any
	}{
		{"0.90", json.Number("0.90")},
		{"1e3", json.Number("1e3")},
		{"-5", json.Number("-5")},
		{"18446744073709551616", json.Number("18446744073709551616")},
		{`"0.90"`, "0.90"},
		{"010", "010"},
		{"0x10", "0x10"},
		{"1_000", "1_000"},
		{".5", ".5"},
		{".inf", ".inf"},
		{"2026-11-27", "2026-11-27"},
		{"12:30", "12:30"},
		{"true", true},
		{"False", false},
		{"yes", "yes"},
		{"off", "off"},
		{`"true"`, "true"},
		{`""`, ""},
		{"[1.0, [x]]", []any{json.Number("1.0"), []any{"x"}}},
		{"{a: 1.50, b: ~}", map[string]any{"a": json.Number("1.50"), "b": nil}},
		{`"${v}"`, json.Number("0.50")},
		{`"v=${v}"`, "v=0.50"},
		{`"${env:N}"`, json.Number("7.0")},
		{`"$${v}"`, "${v}"},
	} {
		src := "schema: 1\nvars: {v: 0.50}\nserver: {launcher: simulator, args: {x: " + tc.yaml +
			"}}\nload: {input-len: 1, output-len: 1}\n"
		opts := Options{LookupEnv: func(string) (string, bool) { return "7.0", true }}
		got := mustParse(t, src, opts).Variants[0].Server.Args[0].Value
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("argument %s = %#v, want %#v", tc.yaml, got, tc.want)
		}
	}
}

func TestArgumentsOverride(t *testing.T) {
	for _, tc := range []struct{ name, shared, variant, want string }{
		{"in place", "{a: 1, b: 2}", "{a: 3}", "a=3 b=2"},
		{"other spelling", "{max-num-seqs: 1, b: 2}", "{max_num_seqs: 3}", "max_num_seqs=3 b=2"},
		{"removed", "{a: 1, b: 2}", "{a: null}", "b=2"},
		{"removed by other spelling", "{a-b: 1}", "{a_b: null, c: 1}", "c=1"},
		{"added behind", "{a: 1}", "{b: 2}", "a=1 b=2"},
		{"dotted json path", "{x.a_b: 1}", "{x.a-b: 2}", "x.a_b=1 x.a-b=2"},
		{"dashes in front", "{tp: 1}", "{-tp: 2}", "-tp=2"},
	} {
		src := "schema: 1\nserver: {launcher: simulator, args: " + tc.shared + "}\nvariants: [{name: v, args: " +
			tc.variant + "}]\n" +
			"load: {input-len: 1, output-len: 1}\n"
		var got []string
		for _, a := range mustParse(t, src, Options{}).Variants[0].Server.Args {
			got = append(got, a.Name+"="+string(a.Value.(json.Number)))
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: args %s over %s = %s, want %s", tc.name, tc.variant, tc.shared, s, tc.want)
		}
	}
	src := "schema: 1\nserver: {launcher: simulator, args: {z: 1}}\nvariants: [{name: v, args: {a-b: 1, a_b: 2}}]\n" +
		"load: {input-len: 1, output-len: 1}\n"
	if _, err := Source("a.yaml", []byte(src), Options{}); err == nil || !strings.Contains(err.Error(),
		"same argument") {
		t.Errorf("Parse(one argument spelled twice) = %v, want an error", err)
	}
}

// A server that inherits a variable can log it alone: what a secret text is put together
// from is secret, too.
func TestPartsOfSecretsStayHidden(t *testing.T) {
	src := `schema: 1
vars: {topic: "${env:TOPIC}-bench", model: "${env:MODEL_NAME}"}
server: {launcher: vllm, model: "${model}", env: {A: "${topic}"}}
load: {input-len: 1, output-len: 1, headers: {Authorization: "Basic ${env:LOGIN}"}}
notify:
  - {webhook: "https://ntfy.example.org/${env:HOOK}/${topic}", on: [end]}
`
	env := map[string]string{
		"HOOK": "hook-value", "TOPIC": "topic-value", "LOGIN": "login-value", "MODEL_NAME": "topic-v",
	}
	s := mustParse(t, src, Options{LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	for name, value := range env {
		if hidden := slices.Contains(s.Secrets, value); hidden != (name != "MODEL_NAME") {
			t.Errorf("Secrets = %q, has the value of %s: %t", s.Secrets, name, hidden)
		}
	}
}

func TestSecretsStayHidden(t *testing.T) {
	const secret = "s3cr3t-value"
	src := `schema: 1
server:
  launcher: vllm
  model: m
  args: {x: "a ${env:MY_TOKEN}", api-key: literal-key, tokenizer: plain-tokenizer}
  env: {A: "${env:MY_TOKEN}", OTHER_KEY: in-the-clear, TOKENIZERS_PARALLELISM: "false", U: "${env:USER}"}
variants:
  - name: v
    matrix: {k: ["${env:MY_TOKEN}"]}
load: {input-len: 1, output-len: 1, headers: {Authorization: Bearer header-token}}
`
	env := map[string]string{"MY_TOKEN": secret, "USER": "someone"}
	s := mustParse(t, src, Options{LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	for _, want := range []string{secret, "a " + secret, "literal-key", "in-the-clear", "header-token"} {
		if !slices.Contains(s.Secrets, want) {
			t.Errorf("Secrets = %q, want %q among them", s.Secrets, want)
		}
	}
	for _, open := range []string{"false", "someone", "plain-tokenizer"} {
		if slices.Contains(s.Secrets, open) {
			t.Errorf("Secrets = %q, want no %q", s.Secrets, open)
		}
	}
	if got := s.Variants[0].Params["k"]; got != scenarios.Hidden {
		t.Errorf("Params[k] = %q, want %q", got, scenarios.Hidden)
	}
	got := s.Variants[0].Server.Env
	for name, want := range map[string]bool{"A": true, "OTHER_KEY": true, "TOKENIZERS_PARALLELISM": false, "U": false} {
		if got[name].Secret != want {
			t.Errorf("Env[%s].Secret = %t, want %t", name, got[name].Secret, want)
		}
	}
	want := []scenarios.EnvUse{
		{Name: "MY_TOKEN", Value: scenarios.Hidden, Secret: true},
		{Name: "USER", Value: "someone"},
	}
	if diff := cmp.Diff(want, s.EnvUsed); diff != "" {
		t.Errorf("EnvUsed (-want +got):\n%s", diff)
	}
}

func TestSecretInSetIsNotQuoted(t *testing.T) {
	_, err := Source("a.yaml", []byte("schema: 1\n"), Options{Set: []string{
		"server.api-key.x=hush-hush",
		"servr.api-key=hush-hush",
	}})
	if err == nil || strings.Contains(err.Error(), "hush-hush") {
		t.Errorf("Parse = %v, want errors without the secret", err)
	}
}

func TestProblemsAreThoseOfThisBox(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	src := `schema: 1
server: {launcher: llamacpp, model: m.gguf, binary: bin/llama-server, work-dir: w}
load: {dataset: {kind: jsonl, path: p.jsonl}}
`
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := File(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Problems() {
		got = append(got, strings.ReplaceAll(p.Error(), dir, "DIR"))
	}
	want := []string{
		`DIR/a.yaml:2:37: model "DIR/m.gguf" is not there: no such file or directory`,
		`DIR/a.yaml:2:53: binary "DIR/bin/llama-server" is not there: no such file or directory`,
		`DIR/a.yaml:2:81: work-dir "DIR/w" is not there: no such file or directory`,
		`DIR/a.yaml:3:37: dataset "DIR/p.jsonl" is not there: no such file or directory`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Problems (-want +got):\n%s", diff)
	}
	for _, name := range []string{"m.gguf", "p.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Problems(); len(got) != 2 {
		t.Errorf("Problems() = %v after two files came, want 2", got)
	}
}

// Files that arguments name are needed as much as the model is, where they are
// plainly paths.
func TestProblemsOfArguments(t *testing.T) {
	for args, want := range map[string][]string{
		"launcher: llamacpp, args: {mmproj: DIR/mm.gguf, model-draft: ./d.gguf, lora: 'DIR/a.gguf,DIR/b.gguf'}": {
			`args: mmproj "DIR/mm.gguf"`, `args: model-draft "DIR/w/d.gguf"`,
		},
		"launcher: vllm, args: {tokenizer: org/m, speculative-config: {model: DIR/d, num_speculative_tokens: 2}}": {
			`args: speculative-config "DIR/d"`,
		},
		"launcher: vllm, args: {speculative-config.model: DIR/d, chat_template: DIR/c.jinja}": {
			`args: speculative-config.model "DIR/d"`, `args: chat_template "DIR/c.jinja"`,
		},
		"launcher: vllm, args: {download-dir: DIR/none, tokenizer: [DIR/a], chat-template: '{{ x }}'}": nil,
		"launcher: vllm, args: {tokenizer: DIR/t}, container: {image: a/b}":                            nil,
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "w"), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "a.yaml")
		src := "schema: 1\nserver: {model: org/m, work-dir: w, " + strings.ReplaceAll(args, "DIR", dir) + "}\n" +
			"load: {dataset: {kind: random}, num-prompts: 1, input-len: 8, output-len: 8}\n"
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}

		s, err := File(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var got []string
		for _, p := range s.Problems() {
			text := strings.ReplaceAll(p.Error(), dir, "DIR")
			_, text, _ = strings.Cut(text, ": ")
			text, _, _ = strings.Cut(text, " is not there")
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Problems (-want +got):\n%s", args, diff)
		}
	}
}

func TestLocalModels(t *testing.T) {
	exists := func(path string) bool { return strings.HasSuffix(path, "/dir/here/model") }
	for _, tc := range []struct{ launcher, model, want string }{
		{"vllm", "meta-llama/Llama", "meta-llama/Llama"},
		{"vllm", "here/model", "DIR/here/model"},
		{"vllm", "./x", "DIR/x"},
		{"vllm", "/abs/x/", "/abs/x"},
		{"llamacpp", "sub/x.gguf", "DIR/sub/x.gguf"},
		{"ollama", "here/model", "here/model"},
		{"simulator", "here/model", "here/model"},
	} {
		src := "schema: 1\nserver: {launcher: " + tc.launcher + ", model: " + tc.model +
			"}\nload: {input-len: 1, output-len: 1}\n"
		s := mustParse(t, src, Options{Exists: exists})
		if got := strings.ReplaceAll(s.Variants[0].Server.Model, s.Dir, "DIR"); got != tc.want {
			t.Errorf("model %s of %s = %s, want %s", tc.model, tc.launcher, got, tc.want)
		}
	}
}

func TestExamplesAndTemplatesAreRight(t *testing.T) {
	names := scenarios.ExampleNames()
	if len(names) < 3 {
		t.Fatalf("ExampleNames() = %q, want at least 3", names)
	}
	for _, name := range names {
		src, err := scenarios.Template(name, false)
		if err != nil {
			t.Fatal(err)
		}
		key := func(name string) (string, bool) { return "some-secret-value", name == "BENCH_REMOTE_KEY" }
		for _, opts := range []Options{{LookupEnv: key}, {Set: []string{"simulate.on=true"}}} {
			s, err := Source(name, src, opts)
			if err != nil || len(s.Warnings) > 0 {
				t.Errorf("Parse(%s, %q) = %v, want a sound scenario without warnings", name, opts.Set, err)
			}
		}
	}
	home := func(name string) (string, bool) { return "/home/u", name == "HOME" }
	for _, image := range []bool{false, true} {
		kinds := scenarios.TemplateKinds()
		if image {
			kinds = scenarios.ImageKinds()
		}
		for _, kind := range kinds {
			src, err := scenarios.Template(kind, image)
			if err != nil {
				t.Errorf("Template(%s, %t): %v", kind, image, err)
				continue
			}
			s, err := Source(kind+".yaml", src, Options{LookupEnv: home})
			if err != nil || len(s.Warnings) > 0 || s.Variants[0].Server.Launcher != kind ||
				image != (s.Variants[0].Server.Container.Image != "") {
				t.Errorf("Parse(Template(%s, %t)) = %v, want a sound scenario of that launcher", kind, image, err)
			}
		}
	}
	if _, err := scenarios.Template("vlm", false); err == nil || !strings.Contains(err.Error(), `did you mean "vllm"`) {
		t.Errorf(`Template(vlm) = %v, want did you mean "vllm"`, err)
	}
}

// What is in mi300x-70b.yaml is promised by the design.
func TestMI300XExpands(t *testing.T) {
	s, err := File("../mi300x-70b.yaml", Options{Exists: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	var variants, points []string
	for _, v := range s.Variants {
		variants = append(variants, v.Name)
	}
	for _, l := range s.Points {
		points = append(points, l.Label)
	}
	if got := strings.Join(variants, " "); got != "tp8 tp2-pp4 tp2x4 tp2-times-4 sd-1b-k5 sd-1b-k10 sd-8b-k5" {
		t.Errorf("variants = %s", got)
	}
	if got := strings.Join(points, " "); got != "c1 c4 c8 c16 c32 c128" {
		t.Errorf("points = %s", got)
	}
}

func TestValuesCannotExplode(t *testing.T) {
	var b strings.Builder
	b.WriteString("schema: 1\nserver: {launcher: simulator, args: {x: \"${t40}\", y: \"${m40}\"}}\n" +
		"load: {input-len: 1, output-len: 1}\nvars:\n  t0: xxxxxxxx\n  m0: {a: 1}\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  t%d: ${t%d}${t%d}\n  m%d: {a: \"${m%d}\", b: \"${m%d}\"}\n", i+1, i, i, i+1, i, i)
	}
	_, err := Source("a.yaml", []byte(b.String()), Options{})
	if err == nil || !strings.Contains(err.Error(), "bytes") || !strings.Contains(err.Error(), "values") {
		t.Errorf("Parse(values that double 40 times) = %v, want two errors", err)
	}
}

// What run refuses, validate refuses: each prefix needs a prompt.
func TestMorePrefixesThanPrompts(t *testing.T) {
	const head = "schema: 1\nserver: {launcher: simulator}\nload: {num-prompts: 4, output-len: 8, "
	for load, want := range map[string]string{
		"input-len: 32, dataset: {kind: shared_prefix, prefix-len: 10, num-prefixes: 10}}": "10 prefixes need at " +
			"least as many prompts",
		"dataset: {kind: prefix_repetition}}": "10 prefixes need at " +
			"least as many prompts",
		"dataset: {kind: prefix_repetition, num-prefixes: 4}}":           "",
		"input-len: 32, dataset: {kind: shared_prefix, prefix-len: 10}}": "",
	} {
		_, err := Source("a.yaml", []byte(head+load+"\n"), Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", load, err, want)
		}
	}
}
