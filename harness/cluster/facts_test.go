package cluster

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestAddInterfaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, out, want string
	}{
		{
			"both nodes, after a note of the site",
			"module loaded\n" + `{"node":"n2","interfaces":{"hsn0":["10.1.0.2"]},"gpus":[4,5]}` + "\n" +
				`{"node":"n1","interfaces":{"hsn0":["10.1.0.1"]}}` + "\n", "",
		},
		{"one of them", `{"node":"n1","interfaces":{"hsn0":["10.1.0.1"]}}` + "\n", "node n2 did not answer"},
		{"nothing", "", "node n1 did not answer"},
	} {
		nodes := []recipe.Node{{Name: "n1", Address: "a"}, {Name: "n2", Address: "b"}}
		err := addFacts(nodes, test.out)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: addFacts() = %v, want %q in it", test.name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if node, err := nodes[1].On("hsn0"); err != nil || node.Address != "10.1.0.2" {
			t.Errorf("%s: node n2 on hsn0 = %+v, %v, want 10.1.0.2", test.name, node, err)
		}
		if len(nodes[1].GPUs) != 2 || nodes[0].GPUs != nil {
			t.Errorf("%s: GPUs are %v and %v, want none known and [4 5]", test.name, nodes[0].GPUs, nodes[1].GPUs)
		}
	}
}

func TestInterfacesHere(t *testing.T) {
	t.Parallel()
	found, err := interfacesHere("n1")
	if err != nil || found.Node != "n1" {
		t.Fatalf("interfacesHere() = %+v, %v", found, err)
	}
	node, err := recipe.Node{Name: "n1", Interfaces: found.Interfaces}.On("127.0.0.0/8")
	if err != nil || node.Address != "127.0.0.1" {
		t.Errorf("the loopback address = %+v, %v, want 127.0.0.1 among %v", node, err, found.Interfaces)
	}
}
