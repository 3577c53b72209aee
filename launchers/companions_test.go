package launchers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// fakeSrun runs the program of a step on this machine.
const fakeSrun = `#!/bin/sh
while :; do
	case "$1" in --*) shift ;; *) break ;; esac
done
exec "$@"
`

// localNodes are other nodes that are this machine.
type localNodes struct {
	fails    error
	cleaner  cleanup.Cleaner
	sweeping func(*cleanup.NodeSweep) // called when a sweep begins; nil: nothing is
}

func (n *localNodes) Sweep(ctx context.Context, sweep cleanup.NodeSweep) (results.NodeProof, error) {
	if n.fails != nil {
		return results.NodeProof{}, n.fails
	}
	if sweep.Node != "n2" {
		return results.NodeProof{}, fmt.Errorf("no node %q", sweep.Node)
	}
	if n.sweeping != nil {
		n.sweeping(&sweep)
	}
	return n.cleaner.Sweep(ctx, sweep), nil
}

// overNodes prepares a server over two nodes, with the test binary in the place
// of all programs.
func overNodes(t *testing.T, kind engines.Kind, faults fakeengine.Span, args ...recipe.Arg) (*bench, *localNodes) {
	t.Helper()
	b := prepare(t, kind, fakeengine.Config{})
	bin := t.TempDir()
	for _, name := range []string{"ray", "vllm", "sglang"} {
		if err := os.Symlink(os.Args[0], filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := executable.Write(filepath.Join(bin, "srun"), fakeSrun); err != nil {
		t.Fatal(err)
	}
	nodes := &localNodes{}
	b.Nodes = nodes
	b.Environ = append(b.Environ, "PATH="+bin+":"+os.Getenv("PATH"))
	delete(b.spec.Env, fakeengine.Variable)
	b.spec.Env[fakeengine.SpanVariable] = faults.Value()
	b.spec.Binary = []string{filepath.Join(bin, kind.Name)}
	if kind.Name == "vllm" && len(args) == 0 { // the way with most programs
		args = []recipe.Arg{{Name: "distributed-executor-backend", Value: "ray"}}
	}
	b.spec.Replica, b.spec.Args, b.spec.StopGrace = 0, args, time.Second
	b.spec.Span = recipe.Span{Nodes: []recipe.Node{
		{Name: "n1", Address: "127.0.0.1"},
		{Name: "n2", Address: "127.0.0.1"},
	}, Port: freeport.Take(t, 1), GPUs: 1}
	return b, nodes
}

func TestServerOverNodes(t *testing.T) {
	t.Parallel()
	mp := recipe.Arg{Name: "distributed-executor-backend", Value: "mp"}
	for _, test := range []struct {
		name   string
		kind   engines.Kind
		args   []recipe.Arg
		faults fakeengine.Span
		lives  int // programs in the journal
		beyond int // processes on the other node
	}{
		{"vllm on ray", engines.VllmKind(), nil, fakeengine.Span{}, 3, 1},
		{"vllm alone", engines.VllmKind(), []recipe.Arg{mp}, fakeengine.Span{}, 2, 0},
		{"sglang", engines.SglangKind(), nil, fakeengine.Span{}, 2, 0},
		{"data parallel", engines.VllmKind(), dataParallel(""), fakeengine.Span{}, 2, 0},
		{
			"a worker that ignores SIGTERM and leaves a child", engines.SglangKind(), nil,
			fakeengine.Span{IgnoreTerm: true, Child: true},
			2, 2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, _ := overNodes(t, test.kind, test.faults, test.args...)
			server := b.launch(t)
			if got := strings.Join(server.Info().Nodes, " "); got != "n1 n2" {
				t.Errorf("Info().Nodes = %q, want n1 n2", got)
			}
			if n := len(cleanup.OpenLives(b.journal.events)); n != test.lives {
				t.Errorf("the journal has %d programs, want %d", n, test.lives)
			}
			select {
			case <-server.Done():
				t.Fatalf("Done() is closed: %v", server.Failure())
			case <-time.After(100 * time.Millisecond):
			}
			proof, err := server.Stop(t.Context())
			if err != nil || !proof.Clean() || len(proof.Nodes) != 1 || proof.Nodes[0].Node != "n2" {
				t.Errorf("Stop() = %+v, %v, want a clean proof of n2", proof, err)
			}
			if n := len(proof.Nodes[0].Ended); n < test.beyond {
				t.Errorf("%d processes were ended on n2, want %d", n, test.beyond)
			}
			if failure := server.Failure(); failure != nil {
				t.Errorf("Failure() after Stop = %v, want none", failure)
			}
			for _, e := range b.journal.events {
				if e.Kind == results.LifeFailed {
					t.Errorf("the journal says that a program failed which was stopped: %+v", e.Failure)
				}
			}
			if open := cleanup.OpenLives(b.journal.events); len(open) != 0 {
				t.Errorf("OpenLives() after Stop = %+v, want none", open)
			}
			if again, err := server.Stop(t.Context()); err != nil || !again.Clean() {
				t.Errorf("second Stop() = %+v, %v, want the same proof", again, err)
			}
		})
	}
}

// A request to kill now while a node is swept ends the wait for its memory.
func TestKillNowReachesNodes(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Minute
	b, nodes := overNodes(t, engines.SglangKind(), fakeengine.Span{})
	nodes.cleaner = cleanup.Cleaner{
		GPUs: fakeMemory{used: func() int64 { return 3 * giga }}, GPUBytes: map[string]int64{"gpu-0": 80 * giga},
		VRAM: vram.Policy{Timeout: limit},
	}
	server := b.launch(t)
	var once sync.Once
	nodes.sweeping = func(sweep *cleanup.NodeSweep) {
		once.Do(func() {
			sweep.Baseline = []results.VRAMProof{{Device: "gpu-0", BaselineBytes: giga}} // never reached
			time.AfterFunc(300*time.Millisecond, b.KillNow)
		})
	}
	began := time.Now()
	proof, err := server.Stop(t.Context())
	if took := time.Since(began); err != nil || !proof.Clean() || took > limit/2 {
		t.Errorf("Stop() = %+v, %v after %v, want the first sweep to give up long before %v", proof, err,
			took, limit)
	}
}

// A worker's end is that of the server, and the failure names its node.
func TestWorkerDies(t *testing.T) {
	t.Parallel()
	for _, kind := range []engines.Kind{engines.VllmKind(), engines.SglangKind()} {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "die")
			b, _ := overNodes(t, kind, fakeengine.Span{DieFile: file})
			server := b.launch(t)
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			select {
			case <-server.Done():
			case <-time.After(patience):
				t.Fatal("Done() is not closed after the worker died")
			}
			failure := server.Failure()
			if failure == nil || failure.Class != results.FailExited || !strings.Contains(failure.Message,
				"on node n2") || !strings.Contains(failure.Message, "signal 9") {
				t.Errorf("Failure() = %v, want an exit by signal 9 on node n2", failure)
			}
			if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
				t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
			}
		})
	}
}

// Whatever keeps a server over nodes from coming up, nothing of it is left and
// the failure says where it was.
func TestNodesDoNotComeUp(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	for _, test := range []struct {
		name   string
		kind   engines.Kind
		faults fakeengine.Span
		change func(*bench, *localNodes)
		class  results.FailureClass
		want   string
	}{
		{
			"ray of a node fails", engines.VllmKind(),
			fakeengine.Span{Fails: true},
			nil, results.FailExited,
			"ray on node n2 exited with code 1",
		},
		{
			"a worker fails", engines.SglangKind(),
			fakeengine.Span{Fails: true},
			nil, results.FailExited,
			"sglang on node n2 exited with code 1",
		},
		{
			"ray of a node does not join", engines.VllmKind(),
			fakeengine.Span{Never: true},
			func(b *bench, _ *localNodes) { b.spec.Ready.Timeout = 15 * time.Second }, // that of n1 has to come up
			results.FailReadyTimeout, "ray on node n2 has not said",
		},
		{"a worker does not join", engines.SglangKind(), fakeengine.Span{Never: true}, func(b *bench, _ *localNodes) {
			b.spec.Ready.Timeout = 2 * time.Second
		}, results.FailReadyTimeout, "no token within"},
		{"no ray", engines.VllmKind(), fakeengine.Span{}, func(b *bench, _ *localNodes) {
			_ = os.Remove(filepath.Join(filepath.Dir(b.spec.Binary[0]), "ray"))
		}, results.FailNotFound, "ray on node n1"},
		{
			"a node that cannot be looked at", engines.VllmKind(),
			fakeengine.Span{},
			func(_ *bench, n *localNodes) { n.fails = lost }, results.FailNode, "node n2 cannot be used: lost",
		},
		{
			"no job", engines.VllmKind(),
			fakeengine.Span{},
			func(b *bench, _ *localNodes) { b.Nodes = nil },
			results.FailBadRecipe, "needs a Slurm job",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, nodes := overNodes(t, test.kind, test.faults)
			if test.change != nil {
				test.change(b, nodes)
			}
			b.refuseAndClose(t, test.class, test.want)
		})
	}
}

// A node of which nothing can be known is as a server that cannot be proven
// gone; what is on this machine is ended all the same.
func TestNodeCannotBeProvenClean(t *testing.T) {
	t.Parallel()
	b, nodes := overNodes(t, engines.VllmKind(), fakeengine.Span{})
	server := b.launch(t)
	nodes.fails = errors.New("no route")
	proof, err := server.Stop(t.Context())
	if failure := asFailure(err); err == nil || failure.Class != results.FailNoProof ||
		!strings.Contains(failure.Message, "node n2 cannot be proven clean: no route") {
		t.Errorf("Stop() = %v, want %s of node n2", err, results.FailNoProof)
	}
	if proof.Clean() || !proof.PIDsGone {
		t.Errorf("Stop() = %+v, want this machine's processes gone and no clean proof", proof)
	}
	nodes.fails = nil
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() with the node back = %+v, %v, want a clean proof", proof, err)
	}
}

func TestSweepMemory(t *testing.T) {
	t.Parallel()
	sweep := cleanup.NodeSweep{Node: "n2", Cookie: "no process has this cookie"}
	memory := fakeMemory{used: func() int64 { return 3 * giga }}
	cleaner := cleanup.Cleaner{
		GPUs: memory, GPUBytes: map[string]int64{"gpu-0": 80 * giga},
		VRAM: vram.Policy{Timeout: time.Millisecond},
	}
	before := cleaner.Sweep(t.Context(), sweep)
	if !before.Clean() || len(before.VRAM) != 1 || before.VRAM[0].BaselineBytes != 3*giga {
		t.Fatalf("Sweep() = %+v, want the baseline", before)
	}
	sweep.Baseline = before.VRAM
	if after := cleaner.Sweep(t.Context(), sweep); !after.Clean() || len(after.VRAM) != 1 {
		t.Errorf("Sweep() = %+v, want memory back", after)
	}
	sweep.Baseline[0].BaselineBytes = giga
	if after := cleaner.Sweep(t.Context(), sweep); after.Clean() || !after.PIDsGone || after.Error == "" {
		t.Errorf("Sweep() of memory that is held = %+v, want an error", after)
	}
}

func dataParallel(balancing string) []recipe.Arg {
	args := []recipe.Arg{{Name: "data-parallel-size", Value: json.Number("2")}}
	if balancing != "" {
		args = append(args, recipe.Arg{Name: balancing, Value: true})
	}
	return args
}

// With hybrid or external balancing every node takes requests: all must give a
// token, and their counters are added up.
func TestEveryNodeTakesRequests(t *testing.T) {
	t.Parallel()
	for _, balancing := range []string{"data-parallel-hybrid-lb", "data-parallel-external-lb"} {
		t.Run(balancing, func(t *testing.T) {
			t.Parallel()
			b, _ := overNodes(t, engines.VllmKind(), fakeengine.Span{}, dataParallel(balancing)...)
			b.spec.Span.Nodes[1].Address = "127.0.0.2"
			server := b.launch(t)
			want := fmt.Sprintf("http://127.0.0.2:%d", b.spec.Port)
			if got := server.URLs(); len(got) != 2 || got[1] != want {
				t.Fatalf("URLs() = %q, want %s behind its own", got, want)
			}

			one, err := server.Endpoint.Counters(t.Context())
			both, errBoth := server.Counters(t.Context())
			if err != nil || errBoth != nil || len(one) == 0 {
				t.Fatalf("Counters() = %v, %v and %v, %v", one, err, both, errBoth)
			}
			for name, value := range one {
				if value > 0 && both[name] <= value {
					t.Errorf("%s = %v over both nodes, %v on the first: want more", name, both[name], value)
				}
			}

			phases := server.Info().ReadyPhases
			if last := phases[len(phases)-1].Name; last != "token of node n2" {
				t.Errorf("the last phase is %q, want the token of the other node", last)
			}
			if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
				t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
			}
		})
	}
}
