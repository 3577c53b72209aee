package plan_test

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios/parse"
)

// overNodes is a scenario on two nodes, of which one variant needs both.
const overNodes = `
schema: 1
on: slurm
server: {launcher: vllm, model: m, nodes: 2, args: {tp: 8, pp: 2, distributed-executor-backend: ray}}
variants: [{name: two}, {name: one, nodes: 1, args: {pp: null}}]
load: {dataset: {kind: random, tokens: ids, vocab-size: 100}, input-len: 8, output-len: 2, num-prompts: 1}
`

func TestPlanOverNodes(t *testing.T) {
	sc, err := parse.Source("s.yaml", []byte(overNodes), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := []recipe.Node{
		{Name: "n7", Address: "10.0.0.7"},
		{Name: "n8", Address: "10.0.0.8"},
		{Name: "n9", Address: "10.0.0.9"},
	}
	for _, test := range []struct {
		name    string
		machine plan.Machine
		problem string
		meeting string
	}{
		{"in a job", plan.Machine{GPUs: 8, Vendor: "amd", Nodes: nodes, PortOffset: 40}, "", "10.0.0.7:8050"},
		{
			"where the nodes are not known",
			plan.Machine{GPUs: 8, Vendor: "amd"},
			"the server needs 2 nodes, but the job has 1", "NODE1:8010",
		},
	} {
		plan, err := plan.New(sc, test.machine)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan.Problems, "; "); !strings.Contains(got, test.problem) ||
			test.problem == "" && got != "" {
			t.Errorf("%s: problems = %q, want %q", test.name, got, test.problem)
		}
		two, one := plan.Lives[0].Servers[0], plan.Lives[1].Servers[0]
		if len(two.Nodes) != 2 || len(two.Beside) != 2 || len(two.GPUs) != 8 || two.Env["RAY_ADDRESS"] != test.meeting {
			t.Errorf("%s: server over two nodes = %+v, want 8 GPUs of each, meeting at %s", test.name,
				two, test.meeting)
		}
		if line := two.Beside[1].CommandLine(); !strings.Contains(line, "--address="+test.meeting) ||
			!strings.Contains(line, "--num-gpus=8") || strings.Contains(line, "VISIBLE_DEVICES") {
			t.Errorf("%s: command on the other node = %q, want the meeting's address, 8 GPUs and none by number",
				test.name, line)
		}
		if len(one.Nodes)+len(one.Beside) != 0 {
			t.Errorf("%s: server on one node = %+v, want nothing beside it", test.name, one)
		}
		groups := plan.Groups(false)
		if len(groups) != 2 || groups[0].Nodes != 2 || groups[1].Nodes != 0 {
			t.Errorf("%s: Groups() = %+v, want 2 nodes for the first and one for the second", test.name, groups)
		}
	}
}

func TestPlanOverNodesRefuses(t *testing.T) {
	for _, test := range []struct{ set, want string }{
		{"server.args.tp=3", "cannot be spread evenly over 4 nodes"},
		{"server.args.nnodes=2", "nnodes is set by bench: use the key nodes:"},
	} {
		sc, err := parse.Source("s.yaml", []byte(overNodes),
			parse.Options{Set: []string{"server.nodes=4", "server.args.pp=1", test.set}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.New(sc, plan.Machine{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("NewPlan with %s = %v, want %q in it", test.set, err, test.want)
		}
	}
}

// Nodes have their addresses on the interface, or in the network, that the
// scenario names; a node without one is a problem.
func TestPlanOnInterface(t *testing.T) {
	t.Parallel()
	nodes := []recipe.Node{
		{Name: "n7", Address: "10.0.0.7", Interfaces: map[string][]string{
			"eth0": {"10.0.0.7"}, "hsn0": {"fd00::7", "192.168.1.7"},
		}},
		{Name: "n8", Address: "10.0.0.8", Interfaces: map[string][]string{
			"eth0": {"10.0.0.8"},
			"hsn1": {"192.168.1.8"},
		}},
	}
	for _, test := range []struct{ set, address, problem string }{
		{"", "10.0.0.7", ""},
		{"server.interface=eth0", "10.0.0.7", ""},
		{"server.interface=192.168.0.0/16", "192.168.1.7", ""},
		{"server.interface=hsn0", "fd00::7", `interface: node n8 has no address on hsn0: it has eth0, hsn1`},
	} {
		options := parse.Options{Set: []string{"server.args.distributed-executor-backend=mp"}}
		if test.set != "" {
			options.Set = append(options.Set, test.set)
		}
		sc, err := parse.Source("s.yaml", []byte(overNodes), options)
		if err != nil {
			t.Fatal(err)
		}

		made, err := plan.New(sc, plan.Machine{GPUs: 8, Vendor: "amd", Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		server := made.Lives[0].Servers[0]
		if !strings.Contains(server.Beside[0].CommandLine(), "--master-addr "+test.address+" ") ||
			server.Env["VLLM_HOST_IP"] != test.address {
			t.Errorf("%q: server %q beside %q, want the address %s", test.set, server.Env,
				server.Beside[0].CommandLine(),
				test.address)
		}
		if got := strings.Join(made.Problems, "; "); !strings.Contains(got, test.problem) ||
			(got == "") != (test.problem == "") {
			t.Errorf("%q: problems = %q, want %q", test.set, got, test.problem)
		}
	}
}
