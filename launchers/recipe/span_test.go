package recipe

import (
	"strings"
	"testing"
)

// The choice of GPUs is made on the node, where Slurm has set variables of its own.
func TestRemotelyChoosesGPUsOnTheNode(t *testing.T) {
	t.Parallel()
	span := Span{Nodes: []Node{{Name: "n2", Address: "10.0.0.2"}}, Step: true, Away: true, Cookie: "mark"}
	for vendor, want := range map[string]string{
		"nvidia": "CUDA_VISIBLE_DEVICES=4,5 CUDA_DEVICE_ORDER=PCI_BUS_ID BENCH_COOKIE=mark server",
		"amd":    "--unset=CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES=4,5 BENCH_COOKIE=mark server",
	} {
		command, err := Assemble(Spec{Vendor: vendor, GPUs: []int{4, 5}, Env: map[string]string{"A": "1"}},
			[]string{"server"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		remote := Remotely(span, 0, command)
		line := strings.Join(remote.Argv, " ")
		if !strings.Contains(line, "--nodelist=n2") || !strings.HasSuffix(line, want) {
			t.Errorf("%s: %s, want %q at its end", vendor, line, want)
		}
		for name := range remote.Env {
			if strings.Contains(name, "VISIBLE") {
				t.Errorf("%s: srun has %s in its environment", vendor, name)
			}
		}
		if remote.Env["A"] != "1" || command.Env["A"] != "1" {
			t.Errorf("%s: A is %q for srun, want 1", vendor, remote.Env["A"])
		}
	}
}

func TestReached(t *testing.T) {
	t.Parallel()
	node := Span{Nodes: []Node{{Name: "n2", Address: "10.0.0.2"}}}
	for _, test := range []struct {
		spec Spec
		want string
	}{
		{Spec{Host: "127.0.0.1"}, "127.0.0.1"},
		{Spec{Host: "0.0.0.0"}, "127.0.0.1"},
		{Spec{Host: "0.0.0.0", Span: node}, "10.0.0.2"},
		{Spec{Host: "10.1.0.2", Span: node}, "10.1.0.2"},
	} {
		if got := test.spec.Reached(); got != test.want {
			t.Errorf("Reached() of host %q on nodes %v = %q, want %q", test.spec.Host, test.spec.Span.Names(), got,
				test.want)
		}
	}
}
