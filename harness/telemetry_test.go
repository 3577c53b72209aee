package harness

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// fakeGPUs is a Telemetry of two GPUs that a test scripts.
type fakeGPUs struct {
	began   time.Time
	say     func(device string, at time.Duration) *results.GPUReading // at: since the test began; nil: a gap
	holders func() ([]results.GPUHolder, error)
	period  time.Duration
	started int
}

func (f *fakeGPUs) Holders(context.Context) ([]results.GPUHolder, error) {
	if f.holders == nil {
		return nil, nil
	}
	return f.holders()
}

type fakeSampling struct {
	gpus *fakeGPUs
	stop chan struct{}
	done chan struct{}
}

func (f *fakeGPUs) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) telemetry.Sampling {
	f.started++
	s := fakeSampling{f, make(chan struct{}), make(chan struct{})}
	read := func() {
		for _, id := range []string{"GPU-a", "GPU-b"} {
			at := time.Now()
			if r := f.say(id, at.Sub(f.began)); r != nil {
				r.Device = id
				emit(at, results.TelemetrySample{GPU: r})
			} else {
				emit(at, results.TelemetrySample{Gap: &results.TelemetryGap{Source: "fake", Why: "no answer"}})
			}
		}
	}
	go func() {
		defer close(s.done)
		for {
			read()
			select {
			case <-ctx.Done():
				return
			case <-s.stop:
				read()
				return
			case <-time.After(f.period):
			}
		}
	}()
	return s
}

func (s fakeSampling) Stop() telemetry.SamplingCost {
	close(s.stop)
	<-s.done
	return telemetry.SamplingCost{Samplers: []string{"fake"}, Period: s.gpus.period, CPUShare: 0.002}
}

// calm is a GPU at rest, with 1 GiB in use.
func calm(string, time.Duration) *results.GPUReading {
	return &results.GPUReading{
		PowerW: new(140.0), PowerKind: "instant", VRAMUsedBytes: new(int64(1 << 30)), HotspotC: new(40.0),
		PowerLimitW: new(750.0), Throttle: []string{},
	}
}

// gpuWorld is a world whose servers know their processes and whose passes take
// time.
type gpuWorld struct {
	*world
	gpus    *fakeGPUs
	takes   time.Duration // a pass
	placed  []int
	updates []status.Update

	// What GPUs may look at while the run continues.
	launched, driven atomic.Int64
	upAt             atomic.Int64 // nanoseconds since the test began
}

type treeServer struct {
	*fakeServer
	pids []int
}

func (s treeServer) Abilities() step.Abilities {
	can := s.fakeServer.Abilities()
	can.OwnPIDs = func() []int { return s.pids }
	return can
}

func (w *gpuWorld) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	server, err := w.world.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	w.launched.Add(1)
	w.upAt.Store(int64(time.Since(w.gpus.began)))
	fake := server.(*fakeServer)
	fake.info.GPUs = w.placed
	return treeServer{fake, []int{4711, 4712}}, nil
}

func (w *gpuWorld) Run(ctx context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	if o.Started != nil {
		o.Started(time.Now())
	}
	time.Sleep(w.takes)
	w.driven.Add(1)
	report, err := w.world.Run(ctx, o, prompts, emit)
	report.DurationS = w.takes.Seconds()
	return report, err
}

// run carries out a scenario with one variant and one point, unless changed.
func (w *gpuWorld) run(t *testing.T, change func(*scenarios.Scenario)) *results.Run {
	t.Helper()
	w.tokens = 0
	w.gpus.began = time.Now()
	if w.gpus.period == 0 {
		w.gpus.period = 100 * time.Millisecond
	}
	if w.gpus.say == nil {
		w.gpus.say = calm
	}
	sc := testScenario(scenarios.Grouped, scenarios.RestartNever)
	sc.Variants, sc.Points, sc.Repeats = sc.Variants[:1], sc.Points[:1], 1
	if change != nil {
		change(sc)
	}
	machine := plan.Machine{Self: "/bench", Vendor: device.AMD, GPUs: 2, Devices: []device.Device{
		{
			Index: 0, Vendor: device.AMD, Name: "MI300X", UUID: "GPU-a", PCI: "0000:05:00.0",
			VRAMBytes: new(int64(192 << 30)),
		},
		{
			Index: 1, Vendor: device.AMD, Name: "MI300X", UUID: "GPU-b", PCI: "0000:26:00.0",
			VRAMBytes: new(int64(192 << 30)),
		},
	}}
	plan, err := plan.New(sc, machine)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := store.Create(t.TempDir(), sc.Name, "run")
	if err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	if err := folder.WriteManifest(results.Manifest{
		Format: results.FormatVersion, Scenario: sc.Name, Run: "run",
		Planned: plan.Refs(),
	}); err != nil {
		t.Fatal(err)
	}
	r := &Runner{
		Scenario: sc, Plan: plan, Machine: machine, Folder: folder, Journal: journal, Launcher: w, Driver: w,
		RunID: "run", Telemetry: w.gpus,
		Observe: func(u status.Update) { w.updates = append(w.updates, u) },
	}
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	run, err := store.Read(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func newGPUWorld() *gpuWorld {
	return &gpuWorld{world: &world{}, gpus: &fakeGPUs{}, takes: 10 * time.Second}
}

func codes(r *results.Result) []results.WarningCode {
	var all []results.WarningCode
	for _, w := range r.Warnings {
		all = append(all, w.Code)
	}
	return all
}

func TestTelemetryOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.gpus.say = func(device string, at time.Duration) *results.GPUReading {
			r, loaded := calm(device, at), time.Duration(w.upAt.Load())
			if loaded > 0 {
				r.VRAMUsedBytes, r.PowerW = new(int64(170<<30)), new(600.0)
			}
			if device == "GPU-b" && loaded > 0 && at > loaded+5*time.Second && at < loaded+5500*time.Millisecond {
				r.VRAMUsedBytes = new(int64(180 << 30))
			}
			return r
		}
		run := w.run(t, nil)
		result := run.Steps[0].Result
		if result.Verdict != results.OK {
			t.Fatalf("verdict %s, warnings %v, want ok", result.Verdict, result.Warnings)
		}
		got := result.Telemetry
		if got == nil || got.Sum == nil {
			t.Fatal("no telemetry")
		}
		if s := got.Sum; *s.VRAMBaseline != 2<<30 || *s.VRAMLoaded != 340<<30 || *s.VRAMPeak != 350<<30 {
			t.Errorf("VRAM %d, %d, %d GiB, want 2, 340, 350", *s.VRAMBaseline>>30, *s.VRAMLoaded>>30, *s.VRAMPeak>>30)
		}
		for what, pair := range map[string][2]float64{
			"energy":     {*got.Sum.Pass.EnergyJ, 12000},
			"above idle": {*got.Sum.Pass.AboveIdleJ, 12000 - 2*140*10},
			"a token":    {*got.Efficiency.JPerOutputToken, 12000 / float64(*result.Figures.TotalOutputTokens)},
			"CPU":        {*got.CPUShare, 0.002},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
				t.Errorf("%s = %v, want %v", what, pair[0], pair[1])
			}
		}
		before, after := 0, 0
		for s, err := range store.ReadTelemetry(filepath.Join(run.Dir, "steps", result.Step.ID)) {
			if err != nil {
				t.Fatal(err)
			}
			if s.AtS <= 0 {
				before++
			}
			if s.AtS >= 10 {
				after++
			}
		}
		if before < 2 || after < 2 {
			t.Errorf("%d readings before the pass, %d after it, want one of each GPU", before, after)
		}
	})
}

func TestServersPlacedOnOneGPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.placed = []int{1}
		got := w.run(t, nil).Steps[0].Result.Telemetry
		if len(got.GPUs) != 1 || got.GPUs[0].Device != "GPU-b" || math.Abs(*got.Sum.Pass.EnergyJ-1400) > 1e-6 {
			t.Errorf("GPUs %+v, want GPU-b only with 1400 J", got.GPUs)
		}
	})
}

// hot throttles GPU-a in the first n passes.
func hot(w *gpuWorld, n int) func(string, time.Duration) *results.GPUReading {
	return func(device string, at time.Duration) *results.GPUReading {
		r := calm(device, at)
		if device == "GPU-a" && w.launched.Load() > 0 && w.driven.Load() < int64(n) {
			r.Throttle = []string{results.ThrottleThermal}
		}
		return r
	}
}

func TestReactionsToThrottling(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reaction scenarios.Reaction
		passes   int // that throttle
		want     results.Verdict
		attempts int
		warnings []results.WarningCode
	}{
		{"suspect", scenarios.ReactSuspect, 9, results.Suspect, 1, []results.WarningCode{results.WarnThrottled}},
		{"ignored", scenarios.ReactIgnore, 9, results.OK, 1, nil},
		{"repeated", scenarios.ReactRepeat, 1, results.OK, 2, []results.WarningCode{results.WarnRetried}},
		{"repeated in vain", scenarios.ReactRepeat, 9, results.Suspect, 3, []results.WarningCode{
			results.WarnThrottled,
			results.WarnRetried,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newGPUWorld()
				w.gpus.say = hot(w, tt.passes)
				run := w.run(t, func(sc *scenarios.Scenario) { sc.Telemetry.OnThrottle, sc.Retries = tt.reaction, 2 })
				r := run.Steps[0].Result
				got := slices.DeleteFunc(codes(r), func(c results.WarningCode) bool {
					return c == results.WarnSimulated || c == results.WarnFewSamples
				})
				if r.Verdict != tt.want || r.Step.Attempt != tt.attempts || !slices.Equal(got, tt.warnings) {
					t.Errorf("verdict %s, attempt %d, warnings %v, want %s, %d, %v", r.Verdict, r.Step.Attempt, got,
						tt.want, tt.attempts, tt.warnings)
				}
				if w.launches != 1 {
					t.Errorf("%d launches, want 1: a repeat needs no other server", w.launches)
				}
				for _, earlier := range r.Earlier {
					if earlier.Class != results.FailDisturbed {
						t.Errorf("earlier attempt ended with %s, want %s", earlier.Class, results.FailDisturbed)
					}
				}
				noted := strings.Contains(strings.Join(r.Telemetry.Notes, "\n"), "throttled (ignored)")
				if noted != (tt.reaction == scenarios.ReactIgnore) {
					t.Errorf("notes %q", r.Telemetry.Notes)
				}
			})
		})
	}
}

func TestAnotherPowerLimitIsADoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.gpus.say = func(device string, at time.Duration) *results.GPUReading {
			r := calm(device, at)
			if w.launched.Load() > 1 && device == "GPU-b" {
				r.PowerLimitW = new(500.0)
			}
			return r
		}
		run := w.run(t, func(sc *scenarios.Scenario) { sc.Variants = append(sc.Variants, testVariant("b")) })
		first, second := run.Steps[0].Result, run.Steps[1].Result
		if first.Verdict != results.OK || second.Verdict != results.Suspect || !slices.Contains(codes(second),
			results.WarnPowerLimit) {
			t.Errorf("verdicts %s, %s with %v, want ok, suspect with %s", first.Verdict, second.Verdict,
				second.Warnings, results.WarnPowerLimit)
		}
	})
}

func TestStrangersOnOurGPUs(t *testing.T) {
	own := results.GPUHolder{PID: 4712, Device: "GPU-a", Bytes: new(int64(1 << 30)), Name: "server"}
	other := results.GPUHolder{PID: 99, Device: "GPU-b", Bytes: new(int64(1 << 20)), Name: "other"}
	for _, tt := range []struct {
		name    string
		placed  []int
		holders []results.GPUHolder
		err     error
		doubt   bool
	}{
		{name: "nobody"},
		{name: "ourselves", holders: []results.GPUHolder{own, {PID: os.Getpid(), Device: "GPU-a"}}},
		{name: "somebody else", holders: []results.GPUHolder{own, other}, doubt: true},
		{
			name: "somebody, source does not say where", holders: []results.GPUHolder{own, {PID: 99, Name: "other"}},
			doubt: true,
		},
		{
			name: "somebody on a GPU that the run does not use", placed: []int{0},
			holders: []results.GPUHolder{own, other},
		},
		{
			name: "numbers of another namespace", placed: []int{0, 1},
			holders: []results.GPUHolder{{PID: 777, Device: "GPU-a"}, other},
		},
		{name: "nobody can tell", err: fmt.Errorf("no permission")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newGPUWorld()
				w.placed = tt.placed
				w.gpus.holders = func() ([]results.GPUHolder, error) { return tt.holders, tt.err }
				r := w.run(t, nil).Steps[0].Result
				if got := slices.Contains(codes(r), results.WarnForeignGPUUser); got != tt.doubt ||
					(r.Verdict == results.Suspect) != tt.doubt {
					t.Errorf("doubt %v, verdict %s, want doubt %v", got, r.Verdict, tt.doubt)
				}
			})
		})
	}
}

// A stranger who comes and goes within the pass is seen if he stays long
// enough for a look.
func TestAStrangerWithinThePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.takes = time.Minute
		w.gpus.holders = func() ([]results.GPUHolder, error) {
			if at := time.Since(w.gpus.began); at > 20*time.Second && at < 40*time.Second {
				return []results.GPUHolder{{PID: 99, Device: "GPU-a", Name: "visitor"}}, nil
			}
			return nil, nil
		}
		r := w.run(t, func(sc *scenarios.Scenario) {
			sc.Telemetry.OnForeign, sc.Retries = scenarios.ReactRepeat, 1
		}).Steps[0].Result
		if r.Verdict != results.OK || r.Step.Attempt != 2 || len(r.Earlier) != 1 ||
			!strings.Contains(r.Earlier[0].Message, "visitor (PID 99)") {
			t.Errorf("verdict %s, attempt %d, earlier %v, want ok at the second attempt because of the visitor",
				r.Verdict, r.Step.Attempt, r.Earlier)
		}
	})
}

// clockAfter falls for 20 s from 2100 MHz to 540 MHz, and stays there.
func clockAfter(up time.Duration) float64 { return max(540e6, 2100e6-78e6*up.Seconds()) }

func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name    string
		settle  scenarios.Settle
		reading func(at time.Duration) (tempC, powerW float64)
		waits   time.Duration // from when the servers are up, at least
		most    time.Duration
		warns   string // part of the warning; "": none
	}{
		{
			"not asked",
			scenarios.Settle{},
			func(time.Duration) (float64, float64) { return 90, 500 }, 0,
			time.Second, "",
		},
		{"calm", scenarios.Settle{Timeout: time.Minute, MaxTemp: 50, Power: 1.2}, func(time.Duration) (float64,
			float64,
		) {
			return 40, 140
		}, 0, time.Second, ""},
		{"cools down", scenarios.Settle{Timeout: time.Minute, MaxTemp: 50}, func(at time.Duration) (float64, float64) {
			return 90 - at.Seconds(), 140
		}, 35 * time.Second, 45 * time.Second, ""},
		{"draws less", scenarios.Settle{Timeout: time.Minute, Power: 1.5}, func(at time.Duration) (float64, float64) {
			return 40, max(140, 240-2*at.Seconds())
		}, 10 * time.Second, 25 * time.Second, ""},
		{
			"clock falls",
			scenarios.Settle{Timeout: time.Minute, Clock: scenarios.ClockStable},
			func(time.Duration) (float64, float64) { return 40, 140 }, 22 * time.Second, 25 * time.Second, "",
		},
		{
			"clock near idle",
			scenarios.Settle{Timeout: time.Minute, Clock: scenarios.ClockIdle},
			func(time.Duration) (float64, float64) { return 40, 140 }, 19 * time.Second, 21 * time.Second, "",
		},
		{
			"clock not in time",
			scenarios.Settle{Timeout: 10 * time.Second, Clock: scenarios.ClockIdle},
			func(time.Duration) (float64, float64) { return 40, 140 }, 10 * time.Second, 11 * time.Second,
			"the limit is 550 MHz (1.1 times idle)",
		},
		{"does not tell", scenarios.Settle{Timeout: time.Minute, MaxTemp: 50}, func(time.Duration) (float64, float64) {
			return math.NaN(), 140
		}, 0, time.Second, "does not report its temperature"},
		{"stays hot", scenarios.Settle{Timeout: 20 * time.Second, MaxTemp: 50}, func(time.Duration) (float64,
			float64,
		) {
			return 90, 140
		}, 20 * time.Second, 21 * time.Second, "GPU 0 has 90 degrees C, the limit is 50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newGPUWorld()
				w.gpus.say = func(device string, at time.Duration) *results.GPUReading {
					r := calm(device, at)
					r.CoreHz = new(500e6)
					if up := time.Duration(w.upAt.Load()); up > 0 {
						temp, power := tt.reading(at - up)
						r.HotspotC, r.PowerW, r.CoreHz = &temp, &power, new(clockAfter(at-up))
						if math.IsNaN(temp) {
							r.HotspotC = nil
						}
					}
					return r
				}
				var began time.Time
				w.drive = func(context.Context, int, *fakeServer) error {
					began = time.Now().Add(-w.takes)
					return nil
				}
				r := w.run(t, func(sc *scenarios.Scenario) { sc.Settle = tt.settle }).Steps[0].Result
				if waited := began.Sub(w.gpus.began) - time.Duration(w.upAt.Load()); waited < tt.waits ||
					waited > tt.most {
					t.Errorf("waited %s, want %s to %s", waited, tt.waits, tt.most)
				}
				at := slices.IndexFunc(r.Warnings, func(w results.Warning) bool {
					return w.Code == results.WarnNotSettled
				})
				if (at >= 0) != (tt.warns != "") || at >= 0 && !strings.Contains(r.Warnings[at].Message, tt.warns) {
					t.Errorf("warnings %v, want %q", r.Warnings, tt.warns)
				}
				told := slices.ContainsFunc(w.updates, func(u status.Update) bool {
					return u.Kind == status.StepSettling && u.Message != ""
				})
				if told != (tt.waits > 0) {
					t.Errorf("reported the wait: %v, want %v", told, tt.waits > 0)
				}
			})
		})
	}
}

// Telemetry that fails, or hangs, never fails a step and holds it up for a
// bounded time only.
func TestTelemetryThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.gpus.say = func(string, time.Duration) *results.GPUReading { return nil }
		begin := time.Now()
		run := w.run(t, func(sc *scenarios.Scenario) { sc.Points = append(sc.Points, testPoint("c2", 2)) })
		for _, s := range run.Steps {
			r := s.Result
			if r.Verdict != results.OK || !slices.Contains(codes(r), results.WarnPowerUnknown) ||
				!slices.Contains(codes(r), results.WarnTelemetryGaps) {
				t.Errorf("%s: verdict %s, warnings %v, want ok with unknown power and gaps", r.Step.ID,
					r.Verdict, r.Warnings)
			}
			if r.Telemetry.Sum.Pass.EnergyJ != nil || r.Telemetry.Sum.VRAMPeak != nil {
				t.Errorf("%s: figures without readings", r.Step.ID)
			}
		}
		if took := time.Since(begin); took > 40*time.Second {
			t.Errorf("two steps of 10 s took %s, want the wait for readings bounded", took)
		}
	})
}

func TestNoTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		run := w.run(t, func(sc *scenarios.Scenario) { sc.Telemetry.Off = true })
		if r := run.Steps[0].Result; r.Telemetry != nil || w.gpus.started > 0 {
			t.Errorf("telemetry %v, %d starts, want none where it is off", r.Telemetry, w.gpus.started)
		}
	})
}

// A step whose pass never begins leaves no sampling and no file.
func TestAPassThatNeverBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGPUWorld()
		w.takes = 0
		w.drive = func(context.Context, int, *fakeServer) error { return results.Failf(results.FailInternal, "no") }
		run := w.run(t, func(sc *scenarios.Scenario) { sc.Points[0].Warmups = 1 })
		r := run.Steps[0].Result
		if r.Verdict != results.Failed || r.Telemetry != nil {
			t.Errorf("verdict %s, telemetry %v, want failed without telemetry", r.Verdict, r.Telemetry)
		}
		left, _ := filepath.Glob(filepath.Join(run.Dir, "steps", "*", "telemetry*"))
		if len(left) > 0 {
			t.Errorf("files %v are left", left)
		}
	})
}
