package vram

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/results"
)

const giga = 1 << 30

// fakeMemory is GPU memory that changes with time.
type fakeMemory struct {
	began time.Time
	used  func(at time.Duration) (map[string]int64, error)
	held  func(at time.Duration) []results.GPUHolder

	mu    sync.Mutex
	asked int // for holders
}

func (m *fakeMemory) Used(context.Context) (map[string]int64, error) {
	return m.used(time.Since(m.began))
}

func (m *fakeMemory) Holders(context.Context) ([]results.GPUHolder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if m.held == nil {
		return nil, nil
	}
	return m.held(time.Since(m.began)), nil
}

// falling is memory of one device that falls from high to low at a moment.
func falling(at time.Duration, high, low int64) func(time.Duration) (map[string]int64, error) {
	return func(now time.Duration) (map[string]int64, error) {
		if now < at {
			return map[string]int64{"gpu-0": high}, nil
		}
		return map[string]int64{"gpu-0": low}, nil
	}
}

func holding(pid int, device string, bytes int64) results.GPUHolder {
	return results.GPUHolder{PID: pid, Device: device, Bytes: &bytes, Name: "python"}
}

func notOurs(int) (bool, error) { return false, nil }

// claimed is a claim on gpu-0 with a baseline of 1 GiB.
func claimed(memory *fakeMemory, change func(*Claim)) *Claim {
	memory.began = time.Now()
	c := &Claim{Setup: Setup{Memory: NewReader(memory)}, ledger: &Ledger{}, devices: []string{"gpu-0"}}
	if change != nil {
		change(c)
	}
	c.ledger.enter("gpu-0", giga, 0)
	return c
}

func TestProveMemory(t *testing.T) {
	t.Parallel()
	unreadable := func(time.Duration) (map[string]int64, error) { return nil, errors.New("GPU is lost") }
	for _, c := range []struct {
		name  string
		used  func(time.Duration) (map[string]int64, error)
		held  func(time.Duration) []results.GPUHolder
		with  func(*Claim)
		freed bool
		took  time.Duration // at least, and hardly more
		says  []string      // of the failure
	}{
		{"back at once", falling(0, 0, giga), nil, nil, true, 0, nil},
		{"back within the tolerance", falling(0, 0, giga+512<<20), nil, nil, true, 0, nil},
		{"back after a while", falling(90*time.Second, 80*giga, giga), nil, nil, true, 90 * time.Second, nil},
		{
			"never", falling(time.Hour, 80*giga, giga), nil, nil, false, 2 * time.Minute,
			[]string{"80.0 GiB in use, 1.0 GiB before", "held by no visible process", "vram.timeout"},
		},
		{
			"AMD takes longer", falling(10*time.Minute, 80*giga, giga), nil, func(c *Claim) { c.Vendor = "amd" }, true,
			10 * time.Minute, nil,
		},
		{
			"AMD, never", falling(time.Hour, 80*giga, giga), nil, func(c *Claim) { c.Vendor = "amd" }, false,
			15 * time.Minute,
			[]string{"80.0 GiB"},
		},
		{"a limit of the scenario", falling(time.Hour, 80*giga, giga), nil, func(c *Claim) {
			c.Policy.Timeout = 10 * time.Second
		}, false, 10 * time.Second, []string{"80.0 GiB"}},
		{"a percent of a large device", falling(0, 0, giga+1900<<20), nil, func(c *Claim) {
			c.Sizes = map[string]int64{"gpu-0": 192 * giga}
		}, true, 0, nil},
		{"more than the tolerance of the scenario", falling(time.Hour, giga+100<<20, giga), nil, func(c *Claim) {
			c.Policy.Tolerance = 50 << 20
		}, false, 2 * time.Minute, []string{"1.1 GiB"}},
		{"unreadable", unreadable, nil, nil, false, 2 * time.Minute, []string{"cannot be read", "GPU is lost"}},
		{
			"what others took is not ours to bring back", falling(time.Hour, 41*giga, giga),
			func(time.Duration) []results.GPUHolder { return []results.GPUHolder{holding(7, "gpu-0", 40*giga)} },
			nil, true, 4 * time.Second,
			nil,
		},
		{
			"others hold a part", falling(time.Hour, 80*giga, giga),
			func(time.Duration) []results.GPUHolder { return []results.GPUHolder{holding(7, "gpu-0", 40*giga)} },
			nil, false, 2 * time.Minute,
			[]string{"80.0 GiB", "pid 7 (python) holds 40.0 GiB"},
		},
		{
			"others on another device", falling(time.Hour, 41*giga, giga),
			func(time.Duration) []results.GPUHolder { return []results.GPUHolder{holding(7, "gpu-1", 40*giga)} },
			nil, false, 2 * time.Minute,
			[]string{"held by no visible process"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				claim := claimed(&fakeMemory{used: c.used, held: c.held}, c.with)
				proofs, failure := claim.Prove(t.Context(), nil, notOurs)
				if took := time.Since(claim.Memory.memory.(*fakeMemory).began); took < c.took || took > c.took+
					2*time.Second {
					t.Errorf("Prove() took %v, want %v", took, c.took)
				}
				if len(proofs) != 1 || proofs[0].Freed != c.freed || (failure == nil) != c.freed {
					t.Fatalf("Prove() = %+v, %v, want freed %v", proofs, failure, c.freed)
				}
				for _, part := range c.says {
					if failure.Class != results.FailNoProof || !strings.Contains(failure.Message, part) {
						t.Errorf("failure = %v, want class %s and %q", failure, results.FailNoProof, part)
					}
				}
			})
		})
	}
}

// A process of ours that hid from the proof of processes is ended when it
// shows as a holder; its memory then comes back.
func TestProveMemoryEndsOurStray(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := []int{}
		memory := &fakeMemory{}
		memory.used = func(time.Duration) (map[string]int64, error) {
			if slices.Contains(ended, 42) {
				return map[string]int64{"gpu-0": giga}, nil
			}
			return map[string]int64{"gpu-0": 81 * giga}, nil
		}
		memory.held = func(time.Duration) []results.GPUHolder {
			if slices.Contains(ended, 42) {
				return nil
			}
			return []results.GPUHolder{holding(42, "gpu-0", 80*giga), holding(7, "gpu-0", 1<<20)}
		}
		claim := claimed(memory, nil)
		proofs, failure := claim.Prove(t.Context(), nil, func(pid int) (bool, error) {
			if pid != 42 {
				return false, nil
			}
			ended = append(ended, pid)
			return true, nil
		})
		if failure != nil || !proofs[0].Freed || !slices.Equal(ended, []int{42}) {
			t.Errorf("Prove() = %+v, %v, ended %v, want 42 alone ended and memory back", proofs, failure, ended)
		}
	})
}

func TestProveMemoryWhenKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claim := claimed(&fakeMemory{used: falling(time.Hour, 80*giga, giga)}, nil)
		killNow := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(killNow) })
		began := time.Now()
		_, failure := claim.Prove(t.Context(), killNow, notOurs)
		if took := time.Since(began); failure == nil || took < 15*time.Second || took > 17*time.Second {
			t.Errorf("Prove() = %v after %v, want a failure 5 s after the killNow at 10 s", failure, took)
		}
	})
}

// Servers that share a device share the baseline from before the first of
// them, and the last one proves it.
func TestSharedDevice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		level := int64(giga)
		memory := &fakeMemory{used: func(time.Duration) (map[string]int64, error) {
			return map[string]int64{"gpu-0": level, "gpu-1": 2 * giga}, nil
		}}
		ledger := &Ledger{}
		claim := func(devices ...string) *Claim {
			c, failure := ledger.Claim(t.Context(), Setup{Memory: NewReader(memory)}, devices,
				func() []int { return nil })
			if failure != nil {
				t.Fatal(failure)
			}
			return c
		}
		first := claim("gpu-0")
		level = 10 * giga
		second := claim("gpu-0", "gpu-1", "gpu-9")
		baselines := second.Baseline()
		if len(baselines) != 2 || baselines[0].BaselineBytes != giga || baselines[1].BaselineBytes != 2*giga {
			t.Errorf("baselines = %+v, want that of before the first server, and no gpu-9", baselines)
		}
		if !strings.Contains(second.Notes(), "gpu-9") {
			t.Errorf("message = %q, want it to name the device that cannot be read", second.Notes())
		}
		if proofs, failure := first.Prove(t.Context(), nil, notOurs); failure != nil || len(proofs) != 0 {
			t.Errorf("Prove() beside another server = %+v, %v, want nothing proven", proofs, failure)
		}
		first.Release()
		level = giga + 1
		proofs, failure := second.Prove(t.Context(), nil, notOurs)
		if failure != nil || len(proofs) != 2 || proofs[0].BaselineBytes != giga || !proofs[0].Freed {
			t.Errorf("Prove() of the last server = %+v, %v, want both devices back", proofs, failure)
		}
		second.Release()
		level = 3 * giga
		if after := claim("gpu-0").Baseline(); after[0].BaselineBytes != 3*giga {
			t.Errorf("baseline of the next server = %+v, want a new one", after)
		}
	})
}

// What others hold is reported, but a server that would not fit beside it is
// refused: it would end by itself, minutes later.
func TestServerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held    int64
		share   float64
		refused bool
	}{
		{40 * giga, 0.9, true},
		{40 * giga, 0.5, false},
		{40 * giga, 0, false},
		{7 * giga, 0.9, false},
		{9 * giga, 0.9, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := &fakeMemory{
				began: time.Now(), used: falling(0, 0, giga),
				held: func(time.Duration) []results.GPUHolder {
					return []results.GPUHolder{holding(7, "gpu-0", c.held)}
				},
			}
			claim := &Claim{ledger: &Ledger{}, Setup: Setup{
				Memory: NewReader(memory), Sizes: map[string]int64{"gpu-0": 80 * giga}, Policy: Policy{Share: c.share},
			}}
			_, failure := claim.awaitOthers(t.Context(), []string{"gpu-0"}, func() []int { return nil })
			if (failure != nil) != c.refused || failure != nil && !strings.Contains(failure.Message,
				"of 80.0 GiB of GPU gpu-0, and the server asks for") {
				t.Errorf("%d GiB held, share %g: %v, want refused %v", c.held/giga, c.share, failure, c.refused)
			}
		})
	}
}

// Weights that do not fit beside what others hold; those that would not fit alone
// are the engine's to refuse.
func TestWeightsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held, weights int64
		refused       bool
	}{
		{40 * giga, 50 * giga, true},
		{40 * giga, 30 * giga, false},
		{40 * giga, 0, false},
		{40 * giga, 90 * giga, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := &fakeMemory{
				began: time.Now(), used: falling(0, 0, giga),
				held: func(time.Duration) []results.GPUHolder {
					return []results.GPUHolder{holding(7, "gpu-0", c.held)}
				},
			}
			claim := &Claim{ledger: &Ledger{}, Setup: Setup{
				Memory: NewReader(memory), Sizes: map[string]int64{"gpu-0": 80 * giga},
				Policy: Policy{Weights: c.weights},
			}}
			_, failure := claim.awaitOthers(t.Context(), []string{"gpu-0"}, func() []int { return nil })
			if (failure != nil) != c.refused || failure != nil && !strings.Contains(failure.Message,
				"weights alone take 50.0") {
				t.Errorf("%d GiB held, weights of %d: %v, want refused %v", c.held/giga, c.weights/giga,
					failure, c.refused)
			}
		})
	}
}

func TestForeignHolders(t *testing.T) {
	t.Parallel()
	there := func(until time.Duration, holders ...results.GPUHolder) func(time.Duration) []results.GPUHolder {
		return func(now time.Duration) []results.GPUHolder {
			if now < until {
				return holders
			}
			return nil
		}
	}
	unknown := results.GPUHolder{PID: 9, Name: "a"}
	for _, c := range []struct {
		name, policy string
		held         func(time.Duration) []results.GPUHolder
		refused      bool
		waits        time.Duration
		note         string
	}{
		{"nobody", "refuse", nil, false, 0, ""},
		{"a desktop", "refuse", there(time.Hour, holding(7, "gpu-0", 200<<20)), false, 0, ""},
		{"elsewhere", "refuse", there(time.Hour, holding(7, "gpu-1", 50*giga)), false, 0, ""},
		{"ours", "refuse", there(time.Hour, holding(100, "gpu-0", 50*giga)), false, 0, ""},
		{"refused", "refuse", there(time.Hour, holding(7, "gpu-0", 50*giga)), true, 0, ""},
		{"device not known", "refuse", there(time.Hour, unknown), true, 0, ""},
		{
			"reported", "report", there(time.Hour, holding(7, "gpu-0", 50*giga)), false, 0,
			"pid 7 (python) holds 50.0 GiB",
		},
		{"reported by default", "", there(time.Hour, holding(7, "gpu-0", 50*giga)), false, 0, "pid 7"},
		{"waited for", "wait", there(30*time.Second, holding(7, "gpu-0", 50*giga)), false, 30 * time.Second, ""},
		{"waited for in vain", "wait", there(time.Hour, holding(7, "gpu-0", 50*giga)), true, 2 * time.Minute, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory := &fakeMemory{began: time.Now(), used: falling(0, 0, giga), held: c.held}
				claim := &Claim{ledger: &Ledger{}, Setup: Setup{
					Memory: NewReader(memory),
					Policy: Policy{Foreign: c.policy},
				}}
				_, failure := claim.awaitOthers(t.Context(), []string{"gpu-0"}, func() []int { return []int{100} })
				if (failure != nil) != c.refused || failure != nil && failure.Class != results.FailForeignGPU {
					t.Errorf("awaitOthers() = %v, want refused %v", failure, c.refused)
				}
				if took := time.Since(memory.began); took < c.waits || took > c.waits+2*time.Second {
					t.Errorf("awaitOthers() took %v, want %v", took, c.waits)
				}
				if !strings.Contains(claim.Notes(), c.note) || c.note == "" && claim.Notes() != "" {
					t.Errorf("notes = %q, want %q", claim.Notes(), c.note)
				}
			})
		})
	}
}

func TestWaitForOthersEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &fakeMemory{began: time.Now(), held: func(time.Duration) []results.GPUHolder {
			return []results.GPUHolder{holding(7, "gpu-0", 50*giga)}
		}}
		claim := &Claim{ledger: &Ledger{}, Setup: Setup{Memory: NewReader(memory), Policy: Policy{Foreign: "wait"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, failure := claim.awaitOthers(ctx, []string{"gpu-0"}, func() []int { return nil })
		if failure == nil || failure.Class != results.FailDeadline {
			t.Errorf("awaitOthers() past the deadline = %v, want class %s", failure, results.FailDeadline)
		}
	})
}

// What others held before the start is in the baseline. When they give it back,
// that must not hide what of ours stays.
func TestProveMemoryBesideOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		used   int64 // afterwards, of a baseline of 41 GiB with 40 of others
		others int64
		freed  bool
	}{
		{"all as before", 41 * giga, 40 * giga, true},
		{"they left", 1 * giga, 0, true},
		{"they left and ours stays", 39 * giga, 0, false},
		{"they gave back a part and ours stays", 41 * giga, 20 * giga, false},
		{"they took more", 61 * giga, 60 * giga, true},
		{"they took more and ours stays", 71 * giga, 60 * giga, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				memory := &fakeMemory{
					began: time.Now(), used: falling(0, 0, c.used),
					held: func(time.Duration) []results.GPUHolder {
						if c.others == 0 {
							return nil
						}
						return []results.GPUHolder{holding(7, "gpu-0", c.others)}
					},
				}
				noted := []results.VRAMProof{{
					Device: "gpu-0", BaselineBytes: 41 * giga,
					ForeignBytes: new(int64(40 * giga)),
				}}
				claim := Restore(Setup{Memory: NewReader(memory)}, noted, nil)
				proofs, failure := claim.Prove(t.Context(), nil, notOurs)
				if len(proofs) != 1 || proofs[0].Freed != c.freed || (failure == nil) != c.freed {
					t.Errorf("Prove() = %+v, %v, want freed %v", proofs, failure, c.freed)
				}
				if took := time.Since(memory.began); c.freed && took > time.Second {
					t.Errorf("Prove() took %v, want no wait", took)
				}
			})
		})
	}
}

// A driver that hangs in a system call ends neither the wait nor a claim, and is
// not asked again and again.
func TestMemoryThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked atomic.Int32
		memory := &fakeMemory{began: time.Now(), used: func(time.Duration) (map[string]int64, error) {
			asked.Add(1)
			<-release
			return map[string]int64{"gpu-0": giga}, nil
		}}
		claim := claimed(memory, nil)
		killNow := make(chan struct{})
		time.AfterFunc(30*time.Second, func() { close(killNow) })
		_, failure := claim.Prove(t.Context(), killNow, notOurs)
		took := time.Since(memory.began)
		if failure == nil || !strings.Contains(failure.Message, "hangs") || took < 35*time.Second ||
			took > 41*time.Second {
			t.Errorf("Prove() = %v after %v, want a failure 5 to 10 s after the killNow at 30 s", failure, took)
		}
		if asked := asked.Load(); asked != 1 {
			t.Errorf("the driver was asked %d times, want once", asked)
		}
		close(release)
		if used, err := claim.Memory.Used(t.Context()); err != nil || used["gpu-0"] != giga {
			t.Errorf("Used() once it answers again = %v, %v", used, err)
		}
	})
}
