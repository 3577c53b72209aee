package launchers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/container"
)

func twoNodes() Span {
	return Span{Nodes: []Node{{"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}}, Port: 8010, GPUs: 8}
}

// commands are the lines of a server and of what is started before it.
func commands(t *testing.T, kind Kind, spec Spec) []string {
	t.Helper()
	beside, err := CompanionsOf(kind, spec)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range beside {
		line := c.Name + ": " + strings.Join(c.Command.Argv, " ")
		if c.Ready != "" {
			line += " # until " + c.Ready
		}
		lines = append(lines, line)
	}
	command, err := Plan(kind, spec)
	if err != nil {
		t.Fatal(err)
	}
	return append(lines, strings.Join(command.Argv, " "))
}

func TestCommandsOverNodes(t *testing.T) {
	t.Parallel()
	const srun = "srun --overlap --nodes=1 --ntasks=1 --nodelist=n2 --kill-on-bad-exit=1 --cpu-bind=none --export=ALL env BENCH_COOKIE="
	tp := Arg{"tp", number("16")}
	for _, test := range []struct {
		name string
		kind func() Kind
		spec Spec
		want []string
	}{
		{"vllm on ray", vllmKind, Spec{Model: "m", Span: twoNodes(), Args: []Arg{tp}}, []string{
			"ray on node n1: ray start --head --port=8010 --include-dashboard=false --disable-usage-stats --node-ip-address=10.0.0.1 --num-gpus=8 --block # until Ray runtime started",
			"ray on node n2: " + srun + "COOKIE ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 --num-gpus=8 --block # until Ray runtime started",
			"vllm serve m --host 127.0.0.1 --port 8000 --distributed-executor-backend ray -tp 16",
		}},
		{
			"vllm on ray, as its own arguments say, from a virtual environment", vllmKind,
			Spec{Model: "m", Binary: []string{"/venv/bin/vllm"}, Span: Span{Nodes: twoNodes().Nodes, Port: 8010, Cookie: "c.1"}, Args: []Arg{{"distributed_executor_backend", "ray"}}},
			[]string{
				"ray on node n1: /venv/bin/ray start --head --port=8010 --include-dashboard=false --disable-usage-stats --node-ip-address=10.0.0.1 --block # until Ray runtime started",
				"ray on node n2: " + srun + "c.1 /venv/bin/ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 --block # until Ray runtime started",
				"/venv/bin/vllm serve m --host 127.0.0.1 --port 8000 --distributed-executor-backend ray",
			},
		},
		{"vllm alone", vllmKind, Spec{Model: "m", Span: twoNodes(), Args: []Arg{tp, {"distributed-executor-backend", "mp"}}}, []string{
			"vllm on node n2: " + srun + "COOKIE vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 --master-port 8010 --headless -tp 16 --distributed-executor-backend mp",
			"vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 --master-port 8010 -tp 16 --distributed-executor-backend mp",
		}},
		{"sglang", sglangKind, Spec{Model: "m", Span: twoNodes(), Args: []Arg{tp}}, []string{
			"sglang on node n2: " + srun + "COOKIE python3 -m sglang.launch_server --model-path m --host 127.0.0.1 --port 30000 --nnodes 2 --node-rank 1 --dist-init-addr 10.0.0.1:8010 --enable-metrics --tp 16",
			"python3 -m sglang.launch_server --model-path m --host 127.0.0.1 --port 30000 --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:8010 --enable-metrics --tp 16",
		}},
		{"on one node nothing is added", vllmKind, Spec{Model: "m", Span: Span{Nodes: []Node{{"n1", "10.0.0.1"}}}, Args: []Arg{{"nnodes", number("2")}}}, []string{
			"vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, commands(t, test.kind(), test.spec)); diff != "" {
				t.Errorf("commands differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Variables go to all nodes, but for those that differ between them: the GPUs
// of other nodes are named there.
func TestVariablesOverNodes(t *testing.T) {
	t.Parallel()
	spec := Spec{Model: "m", Span: twoNodes(), GPUs: []int{0, 1}, Vendor: "nvidia", Env: map[string]string{"NCCL_DEBUG": "INFO"}}
	beside, err := CompanionsOf(vllmKind(), spec)
	if err != nil {
		t.Fatal(err)
	}
	head, err := Plan(vllmKind(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what             string
		env              map[string]string
		ip, ray, visible string
	}{
		{"server", head.Env, "10.0.0.1", "10.0.0.1:8010", "0,1"},
		{"ray of the first node", beside[0].Command.Env, "10.0.0.1", "", "0,1"},
		{"ray of the second", beside[1].Command.Env, "10.0.0.2", "", ""},
	} {
		want := []string{"INFO", test.ip, test.ray, test.visible}
		got := []string{test.env["NCCL_DEBUG"], test.env["VLLM_HOST_IP"], test.env["RAY_ADDRESS"], test.env["CUDA_VISIBLE_DEVICES"]}
		if !cmp.Equal(got, want) {
			t.Errorf("%s: variables = %q, want %q", test.what, got, want)
		}
	}
}

func TestOverNodesRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		kind Kind
		spec Spec
		want string
	}{
		{"a flag of ours", vllmKind(), Spec{Args: []Arg{{"nnodes", number("2")}}}, "nnodes is set by bench: use the key nodes:"},
		{"its short form", vllmKind(), Spec{Args: []Arg{{"-r", number("1")}}}, "use the key nodes:"},
		{"headless", vllmKind(), Spec{Args: []Arg{{"headless", true}}}, "use the key nodes:"},
		{"the address", sglangKind(), Spec{Args: []Arg{{"dist-init-addr", "a:1"}}}, "use the key nodes:"},
		{"its old name", sglangKind(), Spec{Args: []Arg{{"nccl-init-addr", "a:1"}}}, "use the key nodes:"},
		{"an executor of one box", vllmKind(), Spec{Args: []Arg{{"distributed-executor-backend", "uni"}}}, "use ray or mp"},
		{"data parallel", vllmKind(), Spec{Args: []Arg{{"dp", number("2")}}}, "data-parallel-size"},
		{"a variable of ours", vllmKind(), Spec{Env: map[string]string{"VLLM_HOST_IP": "1"}}, "VLLM_HOST_IP is set by bench"},
		{"another kind", llamacppKind(), Spec{}, "use vllm or sglang"},
		{"a container", vllmKind(), Spec{Container: container.Options{Image: "i", Engine: "docker"}}, "without a container"},
	} {
		spec := test.spec
		spec.Model, spec.Span = "m", twoNodes()
		_, beside := CompanionsOf(test.kind, spec)
		_, server := Plan(test.kind, spec)
		if text := errText(beside) + errText(server); !strings.Contains(text, test.want) {
			t.Errorf("%s: errors = %q, want one with %q", test.name, text, test.want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "; "
}
