package parse_test

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios/parse"
)

const overNodes = "schema: 1\nload: {dataset: {kind: random}, input-len: 8, output-len: 2, num-prompts: 1}\n"

func TestNodes(t *testing.T) {
	sc, err := parse.Source("s.yaml", []byte(overNodes+
		"on: slurm\nserver: {launcher: vllm, model: m, nodes: 2}\n"+
		"variants: [{name: a}, {name: b, nodes: 1}, {name: c, launcher: sglang, nodes: 4}]\n"), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1, 4} {
		if got := sc.Variants[i].Server.Nodes; got != want {
			t.Errorf("variant %s: Nodes = %d, want %d", sc.Variants[i].Name, got, want)
		}
	}
	sc, err = parse.Source("s.yaml", []byte(overNodes+
		"on: slurm\nserver: {launcher: vllm, model: m, nodes: 2}\nsimulate: {on: true}\n"), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(sc.SimNotes, "\n"); sc.Variants[0].Server.Nodes != 0 || !strings.Contains(notes,
		"on one node instead of 2") {
		t.Errorf("simulated: Nodes = %d, notes %q, want one node and a note", sc.Variants[0].Server.Nodes, notes)
	}
}

func TestNodesErrors(t *testing.T) {
	const slurm = "on: slurm\n"
	for _, test := range []struct{ text, want string }{
		{"server: {launcher: vllm, model: m, nodes: 2}\n", "s.yaml:3:36: nodes: 2 needs on: slurm"},
		{slurm + "server: {launcher: tgi, model: m, nodes: 2}\n", "nodes is for launchers vllm and sglang, not tgi"},
		{
			slurm + "server: {launcher: vllm, model: m, nodes: 2, replicas: 2}\n",
			"nodes cannot be combined with replicas: 2",
		},
		{
			slurm + "server: {launcher: vllm, model: m, nodes: 2, container: {image: i, network: bridge}}\n",
			"reach each other in the machines' own network",
		},
		{
			slurm + "server: {launcher: vllm, model: m, nodes: 2, interface: \"eth0,eth1\"}\n",
			"s.yaml:4:46: interface is \"eth0,eth1\", expected the name of a network interface",
		},
		{slurm + "server: {launcher: vllm, model: m, nodes: 2, gpus: [0, 1]}\n", "give the number of each node's"},
		{slurm + "server: {launcher: vllm, model: m, nodes: 2, port: 65530}\n", "leaves no room below 65536"},
		{
			"server: {launcher: vllm, model: m, container: {engine: pyxis, image: \"r#i:1\"}}\n",
			"engine pyxis needs on: slurm",
		},
		{slurm + "server: {launcher: vllm, model: m, nodes: 0}\n", "nodes"},
		{
			slurm + "server: {launcher: external, model: m, base-url: \"http://h\", nodes: 2}\n",
			"nodes is not allowed here",
		},
		{
			slurm + "server: {launcher: vllm, model: m}\nvariants: [{name: a, launcher: simulator, nodes: 3}]\n",
			"not simulator",
		},
	} {
		_, err := parse.Source("s.yaml", []byte(overNodes+test.text), parse.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, want %q in it", test.text, err, test.want)
		}
	}
}
