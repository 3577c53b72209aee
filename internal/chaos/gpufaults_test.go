package chaos

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/results"
)

const (
	modelBytes    = int64(100 << 30) // that a server holds
	strangerBytes = int64(20 << 30)
)

// gpus gives the world a machine with one GPU. Each of its servers takes
// memory when it runs, which is free so long after its processes have ended;
// lost: never.
func (w *world) gpus(freeAfter time.Duration) *fakegpu.Machine {
	w.t.Helper()
	machine, err := fakegpu.New(w.path("machine"), 2)
	if err == nil { // the other GPU is a stranger's
		err = machine.HoldVRAM(w.strangerPID, 1, strangerBytes)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = machine.Close() })
	w.setenv("BENCH_SYSFS_ROOT", machine.Root())
	w.beside(func(ctx context.Context) { w.playMemory(ctx, machine, freeAfter) })
	return machine
}

const lost = time.Duration(-1)

// playMemory has the engines of this world hold memory, until ctx is done.
func (w *world) playMemory(ctx context.Context, machine *fakegpu.Machine, freeAfter time.Duration) {
	holders := map[int]time.Time{} // zero: it lives; else when it ended
	for seen := int64(-1); pause(ctx, poll); {
		if now := w.journalSize(); now != seen {
			seen = now
			for _, e := range w.events() {
				if _, known := holders[pidOf(e)]; e.Kind == results.LifeSpawned && !known {
					holders[pidOf(e)] = time.Time{}
					w.hold(machine, pidOf(e), modelBytes)
				}
			}
		}
		for pid, end := range holders {
			switch {
			case end.IsZero() && ended(pid):
				holders[pid] = time.Now()
			case !end.IsZero() && freeAfter == lost:
				w.lose(machine, pid)
			case !end.IsZero() && time.Since(end) >= freeAfter:
				w.hold(machine, pid, 0)
			}
		}
	}
}

func pidOf(e results.Event) int {
	if e.Process == nil {
		return 0
	}
	return e.Process.PID
}

func (w *world) hold(machine *fakegpu.Machine, pid int, bytes int64) {
	if err := machine.HoldVRAM(pid, 0, bytes); err != nil {
		w.t.Error(err)
	}
}

// lose makes memory of an ended process nobody's.
func (w *world) lose(machine *fakegpu.Machine, pid int) {
	values := machine.Values(0)
	values.VRAMUsed = fakegpu.Idle().VRAMUsed + modelBytes
	if err := machine.Set(0, values); err != nil {
		w.t.Error(err)
	}
	w.hold(machine, pid, 0)
}

// gpuStranger is a process outside of the run that holds memory of the GPU.
func (w *world) gpuStranger(machine *fakegpu.Machine) *exec.Cmd {
	cmd := w.bystander("the stranger on the GPU", []string{"fake-engine-child", `{}`})
	w.hold(machine, cmd.Process.Pid, strangerBytes)
	return cmd
}

// onGPU are the keys of a scenario whose servers use the GPU.
func onGPU(vram block) block {
	return block{"server": block{"gpus": 1}, "vram": lay(block{"timeout": "30s"}, vram)}
}

func gpuFaults() []fault {
	return append(memoryFaults(), disturbances()...)
}

// memoryFaults are about memory that is not there, or does not come back.
func memoryFaults() []fault {
	steady := func(*fakegpu.Machine, *world) {}
	with := func(freeAfter time.Duration, more func(*fakegpu.Machine, *world)) func(*world) {
		return func(w *world) { more(w.gpus(freeAfter), w) }
	}
	stranger := with(0, func(machine *fakegpu.Machine, w *world) { w.gpuStranger(machine) })
	return []fault{
		{
			stage: stop, kind: "leak", name: "VRAM is never freed", prepare: with(lost, steady),
			scenario: onGPU(block{"timeout": "2s"}),
			good:     notRun, why: results.FailNoProof, after: headline("memory is not free"),
		},
		{
			stage: stop, kind: "slow", name: "VRAM is freed two seconds late", prepare: with(2*time.Second, steady),
			scenario: onGPU(nil),
			after:    freed(true),
		},
		{
			stage: stop, kind: "leak", name: "a worker holds VRAM after its leader was killed",
			scenario: onGPU(nil), bad: hasted,
			engine: func(c *engine) {
				children(fakeengine.Child{Session: true, Daemon: true, ClearEnv: true, IgnoreTerm: true})(c)
				request(fakeengine.FaultKill)(c)
			},
			prepare: with(0, func(machine *fakegpu.Machine, w *world) {
				w.beside(func(ctx context.Context) { w.workersHold(ctx, machine) })
			}), verdict: failed, class: results.FailExited, after: freed(true),
		},
		{
			stage: stop, kind: "lie", name: "the driver keeps reporting the VRAM in use before",
			scenario: onGPU(block{"timeout": "2s"}),
			prepare: with(0, func(machine *fakegpu.Machine, w *world) {
				w.once(func() bool { return w.has(results.StepStarted) }, func() {
					if err := machine.Remove(0, "mem_info_vram_used"); err != nil {
						w.t.Error(err)
					}
				})
			}), good: notRun, why: results.FailNoProof, after: headline("memory is not free"),
		},
		{
			stage: stop, kind: "lie", name: "another process takes VRAM while the server frees it",
			// so much that the next server fits beside it
			scenario: lay(onGPU(nil), block{"server": block{
				"gpus": 1,
				"args": block{"gpu-memory-utilization": "0.5"},
			}}),
			prepare: with(2*time.Second, func(machine *fakegpu.Machine, w *world) {
				w.once(func() bool { return w.has(results.LifeStopping) }, func() { w.gpuStranger(machine) })
			}), after: freed(true),
		},
		{
			stage: "spawn", kind: "leak", name: "another process holds VRAM, vram.foreign is report", prepare: stranger,
			scenario: lay(onGPU(block{"foreign": "report"}), block{"server": block{
				"gpus": 1, "args": block{"gpu-memory-utilization": "0.5"},
			}}),
			verdict: suspect, class: results.FailureClass(results.WarnForeignGPUUser), good: suspect,
		},
		{
			stage: "spawn", kind: "leak", name: "another process holds so much VRAM that the server would not fit",
			prepare:  stranger,
			scenario: onGPU(block{"foreign": "report"}),
			verdict:  failed, class: results.FailForeignGPU, good: failed, why: results.FailForeignGPU,
		},
		{
			stage: "spawn", kind: "leak", name: "another process holds VRAM, vram.foreign is refuse", prepare: stranger,
			scenario: onGPU(block{"foreign": "refuse"}),
			verdict:  failed, class: results.FailForeignGPU, good: failed, why: results.FailForeignGPU,
		},
		{
			stage: "spawn", kind: "leak", name: "another process holds VRAM, vram.foreign is wait", prepare: stranger,
			scenario: onGPU(block{"foreign": "wait", "timeout": "1s"}),
			verdict:  failed, class: results.FailForeignGPU, good: failed, why: results.FailForeignGPU,
		},
		{
			stage: "spawn", kind: "slow",
			name:     "another process leaves the GPU after two seconds, vram.foreign is wait",
			scenario: onGPU(block{"foreign": "wait"}),
			prepare: with(0, func(machine *fakegpu.Machine, w *world) {
				stranger := w.gpuStranger(machine)
				w.bystanders = w.bystanders[:len(w.bystanders)-1] // it ends by itself
				began := time.Now()
				w.once(func() bool { return time.Since(began) > 2*time.Second }, func() {
					_ = stranger.Process.Signal(syscall.SIGTERM)
					w.hold(machine, stranger.Process.Pid, 0)
				})
			}),
		},
	}
}

// workersHold has the workers of engines hold memory while they live.
func (w *world) workersHold(ctx context.Context, machine *fakegpu.Machine) {
	held := map[int]bool{}
	for pause(ctx, 5*poll) {
		for _, worker := range w.workers() {
			if !held[worker.pid] {
				held[worker.pid] = true
				w.hold(machine, worker.pid, strangerBytes)
			}
		}
		for pid, holds := range held {
			if holds && ended(pid) {
				held[pid] = false
				w.hold(machine, pid, 0)
			}
		}
	}
}

// freed asserts what the proof of bad's stop says about memory.
func freed(want bool) func(*world, conclusion) {
	return func(w *world, end conclusion) {
		w.t.Helper()
		for _, e := range end.run.Events {
			if e.Kind == results.LifeStopped {
				if len(e.Proof.VRAM) != 1 || e.Proof.VRAM[0].Freed != want {
					w.t.Errorf("proof of memory %+v, want one with freed = %v", e.Proof.VRAM, want)
				}
				return
			}
		}
		w.t.Errorf("the journal has no stop")
	}
}

// disturbances are what others and the card itself do to a step.
func disturbances() []fault {
	// during calls play beside the first step, which takes three seconds.
	during := func(play func(context.Context, *world, *fakegpu.Machine)) func(*world) {
		return func(w *world) {
			machine := w.gpus(0)
			w.beside(func(ctx context.Context) {
				if _, ok := w.await(ctx, kindOf(results.StepStarted)); ok {
					play(ctx, w, machine)
				}
			})
		}
	}
	hot := func(ctx context.Context, w *world, machine *fakegpu.Machine) {
		values := fakegpu.Loaded()
		values.Throttle = []string{"prochot"}
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_ = machine.Play(ctx, 0, 50*time.Millisecond, func(time.Duration) fakegpu.Values { return values })
	}
	slow := request(fakeengine.FaultSlow)
	return []fault{
		{
			stage: serve, kind: "lie", name: "another process starts on the GPU during a step",
			scenario: lay(onGPU(nil), block{"server": block{ // so that the next server fits beside the stranger
				"gpus": 1, "args": block{"gpu-memory-utilization": "0.5"},
			}}), engine: slow,
			prepare: during(func(_ context.Context, w *world, machine *fakegpu.Machine) { w.gpuStranger(machine) }),
			verdict: suspect, class: results.FailureClass(results.WarnForeignGPUUser), good: suspect,
		},
		{
			stage: serve, kind: "slow", name: "the GPU throttles", scenario: onGPU(nil), engine: slow,
			prepare: during(hot),
			verdict: suspect, class: results.FailureClass(results.WarnThrottled),
		},
		{
			stage: serve, kind: "slow", name: "the GPU throttles, on-throttle is repeat", engine: slow,
			prepare:  during(hot),
			scenario: lay(onGPU(nil), block{"telemetry": block{"on-throttle": "repeat"}, "retries": 1}),
			class:    results.FailureClass(results.WarnRetried),
		},
		{
			stage: serve, kind: "lie", name: "the power limit is lowered during a step",
			scenario: onGPU(nil), engine: slow,
			prepare: during(func(_ context.Context, w *world, machine *fakegpu.Machine) {
				values := fakegpu.Loaded()
				values.PowerLimitW = 500
				time.Sleep(time.Second)
				if err := machine.Set(0, values); err != nil {
					w.t.Error(err)
				}
			}), verdict: suspect, class: results.FailureClass(results.WarnPowerLimit), good: suspect,
		},
	}
}
