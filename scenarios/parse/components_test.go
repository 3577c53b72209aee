package parse_test

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios/parse"
)

// A component has the variant's keys, but for one with another launcher.
func TestComponents(t *testing.T) {
	t.Parallel()
	const text = overNodes + `
server: {launcher: vllm, model: m, args: {tp: 2, seed: 1}, api-key: key, ready: {timeout: 9m}}
variants:
- name: pd
  matrix: {n: [3]}
  env: {A: "1"}
  components:
  - {name: prefill, replicas: "${n}", args: {tp: 4}}
  - {name: router, launcher: command, command: [r, "${host}", "${prefill.url}", "--n=${n}"]}
`
	sc, err := parse.Source("s.yaml", []byte(text), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := sc.Variants[0]
	if len(v.Components) != 2 {
		t.Fatalf("components = %+v, want two", v.Components)
	}
	prefill, router := v.Components[0].Server, v.Components[1].Server
	if prefill.Launcher != "vllm" || prefill.Replicas != 3 || len(prefill.Args) != 2 || prefill.Env["A"].Value != "1" {
		t.Errorf("prefill = %+v, want the variant's keys and 3 replicas", prefill)
	}
	if router.Launcher != "command" || router.Model != "m" || router.APIKey.Value != "key" || len(router.Args) > 0 ||
		len(router.Env) > 0 || router.Ready.Timeout != prefill.Ready.Timeout {
		t.Errorf("router = %+v, want model, key and limits of the variant alone", router)
	}
	if got := strings.Join(router.Command, " "); got != "r ${host} ${prefill.url} --n=3" {
		t.Errorf("command = %q, want the places left in it", got)
	}

	sc, err = parse.Source("s.yaml", []byte(text+"simulate: {on: true}\n"), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(sc.SimNotes, "\n")
	if sc.Variants[0].Components != nil || !strings.Contains(notes, "one server instead of its 2 components") {
		t.Errorf("simulated: components %v, notes %q, want one server and a note", sc.Variants[0].Components, notes)
	}
}

// node: and nodes: say how many nodes the job of a variant has.
func TestComponentsOnNodes(t *testing.T) {
	t.Parallel()
	const parts = "components: [{name: a, node: 2}, {name: b, launcher: command, command: [r]}]"
	variant := func(keys string) string {
		return "variants: [{name: v, launcher: vllm, model: m, interface: hsn0, " + keys + "}]\n"
	}
	for keys, want := range map[string]int{parts: 2, parts + ", nodes: 3": 3} {
		sc, err := parse.Source("s.yaml", []byte(overNodes+"on: slurm\n"+variant(keys)), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := sc.Variants[0]
		if v.Nodes != want || v.Components[0].Node != 2 || v.Components[0].Server.Nodes != 0 ||
			v.Components[1].Server.Interface != "hsn0" {
			t.Errorf("%s: nodes %d, components %+v, want %d nodes and the first on the second", keys, v.Nodes,
				v.Components, want)
		}
	}

	_, err := parse.Source("s.yaml", []byte(overNodes+variant(parts)), parse.Options{})
	if err == nil || !strings.Contains(err.Error(), "components on 2 nodes need on: slurm") {
		t.Errorf("without on: slurm: %v", err)
	}
}

func TestComponentsErrors(t *testing.T) {
	t.Parallel()
	const two = "{name: a}, {name: b, launcher: command, command: [r]}"
	for _, test := range []struct{ components, want string }{
		{"{name: a}", "components is a mapping, expected a list"},
		{"[{name: a}]", "expected at least two"},
		{"[1, 2]", "a component is \"1\", expected a mapping"},
		{"[{launcher: vllm}, {name: b}]", "a component needs a name"},
		{"[{name: A b}, {name: b}]", "a component needs a name"},
		{"[" + two + ", {name: a}]", `component name "a" is used twice`},
		{"[{name: a, coulor: 1}, {name: b}]", "coulor"},
		{"[{name: a, launcher: external, base-url: \"http://h\"}, {name: b}]", "component a: an external server"},
		{"[{name: a, nodes: 2}, {name: b}]", "component a: a component runs on one node"},
		{"[{name: a, node: 0}, {name: b}]", `node is "0", expected the number of a node`},
		{"[{name: a, node: x}, {name: b}]", "node is \"x\", expected the number of a node"},
		{"[{name: a, node: 2, cpus: 0-3}, {name: b}]", "component a: cpus cannot be combined"},
		{"[{name: a, node: 2, container: {image: i}}, {name: b}]", "component a: docker and podman start no component"},
		{"[{name: a, node: 3}, {name: b}], nodes: 2", "component a: node is 3, and the job has nodes: 2"},

		{"[{name: a, command: [\"${c.url}\"], launcher: command}, {name: b}]", "unknown name ${c}"},
	} {
		text := overNodes + "on: slurm\nvariants:\n- {name: v, launcher: vllm, model: m, components: " +
			test.components + "}\n"
		_, err := parse.Source("s.yaml", []byte(text), parse.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("components: %s: %v, want %q in it", test.components, err, test.want)
		}
	}
}
