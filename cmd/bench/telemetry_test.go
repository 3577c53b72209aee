package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// playedGPUs are fake GPUs whose power and memory follow curves that are known
// exactly.
type playedGPUs struct {
	machine *fakegpu.Machine
	began   time.Time
}

const (
	usualVRAM = int64(171798691840)
	spikeVRAM = int64(180123456789) // for 400 ms of every 2 s
)

// watts is the power of a GPU, joules its energy since the beginning.
func watts(gpu int, s float64) float64 {
	return 400 + 100*float64(gpu) + 200*math.Sin(2*math.Pi*s/6) + 5*s
}

func joules(gpu int, s float64) float64 {
	return (400+100*float64(gpu))*s + 200*6/(2*math.Pi)*(1-math.Cos(2*math.Pi*s/6)) + 2.5*s*s
}

func playGPUs(t *testing.T, n int) *playedGPUs {
	t.Helper()
	machine, err := fakegpu.New(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	played := &playedGPUs{machine: machine, began: time.Now()}
	ctx, cancel := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	for gpu := range n {
		playing.Go(func() {
			err := machine.Play(ctx, gpu, 5*time.Millisecond, func(time.Duration) fakegpu.Values {
				s := time.Since(played.began).Seconds()
				v := fakegpu.Loaded()
				v.PowerW, v.EnergyJ, v.VRAMUsed = watts(gpu, s), 1e6+joules(gpu, s), usualVRAM
				if math.Mod(s, 2) < 0.4 {
					v.VRAMUsed = spikeVRAM
				}
				return v
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		playing.Wait()
		_ = machine.Close()
	})
	return played
}

// energy is the true energy of a GPU during the pass of a step.
func (p *playedGPUs) energy(t *testing.T, gpu int, r *results.Result) float64 {
	t.Helper()
	zero, err := time.Parse(time.RFC3339Nano, r.Client.StartTime)
	if err != nil {
		t.Fatal(err)
	}
	from := zero.Sub(p.began).Seconds()
	return joules(gpu, from+r.Client.DurationS) - joules(gpu, from)
}

// benchIn puts the tests' program into a folder as bench, which starts itself by its
// resolved name.
func benchIn(t *testing.T, dir string) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "bench")
	if err := executable.Write(path, string(program)); err != nil {
		t.Fatal(err)
	}
	return path
}

// runBench runs bench in a process of its own, as the tests' program.
func runBench(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	bench := benchIn(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bench, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "BENCH_STATE_DIR="+filepath.Join(dir, "state"))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

const gpuScenario = `schema: 1
name: gpus
server: {launcher: simulator, port: %d, model: simulated/Llama-3.2-1B-Instruct, args: {sim-load-time: 0s, sim-device: h100}}
variants: [{name: one}]
load:
  dataset: {kind: random}
  input-len: 16
  output-len: 8
  num-prompts: 60
  request-rate: 10
  burstiness: inf
telemetry: {sampler: sysfs, period: %s}
`

// A run beside GPUs whose energy is known: within 1 % at 10 Hz, within 5 % at
// 1 Hz; the peak of memory exact where it lasts longer than a period.
func TestEnergyOfSimulatedGPUs(t *testing.T) {
	for _, tt := range []struct {
		period    string
		tolerance float64
		exact     bool
	}{{"100ms", 0.01, true}, {"1s", 0.05, false}} {
		t.Run(tt.period, func(t *testing.T) {
			t.Parallel()
			gpus := playGPUs(t, 2)
			dir := t.TempDir()
			scenario := filepath.Join(dir, "gpus.yaml")
			if err := os.WriteFile(scenario, fmt.Appendf(nil, gpuScenario, freeport.Take(t, 1), tt.period), 0o644); err != nil {
				t.Fatal(err)
			}
			runBench(t, dir, []string{"BENCH_SYSFS_ROOT=" + gpus.machine.Root(), "BENCH_STATE_DIR=" +
				filepath.Join(dir, "state")}, "run", scenario)
			folders, err := filepath.Glob(filepath.Join(dir, "results", "gpus", "*"))
			if err != nil || len(folders) != 1 {
				t.Fatalf("run folders %v (%v), want one", folders, err)
			}
			run, err := store.Read(folders[0])
			if err != nil {
				t.Fatal(err)
			}
			r := run.Steps[0].Result
			if r.Telemetry == nil || len(r.Telemetry.GPUs) != 2 {
				t.Fatalf("telemetry %+v, want two GPUs", r.Telemetry)
			}
			total := 0.0
			for i, g := range r.Telemetry.GPUs {
				want := gpus.energy(t, i, r)
				total += want
				checkEnergy(t, fmt.Sprintf("GPU %d", i), g.Pass.EnergyJ, want, tt.tolerance)
				checkEnergy(t, fmt.Sprintf("counter of GPU %d", i), g.Pass.CounterJ, want, tt.tolerance)
				if tt.exact && (g.VRAMPeak == nil || *g.VRAMPeak != spikeVRAM) {
					t.Errorf("GPU %d: peak of VRAM %v, want %d", i, g.VRAMPeak, spikeVRAM)
				}
			}
			checkEnergy(t, "sum", r.Telemetry.Sum.Pass.EnergyJ, total, tt.tolerance)
			if t.Failed() {
				t.Fatalf("telemetry notes %q, warnings %v", r.Telemetry.Notes, r.Warnings)
			}
			if share := r.Telemetry.CPUShare; share == nil || *share > 0.2 {
				t.Errorf("sampling took %v of a core, want a small share", share)
			}
			usage, err := os.ReadFile(filepath.Join(folders[0], "steps", r.Step.ID, results.MemoryUsageName))
			if err != nil || !strings.Contains(string(usage), "After Benchmark status:\n") {
				t.Errorf("%s = %q (%v)", results.MemoryUsageName, usage, err)
			}
			t.Logf("%s: energy off by %+.3f %%, sampling took %.2f %% of a core", tt.period,
				100*(*r.Telemetry.Sum.Pass.EnergyJ/total-1), 100**r.Telemetry.CPUShare)
		})
	}
}

func checkEnergy(t *testing.T, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > tolerance*want {
		t.Errorf("energy of %s = %v J, want %.1f J within %.0f %%", what, valueText(got), want, 100*tolerance)
	}
}

func valueText(v *float64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}
