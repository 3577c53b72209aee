package launchers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// away prepares a component on another node of the job, which is reached at another
// address.
func away(t *testing.T, faults fakeengine.Span) (*bench, *localNodes) {
	t.Helper()
	nixl := recipe.Arg{Name: "kv-transfer-config", Value: map[string]any{"kv_connector": "NixlConnector"}}
	b, nodes := overNodes(t, engines.VllmKind(), faults, nixl)
	b.spec.Span = recipe.Span{Nodes: []recipe.Node{{Name: "n2", Address: "127.0.0.2"}}, Step: true, Away: true}
	b.spec.Host, b.spec.Component, b.spec.Inner, b.spec.SideChannel = "127.0.0.2", "decode", true, freeport.Take(t, 1)
	return b, nodes
}

// A component on another node is a job step: it is reached there, and stopped and
// proven gone there.
func TestComponentOnAnotherNode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		faults fakeengine.Span
		ended  int // processes that the node had to end
	}{
		{"that ends when asked", fakeengine.Span{}, 1},
		{"that ignores SIGTERM and leaves a child", fakeengine.Span{IgnoreTerm: true, Child: true}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, nodes := away(t, test.faults)
			var sweeps []cleanup.NodeSweep
			nodes.sweeping = func(s *cleanup.NodeSweep) {
				sweeps = append(sweeps, *s)
				nodes.cleaner.Grace = s.Grace
			}
			server := b.launch(t)
			info := server.Info()
			if info.Node != "n2" || info.Nodes != nil || !strings.HasPrefix(info.BaseURL, "http://127.0.0.2:") {
				t.Errorf("Info() = node %q, nodes %q, %s, want n2 alone at its address", info.Node, info.Nodes,
					info.BaseURL)
			}
			if failure := server.Intruder(t.Context()); failure != nil {
				t.Errorf("Intruder() = %v, want none: listeners of another node cannot be seen", failure)
			}

			proof, err := server.Stop(t.Context())
			if err != nil || !proof.Clean() || len(proof.Nodes) != 1 || proof.Nodes[0].Node != "n2" {
				t.Fatalf("Stop() = %+v, %v, want a clean proof of n2", proof, err)
			}
			if n := len(proof.Nodes[0].Ended); n < test.ended {
				t.Errorf("%d processes were ended on n2, want %d", n, test.ended)
			}
			if len(sweeps) != 2 || sweeps[1].Grace != b.spec.StopGrace {
				t.Errorf("sweeps = %+v, want a baseline, and a stop with the grace of the server", sweeps)
			}
			if open := cleanup.OpenLives(b.journal.events); len(open) != 0 {
				t.Errorf("OpenLives() after Stop = %+v, want none", open)
			}
		})
	}
}

// The end of a component on another node names both, and so does what keeps it from
// coming up; nothing of it is left.
func TestComponentOnAnotherNodeFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "die")
	b, _ := away(t, fakeengine.Span{DieFile: file})
	server := b.launch(t)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-server.Done():
	case <-time.After(patience):
		t.Fatal("Done() is not closed after the component died")
	}
	if failure := server.Failure(); failure == nil || failure.Class != results.FailExited ||
		!strings.HasPrefix(failure.Message, "component decode on node n2: server was killed by signal 9") {
		t.Errorf("Failure() = %v, want the end of decode on node n2", failure)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}

	for _, test := range []struct {
		name   string
		faults fakeengine.Span
		change func(*bench, *localNodes)
		class  results.FailureClass
		want   string
	}{
		{"fails", fakeengine.Span{Fails: true}, nil, results.FailExited, "on node n2: server exited with code 1"},
		{"never listens", fakeengine.Span{Never: true}, func(b *bench, _ *localNodes) {
			b.spec.Ready.Timeout, b.spec.Ready.Stall = 2*time.Second, time.Second // silence there means nothing
		}, results.FailReadyTimeout, "on node n2: no token within"},
		{"lost", fakeengine.Span{}, func(_ *bench, n *localNodes) {
			n.fails = errors.New("lost")
		}, results.FailNode, "node n2 cannot be used: lost"},
		{"no job", fakeengine.Span{}, func(b *bench, _ *localNodes) {
			b.Nodes = nil
		}, results.FailBadRecipe, "needs a Slurm job"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, nodes := away(t, test.faults)
			if test.change != nil {
				test.change(b, nodes)
			}
			b.refuseAndClose(t, test.class, test.want)
		})
	}
}

// A server in an image of pyxis is a job step also on this node: srun enters the
// image, and the server's processes are known by their mark.
func TestServerInPyxis(t *testing.T) {
	t.Parallel()
	b, _ := away(t, fakeengine.Span{Child: true})
	b.spec.Span.Away = false
	b.spec.Container = container.Options{
		Engine: "pyxis", Image: "registry.example.org#vllm:1", Mounts: []string{"/a:/b:ro"},
	}
	server := b.launch(t)
	info := server.Info()
	line := strings.Join(info.Argv, " ")
	for _, want := range []string{
		"--container-image=registry.example.org#vllm:1 --no-container-entrypoint --container-mounts=/a:/b:ro",
		"VLLM_NIXL_SIDE_CHANNEL_PORT", "env BENCH_COOKIE=",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("argv = %s, want %q in it", line, want)
		}
	}
	if info.Node != "" {
		t.Errorf("Info().Node = %q, want none: it is this one", info.Node)
	}
	if n := len(server.OwnPIDs()); n < 2 {
		t.Errorf("%d processes are known to be the server's, want the engine and its child", n)
	}

	proof, err := server.Stop(t.Context())
	if err != nil || !proof.Clean() || len(proof.Nodes) != 1 || len(proof.Nodes[0].Ended) < 2 {
		t.Errorf("Stop() = %+v, %v, want a clean proof of the engine and its child", proof, err)
	}
}
