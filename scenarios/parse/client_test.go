package parse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

func TestClient(t *testing.T) {
	const head = "schema: 1\nserver: {launcher: simulator, model: m, host: 0.0.0.0}\n" +
		"load: {dataset: {kind: random}, input-len: 8, output-len: 2, num-prompts: 1}\n"
	sc, err := parse.Source("s.yaml", []byte(head+"client: {hosts: [c1, \"srun:n2\"], reach: box}\n"), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := scenarios.Client{Hosts: []string{"c1", "srun:n2"}, Bench: "bench", Reach: "box"}
	if diff := cmp.Diff(want, sc.Client); diff != "" || !sc.Client.Elsewhere() {
		t.Errorf("client: differs (-want +got):\n%s", diff)
	}
	placed, err := parse.Source(
		"s.yaml",
		[]byte(strings.Replace(head, "model: m", "model: m, cpus: 5, numa: 1, nice: -3", 1)+
			"client: {cpus: \"7, 2-3\", priority: high}\n"),
		parse.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if c, s := placed.Client, placed.Variants[0].Server; c.CPUs != "2-3,7" || c.Priority != scenarios.PriorityHigh ||
		c.Elsewhere() || s.CPUs != "5" || s.NUMA != "1" || s.Nice != -3 {
		t.Errorf("client %+v, server on CPUs %q, node %q, nice %d", c, s.CPUs, s.NUMA, s.Nice)
	}
	for _, test := range []struct{ text, want string }{
		{head + "client: {}\n", "client is empty"},
		{head + "client: {hosts: []}\n", "hosts is an empty list"},
		{head + "client: {hosts: [c1], cpus: auto}\n", "cpus is for a client on this machine"},
		{head + "client: {hosts: [c1], priority: high}\n", "priority is for a client on this machine"},
		{head + "client: {cpus: auto, copy-bench: true}\n", "copy-bench is for a client on other hosts"},
		{head + "client: {cpus: 3-1}\n", "expected CPUs such as 0-3,8"},
		{head + "client: {cpus: [1, 2]}\n", "expected CPUs such as 0-3,8"},
		{head + "client: {cpus: -1}\n", "expected CPUs such as 0-3,8"},
		{head + "client: {cpus: true}\n", "expected CPUs such as 0-3,8"},
		{head + "client: {priority: realtime}\n", "normal"},
		{strings.Replace(head, "model: m", "model: m, cpus: auto", 1), "expected CPUs such as 0-3,8"},
		{strings.Replace(head, "model: m", "model: m, numa: two", 1), "whole number from 0 to 1023"},
		{strings.Replace(head, "model: m", "model: m, nice: 20", 1), "whole number from -20 to 19"},
		{strings.Replace(head, "model: m", "model: m, nice: high", 1), "whole number from -20 to 19"},
		{head + "client: {hosts: [-oProxyCommand=x]}\n", "expected a name that ssh knows"},
		{head + "client: {hosts: [\"srun:n1\"], copy-bench: true}\n", "copy-bench cannot be combined with srun:n1"},
		{
			strings.Replace(head, ", host: 0.0.0.0", "", 1) + "client: {hosts: [c1]}\n",
			`host is "127.0.0.1", which client.hosts cannot reach: set server.host to 0.0.0.0`,
		},
	} {
		if _, err := parse.Source("s.yaml", []byte(test.text), parse.Options{}); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, want %q in it", test.text, err, test.want)
		}
	}
}
