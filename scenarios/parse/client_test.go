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
	for _, test := range []struct{ text, want string }{
		{head + "client: {}\n", "hosts"},
		{head + "client: {hosts: []}\n", "hosts is an empty list"},
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
