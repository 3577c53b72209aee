package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/scenarios"
)

// placed is a machine of eight cores, four on each of two nodes, with a GPU on each
// node and one of which nothing is known.
func placed(t *testing.T) Machine {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"sys/devices/system/node/node0/cpulist":      "0-3",
		"sys/devices/system/node/node1/cpulist":      "4-7",
		"sys/bus/pci/devices/0000:01:00.0/numa_node": "0",
		"sys/bus/pci/devices/0000:02:00.0/numa_node": "1",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	topology := cpus.Read(root, cpus.Set{0, 1, 2, 3, 4, 5, 6, 7}, 0)
	return Machine{Self: "/bench", CPUs: &topology, Devices: []device.Device{
		{Index: 0, PCI: "0000:01:00.0"}, {Index: 1, PCI: "0000:02:00.0"}, {Index: 2},
	}}
}

// TestWhoRunsWhere: client and servers are kept apart, servers are bound to the
// node of their GPUs, and what a machine lacks for that is a problem of the plan.
func TestWhoRunsWhere(t *testing.T) {
	for _, c := range []struct {
		name            string
		client          scenarios.Client
		server          scenarios.Server
		gpus            []int
		clientCPUs, why string
		serverCPUs      string
		node            int // -1: none
		problem         string
	}{
		{"nothing asked for", scenarios.Client{}, scenarios.Server{}, nil, "", "", "", -1, ""},
		{"auto", scenarios.Client{CPUs: "auto"}, scenarios.Server{}, nil, "7", "1 of 8 cores", "0-6", -1, ""},
		{
			"servers with CPUs of their own",
			scenarios.Client{CPUs: "auto"},
			scenarios.Server{CPUs: "6-7"},
			nil, "5",
			"1 of 8 cores", "6-7", -1, "",
		},
		{"a list", scenarios.Client{CPUs: "2-3"}, scenarios.Server{}, nil, "2-3", "as the scenario says", "", -1, ""},
		{
			"elsewhere",
			scenarios.Client{CPUs: "auto", Hosts: []string{"c1"}},
			scenarios.Server{},
			nil, "",
			"", "", -1, "",
		},
		{"the node of a GPU", scenarios.Client{}, scenarios.Server{NUMA: "auto"}, []int{1}, "", "", "4-7", 1, ""},
		{
			"beside a client",
			scenarios.Client{CPUs: "auto"},
			scenarios.Server{NUMA: "auto"},
			[]int{1},
			"7", "1 of 8",
			"4-6", 1, "",
		},
		{"a node by number", scenarios.Client{}, scenarios.Server{NUMA: "0"}, nil, "", "", "0-3", 0, ""},
		{
			"no such node",
			scenarios.Client{},
			scenarios.Server{NUMA: "5"},
			nil, "", "", "", -1,
			"this machine has no node 5",
		},
		{
			"GPUs of two nodes",
			scenarios.Client{},
			scenarios.Server{NUMA: "auto"},
			[]int{0, 1},
			"", "", "", -1,
			"on several NUMA nodes",
		},
		{
			"a GPU of no node",
			scenarios.Client{},
			scenarios.Server{NUMA: "auto"},
			[]int{2},
			"", "", "", -1,
			"is not known",
		},
		{
			"CPUs of another node",
			scenarios.Client{},
			scenarios.Server{NUMA: "1", CPUs: "0-1"},
			nil, "", "", "", 1,
			"none of the CPUs that the server may use is on node 1, which has 4-7",
		},
	} {
		sc := &scenarios.Scenario{Client: c.client, Variants: []scenarios.Variant{{Server: c.server}}}
		machine := placed(t)
		client, why := ClientPlace(sc, machine)
		server, problem := serverPlace(sc, c.server, machine, c.gpus)
		node := -1
		if server.Node != nil {
			node = *server.Node
		}
		if client.CPUs.String() != c.clientCPUs || !strings.Contains(why, c.why) ||
			server.CPUs.String() != c.serverCPUs ||
			node != c.node || !strings.Contains(problem, c.problem) ||
			(problem == "") != (c.problem == "") {
			t.Errorf(
				"%s: client on %q (%s), server on %q, node %d, %q",
				c.name,
				client.CPUs,
				why,
				server.CPUs,
				node,
				problem,
			)
		}
	}

	sc := &scenarios.Scenario{Client: scenarios.Client{CPUs: "auto", Priority: scenarios.PriorityHigh}}
	if got, want := clientNote(sc, placed(t)), "CPUs 7: 1 of 8 cores, with no interrupts of devices and no server on "+
		"them; nice -15, where that is permitted"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
	if got := clientNote(sc, Machine{}); !strings.HasPrefix(got, "no cores of its own: ") {
		t.Errorf("of an unknown machine: %q", got)
	}
}
