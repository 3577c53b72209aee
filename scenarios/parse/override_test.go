package parse

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// argsText is a server's arguments, "a=1 b=true".
func argsText(args []scenarios.Arg) string {
	var parts []string
	for _, a := range args {
		value := fmt.Sprint(a.Value)
		if object, ok := a.Value.(map[string]any); ok {
			text, _ := json.Marshal(object) // of values that came from a file
			value = string(text)
		}
		parts = append(parts, a.Name+"="+value)
	}

	return strings.Join(parts, " ")
}

// A key of a variant with only comments beneath it has nothing of its own: it
// must not drop what variants share. null, written out, does.
func TestEmptyKeyOfVariant(t *testing.T) {
	const head = "schema: 1\nload: {input-len: 1, output-len: 1}\n" +
		"server: {launcher: vllm, model: m, args: {tp: 8, b: 2}, env: {A: x}, ready: {timeout: 7m}}\n"
	for _, tc := range []struct{ name, keys, args, env string }{
		{"args empty", "args:\n    # tp: 4\n", "tp=8 b=2", "x"},
		{"env empty", "env:\n", "tp=8 b=2", "x"},
		{"all empty", "args:\n    env:\n    ready:\n", "tp=8 b=2", "x"},
		{"args null", "args: null\n", "", "x"},
		{"env null", "env: ~\n", "tp=8 b=2", ""},
		{"env of its own", "env: {B: y}\n", "tp=8 b=2", "x"},
	} {
		s := mustParse(t, head+"variants:\n  - name: v\n    "+tc.keys, Options{})
		sv := s.Variants[0].Server
		if got := argsText(sv.Args); got != tc.args {
			t.Errorf("%s: args %q, want %q", tc.name, got, tc.args)
		}
		if got := sv.Env["A"].Value; got != tc.env {
			t.Errorf("%s: env A %q, want %q", tc.name, got, tc.env)
		}
		if sv.Ready.Timeout.Minutes() != 7 {
			t.Errorf("%s: ready.timeout %v, want the shared 7m", tc.name, sv.Ready.Timeout)
		}
	}
}

// The same for a list.
func TestEmptyListOfVariant(t *testing.T) {
	const src = "schema: 1\nload: {input-len: 1, output-len: 1}\n" +
		"server: {launcher: vllm, model: m, container: {image: x/y, mounts: ['/a:/b']}}\n" +
		"variants:\n  - name: v\n    container:\n      mounts:\n"
	for text, want := range map[string]int{src: 1, strings.TrimSuffix(src, "\n") + " null\n": 0} {
		if got := mustParse(t, text, Options{}).Variants[0].Server.Container.Mounts; len(got) != want {
			t.Errorf("%s\nmounts %v, want %d", text, got, want)
		}
	}
}

// The same for load: keys over those of a profile.
func TestEmptyKeyOverProfile(t *testing.T) {
	opts := testOptions("")
	s := mustParse(t, "schema: 1\nserver: {launcher: simulator}\nload:\n  profile: small\n  dataset:\n    # seed: 1\n",
		opts)
	if got := s.Points[0].Dataset.PrefixLen; got != 16 {
		t.Errorf("prefix-len %d beneath an empty dataset:, want the profile's 16", got)
	}
}

func TestOverridesOfArguments(t *testing.T) {
	for _, tc := range []struct{ name, args, set, want string }{
		{
			"dotted key of the file", "{hf-overrides.rope_theta: 1}", "server.args.hf-overrides.rope_theta=2",
			"hf-overrides.rope_theta=2",
		},
		{
			"dotted key, other dashes", "{hf_overrides.rope_theta: 1}", "server.args.hf-overrides.rope_theta=2",
			"hf_overrides.rope_theta=2",
		},
		{"beside a dotted key", "{c.a: 1}", "server.args.c.b=2", "c.a=1 c.b=2"},
		{"below a dotted key", "{c.a: {x: 1}}", "server.args.c.a.x=2", `c.a={"x":2}`},
		{"into a mapping", "{c: {a: 1}}", "server.args.c.b=2", `c={"a":1,"b":2}`},
		{"new", "{}", "server.args.c.b=2", `c={"b":2}`},
	} {
		src := "schema: 1\nload: {input-len: 1, output-len: 1}\nserver: {launcher: vllm, model: m, args: " +
			tc.args + "}\n"
		s := mustParse(t, src, Options{Set: []string{tc.set}})
		if got := argsText(s.Variants[0].Server.Args); got != tc.want {
			t.Errorf("%s: args %s with --set %s = %s, want %s", tc.name, tc.args, tc.set, got, tc.want)
		}
	}

	src := "schema: 1\nload: {input-len: 1, output-len: 1}\nserver: {launcher: vllm, model: m, sim-args: " +
		"{sim_prefill: 1}}\n"
	s := mustParse(t, src, Options{Set: []string{"server.sim-args.sim-prefill=2"}})
	if got := argsText(s.Variants[0].Server.SimArgs); got != "sim_prefill=2" {
		t.Errorf("sim-args with --set in other dashes = %s, want one argument", got)
	}
}

func TestArgumentAsWholeAndInParts(t *testing.T) {
	const head = "schema: 1\nload: {input-len: 1, output-len: 1}\n"
	for _, server := range []string{
		"server: {launcher: vllm, model: m, args: {c: {a: 1}, c.b: 2}}\n",
		"server: {launcher: vllm, model: m, args: {c: {a: 1}}}\nvariants: [{name: v, args: {c.b: 2}}]\n",
		"server: {launcher: vllm, model: m, args: {c_d.b: 2}}\nvariants: [{name: v, args: {c-d: '{}'}}]\n",
	} {
		if _, err := Source("a.yaml", []byte(head+server), Options{}); err == nil || !strings.Contains(err.Error(),
			"given as a whole") {
			t.Errorf("%s: error %v, want both forms refused", server, err)
		}
	}

	s := mustParse(t,
		head+"server: {launcher: vllm, model: m, args: {c: {a: 1}}}\nvariants: [{name: v, args: {c: null, c.b: 2}}]\n",
		Options{})
	if got := argsText(s.Variants[0].Server.Args); got != "c.b=2" {
		t.Errorf("null beside a part: args %s, want c.b=2", got)
	}
}

// Names of variants may hold dots, and one may begin like another.
func TestOverridesOfVariants(t *testing.T) {
	const src = "schema: 1\nload: {input-len: 1, output-len: 1}\nserver: {launcher: vllm, model: m}\n" +
		"variants: [{name: tp1}, {name: tp1.5}, {name: 'k${k}', matrix: {k: [1, 1.5]}}]\n"
	of := func(set string) (map[string]string, error) {
		s, err := Source("a.yaml", []byte(src), Options{Set: []string{set}})
		if err != nil {
			return nil, err
		}
		args := map[string]string{}
		for _, v := range s.Variants {
			if len(v.Server.Args) > 0 {
				args[v.Name] = argsText(v.Server.Args)
			}
		}
		return args, nil
	}

	for set, variant := range map[string]string{
		"variants.tp1.args.x=1": "tp1", "variants.tp1.5.args.x=1": "tp1.5", "variants.k1.args.x=1": "k1",
		"variants.k1.5.args.x=1": "k1.5",
	} {
		if got, err := of(set); err != nil || len(got) != 1 || got[variant] != "x=1" {
			t.Errorf("--set %s: args %v, %v, want x=1 of %s alone", set, got, err, variant)
		}
	}

	for set, want := range map[string]string{
		"variants.tp1.arg.x=1":  `unknown key "arg" of variant tp1, did you mean "args"?`,
		"variants.tp2.args.x=1": `no variant is named "tp2"`,
		"variants.tp1=1":        "write --set variants.NAME.KEY=VALUE",
	} {
		if _, err := of(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %s: error %v, want %q", set, err, want)
		}
	}
}
