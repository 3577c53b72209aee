package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios/parse"
)

// Components are placed on the nodes in order, as far as GPUs suffice, unless node:
// says where; each GPU of a node is given once.
func TestComponentsOverNodes(t *testing.T) {
	t.Parallel()
	const router = ", {name: router, launcher: command, command: [r, '${host}', '${decode.urls}']}"
	here := recipe.Node{Name: "n1", Address: "10.0.0.1"}
	for _, test := range []struct {
		name, components string
		there            []int // GPUs of the second node
		want, problem    string
	}{
		{
			"in order", "{name: prefill, replicas: 2, args: {tp: 2}}, {name: decode, args: {tp: 4}}", nil,
			"prefill n1 [0 1], prefill n1 [2 3], decode n2 [0 1 2 3], router n1 []", "",
		},
		{
			"replicas on both", "{name: decode, replicas: 3, args: {tp: 2}}",
			[]int{4, 5},
			"decode n1 [0 1], decode n1 [2 3], decode n2 [4 5], router n1 []", "",
		},
		{
			"as asked", "{name: prefill, node: 2}, {name: decode, node: 2, gpus: [2, 3], args: {tp: 2}}", nil,
			"prefill n2 [0], decode n2 [2 3], router n1 []", "",
		},
		{
			"named ones first", "{name: prefill, args: {tp: 2}}, {name: decode, node: 1, args: {tp: 4}}", nil,
			"prefill n2 [0 1], decode n1 [0 1 2 3], router n1 []", "",
		},
		{
			"too few there", "{name: prefill, args: {tp: 4}}, {name: decode, node: 2, args: {tp: 4}}",
			[]int{0, 1},
			"", "its components need 4 GPUs on node n2, and 2 are free for them",
		},
	} {
		text := "schema: 1\non: slurm\nvariants: [{name: pd, launcher: vllm, model: m, nodes: 2, components: [" +
			test.components + router + "]}]\n" +
			"load: {dataset: {kind: random, tokens: ids, vocab-size: 9}, input-len: 8, output-len: 2, num-prompts: 1}\n"
		sc, err := parse.Source("s.yaml", []byte(text), parse.Options{})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		made, err := plan.New(sc, plan.Machine{
			GPUs: 4, Vendor: "nvidia", Granted: []int{0, 1, 2, 3},
			Nodes: []recipe.Node{here, {Name: "n2", Address: "10.0.0.2", GPUs: test.there}},
		})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}

		if got := strings.Join(made.Problems, "; "); !strings.Contains(got, test.problem) || test.problem == "" &&
			got != "" {
			t.Errorf("%s: problems = %q, want %q", test.name, got, test.problem)
		}
		var got []string
		for _, s := range made.Lives[0].Servers {
			got = append(got, fmt.Sprintf("%s %s %v", s.Component, s.Node, s.GPUs))
		}
		if test.want != "" && strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, strings.Join(got, ", "), test.want)
		}
		if groups := made.Groups(false); groups[0].Nodes != 2 {
			t.Errorf("%s: the job has %d nodes, want 2", test.name, groups[0].Nodes)
		}
	}
}

// Before a job runs, slurm.gres says how many GPUs a node has.
func TestComponentsOnNodesOfWhichGresTells(t *testing.T) {
	t.Parallel()
	const text = `
schema: 1
on: slurm
slurm: {gres: "gpu:h100:4"}
variants:
- name: pd
  launcher: vllm
  model: m
  nodes: 2
  components: [{name: prefill, args: {tp: 4}}, {name: decode, args: {tp: 2}}]
load: {dataset: {kind: random, tokens: ids, vocab-size: 100}, input-len: 8, output-len: 2, num-prompts: 1}
`
	sc, err := parse.Source("s.yaml", []byte(text), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.New(sc, plan.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"NODE1", "NODE2"} {
		if s := made.Lives[0].Servers[i]; s.Node != want {
			t.Errorf("%s is planned on %q, want %s", s.Component, s.Node, want)
		}
	}
}
