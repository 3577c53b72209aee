package engines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/recipe"
)

func twoNodes() recipe.Span {
	return recipe.Span{
		Nodes: []recipe.Node{{Name: "n1", Address: "10.0.0.1"}, {Name: "n2", Address: "10.0.0.2"}},
		Port:  8010, GPUs: 8,
	}
}

// commands are the lines of a server and of what is started before it.
func commands(t *testing.T, kind Kind, spec recipe.Spec) []string {
	t.Helper()
	beside, err := CompanionsOf(kind, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range beside {
		name := c.Name
		if c.Serves != "" {
			name += " (requests: " + c.Serves + ")"
		}
		line := name + ": " + strings.Join(c.Command.Argv, " ")
		if c.Ready != "" {
			line += " # until " + c.Ready
		}
		lines = append(lines, line)
	}
	command, err := kind.Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	return append(lines, strings.Join(command.Argv, " "))
}

func TestCommandsOverNodes(t *testing.T) {
	t.Parallel()
	const srun = "srun --overlap --nodes=1 --ntasks=1 --nodelist=n2 --kill-on-bad-exit=1 --cpu-bind=none " +
		"--export=ALL env BENCH_COOKIE="
	tp := recipe.Arg{Name: "tp", Value: number("16")}
	for _, test := range []struct {
		name string
		kind func() Kind
		spec recipe.Spec
		want []string
	}{
		{"vllm on ray", VllmKind, recipe.Spec{
			Model: "m", Span: twoNodes(),
			Args: []recipe.Arg{tp, {Name: "distributed-executor-backend", Value: "ray"}},
		}, []string{
			"ray on node n1: ray start --head --port=8010 --include-dashboard=false --disable-usage-stats " +
				"--node-ip-address=10.0.0.1 --num-gpus=8 --block # until Ray runtime started",
			"ray on node n2: " + srun +
				"COOKIE ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 --num-gpus=8 --block # until " +
				"Ray runtime started",
			"vllm serve m --host 127.0.0.1 --port 8000 -tp 16 --distributed-executor-backend ray",
		}},
		{
			"vllm on ray, as its own arguments say, from a virtual environment", VllmKind,
			recipe.Spec{Model: "m", Binary: []string{"/venv/bin/vllm"}, Span: recipe.Span{
				Nodes: twoNodes().Nodes,
				Port:  8010, Cookie: "c.1",
			}, Args: []recipe.Arg{{Name: "distributed_executor_backend", Value: "ray"}}},
			[]string{
				"ray on node n1: /venv/bin/ray start --head --port=8010 --include-dashboard=false " +
					"--disable-usage-stats --node-ip-address=10.0.0.1 --block # until Ray runtime started",
				"ray on node n2: " + srun +
					"c.1 /venv/bin/ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 --block # until Ray " +
					"runtime started",
				"/venv/bin/vllm serve m --host 127.0.0.1 --port 8000 --distributed-executor-backend ray",
			},
		},
		{"vllm", VllmKind, recipe.Spec{Model: "m", Span: twoNodes(), Args: []recipe.Arg{tp}}, []string{
			"vllm on node n2: " + srun +
				"COOKIE vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 " +
				"--master-port 8010 --headless --distributed-executor-backend mp -tp 16",
			"vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 " +
				"--master-port 8010 --distributed-executor-backend mp -tp 16",
		}},
		{"vllm alone, as its arguments say", VllmKind, recipe.Spec{
			Model: "m", Span: twoNodes(),
			Args: []recipe.Arg{tp, {Name: "distributed-executor-backend", Value: "mp"}},
		}, []string{
			"vllm on node n2: " + srun +
				"COOKIE vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 " +
				"--master-port 8010 --headless -tp 16 --distributed-executor-backend mp",
			"vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 " +
				"--master-port 8010 -tp 16 --distributed-executor-backend mp",
		}},
		{"vllm, data parallel", VllmKind, recipe.Spec{
			Model: "m", Span: twoNodes(), Args: []recipe.Arg{{Name: "data-parallel-size", Value: number("4")}},
		}, []string{
			"vllm on node n2: " + srun + "COOKIE vllm serve m --host 127.0.0.1 --port 8000 " +
				"--data-parallel-size-local 2 --data-parallel-address 10.0.0.1 --data-parallel-rpc-port 8010 " +
				"--data-parallel-start-rank 2 --headless --data-parallel-size 4",
			"vllm serve m --host 127.0.0.1 --port 8000 --data-parallel-size-local 2 --data-parallel-address 10.0.0.1 " +
				"--data-parallel-rpc-port 8010 --data-parallel-size 4",
		}},
		{"vllm, data parallel, hybrid balancing", VllmKind, recipe.Spec{
			Model: "m", Port: 8000, Span: twoNodes(), Args: []recipe.Arg{
				{Name: "dp", Value: number("4")}, {Name: "data-parallel-hybrid-lb", Value: true},
			},
		}, []string{
			"vllm on node n2 (requests: http://10.0.0.2:8000): " + srun + "COOKIE vllm serve m --host 10.0.0.2 " +
				"--port 8000 --data-parallel-size-local 2 --data-parallel-address 10.0.0.1 --data-parallel-rpc-port " +
				"8010 --data-parallel-start-rank 2 -dp 4 --data-parallel-hybrid-lb",
			"vllm serve m --host 127.0.0.1 --port 8000 --data-parallel-size-local 2 --data-parallel-address 10.0.0.1 " +
				"--data-parallel-rpc-port 8010 --data-parallel-start-rank 0 -dp 4 --data-parallel-hybrid-lb",
		}},
		{"vllm, data parallel, external balancing", VllmKind, recipe.Spec{
			Model: "m", Port: 8000, Span: twoNodes(), Args: []recipe.Arg{
				{Name: "dp", Value: number("2")}, {Name: "data-parallel-external-lb", Value: true},
			},
		}, []string{
			"vllm on node n2 (requests: http://10.0.0.2:8000): " + srun + "COOKIE vllm serve m --host 10.0.0.2 " +
				"--port 8000 --data-parallel-rank 1 --data-parallel-address 10.0.0.1 --data-parallel-rpc-port 8010 " +
				"-dp 2 --data-parallel-external-lb",
			"vllm serve m --host 127.0.0.1 --port 8000 --data-parallel-rank 0 --data-parallel-address 10.0.0.1 " +
				"--data-parallel-rpc-port 8010 -dp 2 --data-parallel-external-lb",
		}},
		{"vllm, data parallel by Ray", VllmKind, recipe.Spec{
			Model: "m", Span: twoNodes(), Args: []recipe.Arg{
				{Name: "dp", Value: number("2")}, {Name: "data-parallel-backend", Value: "ray"},
			},
		}, []string{
			"ray on node n1: ray start --head --port=8010 --include-dashboard=false " +
				"--disable-usage-stats --node-ip-address=10.0.0.1 --num-gpus=8 --block # until Ray runtime started",
			"ray on node n2: " + srun +
				"COOKIE ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 --num-gpus=8 --block # until " +
				"Ray runtime started",
			"vllm serve m --host 127.0.0.1 --port 8000 --data-parallel-size-local 1 -dp 2 --data-parallel-backend ray",
		}},
		{"sglang", SglangKind, recipe.Spec{Model: "m", Span: twoNodes(), Args: []recipe.Arg{tp}}, []string{
			"sglang on node n2: " + srun +
				"COOKIE python3 -m sglang.launch_server --model-path m --host 127.0.0.1 --port 30000 --nnodes 2 " +
				"--node-rank 1 --dist-init-addr 10.0.0.1:8010 --enable-metrics --tp 16",
			"python3 -m sglang.launch_server --model-path m --host 127.0.0.1 --port 30000 --nnodes 2 --node-rank 0 " +
				"--dist-init-addr 10.0.0.1:8010 --enable-metrics --tp 16",
		}},
		{
			"on one node nothing is added", VllmKind,
			recipe.Spec{
				Model: "m", Span: recipe.Span{Nodes: []recipe.Node{{Name: "n1", Address: "10.0.0.1"}}},
				Args: []recipe.Arg{{Name: "nnodes", Value: number("2")}},
			},
			[]string{
				"vllm serve m --host 127.0.0.1 --port 8000 --nnodes 2",
			},
		},
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
	spec := recipe.Spec{
		Model: "m", Span: twoNodes(), GPUs: []int{0, 1}, Vendor: "nvidia", Env: map[string]string{"NCCL_DEBUG": "INFO"},
		Args: []recipe.Arg{{Name: "distributed-executor-backend", Value: "ray"}},
	}
	beside, err := CompanionsOf(VllmKind(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := VllmKind().Command(spec)
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
		got := []string{
			test.env["NCCL_DEBUG"], test.env["VLLM_HOST_IP"], test.env["RAY_ADDRESS"],
			test.env["CUDA_VISIBLE_DEVICES"],
		}
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
		spec recipe.Spec
		want string
	}{
		{
			"a flag of ours", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "nnodes", Value: number("2")}}},
			"nnodes is set by bench: use the key nodes:",
		},
		{
			"its short form", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "-r", Value: number("1")}}},
			"use the key nodes:",
		},
		{
			"headless", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "headless", Value: true}}},
			"use the key nodes:",
		},
		{
			"the address", SglangKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "dist-init-addr", Value: "a:1"}}},
			"use the key nodes:",
		},
		{
			"its old name", SglangKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "nccl-init-addr", Value: "a:1"}}},
			"use the key nodes:",
		},
		{
			"an executor of one box", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "distributed-executor-backend", Value: "uni"}}},
			"use ray or mp",
		},
		{
			"ranks that do not fit", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "dp", Value: number("3")}}},
			"data-parallel-size: its ranks cannot be spread evenly over 2 nodes: use a multiple of 2",
		},
		{
			"ranks of one node by hand", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "dpl", Value: number("2")}}},
			"dpl is set by bench: use the key nodes:",
		},
		{
			"several ranks of a node with external balancing", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{{Name: "dp", Value: number("4")}, {Name: "dpe", Value: true}}},
			"use data-parallel-hybrid-lb, or data-parallel-size: 2",
		},
		{
			"two ways to balance", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{
				{Name: "dp", Value: number("2")},
				{Name: "dpe", Value: true},
				{Name: "data-parallel-hybrid-lb", Value: true},
			}},
			"exclude each other",
		},
		{
			"Ray beside hybrid balancing", VllmKind(),
			recipe.Spec{Args: []recipe.Arg{
				{Name: "dp", Value: number("2")}, {Name: "dph", Value: true}, {Name: "dpb", Value: "ray"},
			}},
			"ray starts the ranks of all nodes by itself",
		},
		{
			"a variable of ours", VllmKind(),
			recipe.Spec{Env: map[string]string{"VLLM_HOST_IP": "1"}},
			"VLLM_HOST_IP is set by bench",
		},
		{"another kind", llamacppKind(), recipe.Spec{}, "use vllm or sglang"},
	} {
		spec := test.spec
		spec.Model, spec.Span = "m", twoNodes()
		_, beside := CompanionsOf(test.kind, spec, nil)
		_, server := test.kind.Command(spec)
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

// A network interface gives NCCL and Gloo theirs, unless the recipe decides; a
// network has no name that they would take.
func TestInterfaceOverNodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, iface string
		env         map[string]string
		nccl, gloo  string
	}{
		{"by name", "hsn0", nil, "hsn0", "hsn0"},
		{"the recipe decides", "hsn0", map[string]string{"NCCL_SOCKET_IFNAME": "ib0"}, "ib0", "hsn0"},
		{"a network", "10.1.0.0/16", nil, "", ""},
		{"none", "", nil, "", ""},
	} {
		for _, kind := range []Kind{VllmKind(), SglangKind()} {
			span := twoNodes()
			span.Interface = test.iface
			command, err := kind.Command(recipe.Spec{Model: "m", Span: span, Env: test.env})
			if err != nil {
				t.Fatal(err)
			}
			nccl, gloo := command.Env["NCCL_SOCKET_IFNAME"], command.Env["GLOO_SOCKET_IFNAME"]
			if nccl != test.nccl || gloo != test.gloo {
				t.Errorf("%s, %s: NCCL %q and Gloo %q, want %q and %q", test.name, kind.Name, nccl, gloo, test.nccl,
					test.gloo)
			}
		}
	}
}
