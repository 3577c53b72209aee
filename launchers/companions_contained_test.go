package launchers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

// Programs of every node run in an image where the server does.
func TestCompanionsInContainers(t *testing.T) {
	t.Parallel()
	const srun = "srun --overlap --nodes=1 --ntasks=1 --nodelist=n2 --kill-on-bad-exit=1 --cpu-bind=none " +
		"--export=ALL env BENCH_COOKIE=run.life.2 "
	span := recipe.Span{
		Nodes: []recipe.Node{{Name: "n1", Address: "10.0.0.1"}, {Name: "n2", Address: "10.0.0.2"}},
		Port:  8010, GPUs: 8, Cookie: "run.life.2",
	}
	ray := []recipe.Arg{{Name: "distributed-executor-backend", Value: "ray"}}
	for _, test := range []struct {
		name   string
		engine string
		args   []recipe.Arg
		want   string // of the last companion
		env    string // a variable that its container gets
	}{
		{
			"apptainer", "apptainer", nil,
			srun + "apptainer run --nv vllm.sif --model m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 " +
				"--master-addr 10.0.0.1 --master-port 8010 --headless --distributed-executor-backend mp",
			"APPTAINERENV_VLLM_HOST_IP",
		},
		{
			"Ray in apptainer", "apptainer", ray,
			srun + "apptainer exec --nv vllm.sif ray start --address=10.0.0.1:8010 --node-ip-address=10.0.0.2 " +
				"--num-gpus=8 --block", "APPTAINERENV_VLLM_HOST_IP",
		},
		{
			"enroot", "enroot", nil,
			srun + "enroot start --env NO_COLOR --env PYTHONUNBUFFERED --env SPT_NOENV --env VLLM_HOST_IP --env " +
				"BENCH_COOKIE -- vllm.sif --model m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 " +
				"--master-addr 10.0.0.1 --master-port 8010 --headless --distributed-executor-backend mp", "VLLM_HOST_IP",
		},
		{
			"docker", "docker", nil,
			srun + "docker run --rm --name bench-run-01-a-n2-0 --label benchrig.run=run " +
				"--label benchrig.cookie=run.life.2 --init --stop-timeout 30 --log-driver json-file " +
				"--log-opt max-size=256m --log-opt max-file=3 --network host --ipc host --gpus all " +
				"-e NO_COLOR=1 -e PYTHONUNBUFFERED=1 -e SPT_NOENV=1 -e VLLM_HOST_IP=10.0.0.2 " +
				"-e BENCH_COOKIE=run.life.2 vllm.sif --model m --host 127.0.0.1 --port 8000 --nnodes 2 --node-rank 1 " +
				"--master-addr 10.0.0.1 --master-port 8010 --headless --distributed-executor-backend mp", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			all, err := Companions(engines.VllmKind(), recipe.Spec{
				Launcher: "vllm", Model: "m", Args: test.args, Span: span, Vendor: "nvidia", GPUs: []int{0, 1},
				Life: "01-a", LogPath: "/run/server-0.log",
				Container: container.Options{Image: "vllm.sif", Engine: test.engine},
			})
			if err != nil {
				t.Fatal(err)
			}
			last := all[len(all)-1]
			if diff := cmp.Diff(test.want, strings.Join(last.Command.Argv, " ")); diff != "" {
				t.Errorf("command of the other node differs (-want +got):\n%s", diff)
			}
			if _, set := last.Command.Env[test.env]; test.env != "" && !set {
				t.Errorf("variables = %v, want %s among them", last.Command.Env, test.env)
			}
		})
	}
}

func TestCompanionsInContainersRefuse(t *testing.T) {
	t.Parallel()
	span := recipe.Span{Nodes: []recipe.Node{{Name: "n1", Address: "a"}, {Name: "n2", Address: "b"}}, Port: 1}
	_, err := Companions(engines.VllmKind(), recipe.Spec{
		Model: "m", Span: span, Container: container.Options{Image: "i", Network: "bridge"},
	})
	if err == nil || !strings.Contains(err.Error(), "network: bridge") {
		t.Errorf("Companions() = %v, want the network refused", err)
	}
}

// A sweep of a node removes containers by their label: their processes may belong
// to another user, and show no mark.
func TestSweepRemovesContainers(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	contain(t, b, "docker", fakecontainer.Config{})
	server := b.launch(t)
	name := server.Info().Container.Name

	cleaner := cleanup.Cleaner{Environ: b.Environ}
	sweep := cleanup.NodeSweep{Node: "n2", Cookie: server.spec.Cookie, Engine: "docker"}
	proof := cleaner.Sweep(t.Context(), sweep)
	if !proof.Clean() || !slices.Equal(proof.Containers, []string{name}) {
		t.Errorf("Sweep() = %+v, want a clean proof and %s removed", proof, name)
	}
	if left := cleaner.Sweep(t.Context(), sweep); !left.Clean() || len(left.Containers) > 0 {
		t.Errorf("a second Sweep() = %+v, want nothing left", left)
	}

	<-server.Done()
	_, _ = server.Stop(t.Context()) // it is gone
	sweep.Engine = "podman"
	cleaner.Environ = []string{"PATH=" + t.TempDir()}
	if proof := cleaner.Sweep(t.Context(), sweep); proof.Clean() || proof.Error == "" {
		t.Errorf("Sweep() without the engine's client = %+v, want an error", proof)
	}
}
