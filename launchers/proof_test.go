package launchers

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

const giga = 1 << 30

// fakeMemory is the memory of one GPU that nobody is seen to hold.
type fakeMemory struct{ used func() int64 }

func (m fakeMemory) Used(context.Context) (map[string]int64, error) {
	return map[string]int64{"gpu-0": m.used()}, nil
}

func (m fakeMemory) Holders(context.Context) ([]results.GPUHolder, error) { return nil, nil }

// engineMemory is GPU memory that is taken while a server is there, and comes
// back some time later or never.
type engineMemory struct {
	server atomic.Pointer[Server]
	delay  time.Duration // negative: never
	gone   atomic.Int64  // when the server was first seen gone, nanoseconds
	held   []results.GPUHolder
}

func (m *engineMemory) Used(context.Context) (map[string]int64, error) {
	server := m.server.Load()
	switch {
	case server == nil:
		return map[string]int64{"gpu-0": giga, "gpu-1": 0}, nil
	case len(server.OwnPIDs()) > 0:
		return map[string]int64{"gpu-0": 50 * giga, "gpu-1": 0}, nil
	}
	m.gone.CompareAndSwap(0, time.Now().UnixNano())
	if m.delay < 0 || time.Since(time.Unix(0, m.gone.Load())) < m.delay {
		return map[string]int64{"gpu-0": 50 * giga, "gpu-1": 0}, nil
	}
	return map[string]int64{"gpu-0": giga, "gpu-1": 0}, nil
}

func (m *engineMemory) Holders(context.Context) ([]results.GPUHolder, error) { return m.held, nil }

func TestStopProvesMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		delay time.Duration
		clean bool
	}{{"at once", 0, true}, {"later", 1500 * time.Millisecond, true}, {"never", -1, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), fakeengine.Config{})
			memory := &engineMemory{delay: c.delay}
			b.GPUs, b.spec.Devices, b.spec.VRAM.Timeout = memory, []string{"gpu-0"}, 4*time.Second
			server := b.launch(t)
			memory.server.Store(server)
			before := b.journal.last(results.LifeStarting).Process
			if len(before.VRAM) != 1 || before.VRAM[0].Device != "gpu-0" || before.VRAM[0].BaselineBytes != giga {
				t.Errorf("journal before the spawn has memory %+v, want gpu-0 with 1 GiB", before.VRAM)
			}
			proof, err := server.Stop(t.Context())
			if proof.Clean() != c.clean || (err == nil) != c.clean || !proof.PIDsGone || len(proof.VRAM) != 1 {
				t.Fatalf("Stop() = %+v, %v, want clean %v", proof, err, c.clean)
			}
			if told := b.journal.last(results.LifeStopped); told.Proof.Clean() != c.clean {
				t.Errorf("journal has proof %+v, want clean %v", told.Proof, c.clean)
			}
			if c.clean {
				if proof.VRAM[0].TookS < c.delay.Seconds() || proof.StopS < proof.VRAM[0].TookS {
					t.Errorf("Stop() = %+v, want memory back after %v", proof, c.delay)
				}
				return
			}
			if failure := asFailure(err); failure.Class != results.FailNoProof ||
				!strings.Contains(failure.Message, "50.0 GiB") {
				t.Errorf("Stop() = %v, want class %s with the figures", err, results.FailNoProof)
			}
			// A second look may find it back.
			memory.delay = 0
			if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
				t.Errorf("Stop() again = %+v, %v, want a clean proof", proof, err)
			}
		})
	}
}

func TestLaunchRefusesBesideOthers(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	b.GPUs = &engineMemory{held: []results.GPUHolder{{
		PID: os.Getpid(), Device: "gpu-0", Bytes: new(int64(30 * giga)),
		Name: "python",
	}}}
	b.spec.Devices, b.spec.VRAM.Foreign = []string{"gpu-0"}, "refuse"
	failure := b.refuse(t, results.FailForeignGPU)
	if want := fmt.Sprintf("pid %d (python) holds 30.0 GiB of GPU gpu-0",
		os.Getpid()); !strings.Contains(failure.Message, want) {
		t.Errorf("failure = %q, want %q", failure.Message, want)
	}
	b.story(t, "")
	b.spec.VRAM.Foreign = "report"
	server := b.launch(t)
	if told := b.journal.last(results.LifeStarting).Message; !strings.Contains(told, "30.0 GiB") {
		t.Errorf("journal says %q, want who else is there", told)
	}
	if _, err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() beside others = %v", err)
	}
}

func TestServerTellsOfItsSurroundings(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Children: []fakeengine.Child{{Session: true}}})
	b.Environ = append(b.Environ, "VLLM_ATTENTION_BACKEND=x", "RANK=3")
	server := b.launch(t)
	if got := server.Info().DroppedEnv; !slices.Contains(got, "RANK") || !slices.Contains(got,
		"VLLM_ATTENTION_BACKEND") {
		t.Errorf("dropped = %v, want RANK and VLLM_ATTENTION_BACKEND among them", got)
	}
	before, after := b.journal.last(results.LifeStarting), b.journal.last(results.LifeSpawned)
	if before.Process.BootID == "" {
		t.Errorf("journal before the spawn = %+v, want the boot", before.Process)
	}
	switch {
	case after.Process.Cgroup == "" && !strings.Contains(after.Message, "without a control group"):
		t.Errorf("journal after the spawn = %+v, want a control group or why there is none", after)
	case after.Process.Cgroup != before.Process.Cgroup && after.Process.Cgroup != "":
		t.Errorf("control group %q, planned was %q", after.Process.Cgroup, before.Process.Cgroup)
	}
	if pids := server.OwnPIDs(); len(pids) != 2 || !slices.Contains(pids, server.Info().PID) {
		t.Errorf("OwnPIDs() = %v, want the engine and its child", pids)
	}
	if _, err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	if pids := server.OwnPIDs(); len(pids) != 0 {
		t.Errorf("OwnPIDs() after Stop = %v, want none", pids)
	}
}

// A holder of GPU memory that carries the server's cookie is ended though all
// processes seemed to be gone; one that only looks alike is not.
func TestEndStray(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	server := b.launch(t)
	if ours, err := server.endStray(server.Info().PID); !ours || err != nil {
		t.Errorf("endStray(our engine) = %v, %v, want true", ours, err)
	}
	for _, pid := range []int{os.Getpid(), 1, 1 << 22} {
		if ours, err := server.endStray(pid); ours || err != nil {
			t.Errorf("endStray(%d) = %v, %v, want false and no signal", pid, ours, err)
		}
	}
	if _, err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
}

// What a server leaves in shared memory is removed; what a stranger made there
// meanwhile is not, not even where nobody uses it just now.
func TestStopRemovesTheServersSharedMemory(t *testing.T) {
	t.Parallel()
	if err := proc.System.Complete(); err != nil {
		t.Skip(err)
	}
	ours, theirs := "psm_bench_test_"+rand.Text(), "sem.mp-bench_test_"+rand.Text()
	b := prepare(t, vllm(t), fakeengine.Config{ShmFile: ours})
	server := b.launch(t)
	stranger := filepath.Join("/dev/shm", theirs)
	if err := os.WriteFile(stranger, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(stranger); _ = os.Remove(filepath.Join("/dev/shm", ours)) })

	grown := b.journal.last(results.LifeGrown).Process
	if grown == nil || len(grown.ShmFiles) != 1 {
		t.Errorf("journal notes %+v, want the server's file in shared memory", grown)
	}
	proof, err := server.Stop(t.Context())
	if err != nil || !slices.Equal(proof.ShmRemoved, []string{ours}) || proof.ShmLeft != nil {
		t.Errorf("Stop() = %+v, %v, want %s removed", proof, err, ours)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Errorf("the stranger's file is gone: %v", err)
	}
}
