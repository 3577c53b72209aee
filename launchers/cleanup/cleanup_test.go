package cleanup

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

func TestOpenLives(t *testing.T) {
	t.Parallel()
	event := func(kind results.EventKind, life string, change ...func(*results.Event)) results.Event {
		e := results.Event{Kind: kind, Life: life}
		for _, c := range change {
			c(&e)
		}
		return e
	}
	identity := func(pid int) func(*results.Event) {
		return func(e *results.Event) { e.Process = &results.Process{PID: pid, Cookie: "run." + e.Life} }
	}
	proof := func(p results.Proof) func(*results.Event) { return func(e *results.Event) { e.Proof = &p } }
	failed := func(class results.FailureClass) func(*results.Event) {
		return func(e *results.Event) { e.Failure = results.Failf(class, "x") }
	}
	replica := func(n int) func(*results.Event) { return func(e *results.Event) { e.Replica = n } }
	gone := results.Proof{PIDsGone: true, PortFree: true}
	for _, c := range []struct {
		name   string
		events []results.Event
		want   string // lives, with the pid where it is known
	}{
		{"nothing", nil, ""},
		{"cut off before the spawn was noted", []results.Event{event(results.LifeStarting, "a", identity(0))}, "a"},
		{"cut off while it ran", []results.Event{
			event(results.LifeStarting, "a", identity(0)),
			event(results.LifeSpawned, "a", identity(7)), event(results.LifeReady, "a"),
		}, "a:7"},
		{"stopped", []results.Event{
			event(results.LifeStarting, "a"), event(results.LifeSpawned, "a", identity(7)),
			event(results.LifeStopped, "a", proof(gone)),
		}, ""},
		{"a stranger has the port", []results.Event{event(results.LifeStarting, "a"), event(results.LifeStopped, "a",
			proof(results.Proof{PIDsGone: true}))}, ""},
		{"cut off while it stopped", []results.Event{event(results.LifeStarting, "a"), event(results.LifeSpawned, "a",
			identity(7)), event(results.LifeStopping, "a")}, "a:7"},
		{"not proven", []results.Event{event(results.LifeStarting, "a"), event(results.LifeStopped, "a",
			proof(results.Proof{PortFree: true}))}, "a"},
		{"memory not proven", []results.Event{event(results.LifeStarting, "a"), event(results.LifeStopped, "a",
			proof(results.Proof{PIDsGone: true, VRAM: []results.VRAMProof{{}}}))}, "a"},
		{"could not be started", []results.Event{event(results.LifeStarting, "a"), event(results.LifeFailed, "a",
			failed(results.FailNotFound))}, ""},
		{"could not be started, and not be ended", []results.Event{
			event(results.LifeStarting, "a"),
			event(results.LifeFailed, "a", failed(results.FailNoProof)),
		}, "a"},
		{"failed while it ran", []results.Event{event(results.LifeStarting, "a"), event(results.LifeSpawned, "a",
			identity(7)), event(results.LifeFailed, "a", failed(results.FailExited))}, "a:7"},
		{"ended later by clean", []results.Event{event(results.LifeStarting, "a"), event(results.LifeSpawned, "a",
			identity(7)), event(results.LifeStopped, "a", proof(gone))}, ""},
		{"replicas", []results.Event{
			event(results.LifeStarting, "a"), event(results.LifeStarting, "a", replica(1)), event(results.LifeStopped,
				"a", proof(gone)), event(results.LifeStarting, "b"),
		}, "a b"},
		{"the same name twice", []results.Event{
			event(results.LifeStarting, "a"), event(results.LifeSpawned, "a", identity(7)),
			event(results.LifeStarting, "a"), event(results.LifeSpawned, "a", identity(8)), event(results.LifeStopped,
				"a", proof(gone)),
		}, "a:7"},
		{"an end without a beginning", []results.Event{
			event(results.LifeSpawned, "a", identity(7)),
			event(results.LifeStopped, "b", proof(gone)), event(results.StepStarted, ""),
		}, ""},
	} {
		var got []string
		for _, life := range OpenLives(c.events) {
			name := life.Life
			if life.Process.PID != 0 {
				name += ":" + string(rune('0'+life.Process.PID))
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: OpenLives() = %q, want %q", c.name, text, c.want)
		}
	}
}

func TestOpenLifeKeepsWhatWasSeenBefore(t *testing.T) {
	t.Parallel()
	lives := OpenLives([]results.Event{
		{Kind: results.LifeStarting, Life: "a", Process: &results.Process{
			Cookie: "run.x", VRAM: []results.VRAMProof{{Device: "gpu-0", BaselineBytes: 5}},
			Container: &results.ContainerInfo{Name: "n"},
		}},
		{Kind: results.LifeSpawned, Life: "a", Process: &results.Process{Cookie: "run.x", PID: 7}},
		{Kind: results.LifeGrown, Life: "a", Process: &results.Process{Members: []results.Member{{
			PID:       8,
			StartTime: 1,
		}}, ShmFiles: []results.SharedFile{{Device: 27, Inode: 5}}}},
		{Kind: results.LifeGrown, Life: "a", Process: &results.Process{Members: []results.Member{{
			PID:       9,
			StartTime: 2,
		}}}},
	})
	want := results.Process{
		Cookie: "run.x", PID: 7, VRAM: []results.VRAMProof{{Device: "gpu-0", BaselineBytes: 5}},
		Container: &results.ContainerInfo{Name: "n"}, Members: []results.Member{
			{PID: 8, StartTime: 1},
			{PID: 9, StartTime: 2},
		},
		ShmFiles: []results.SharedFile{{Device: 27, Inode: 5}},
	}
	if diff := cmp.Diff(want, lives[0].Process); diff != "" {
		t.Errorf("OpenLives(): (-want +got)\n%s", diff)
	}
}

// A server gets the time that a stop within its run would have given it.
func TestGracesAreThoseOfTheStart(t *testing.T) {
	t.Parallel()
	lives := OpenLives([]results.Event{
		{Kind: results.LifeStarting, Life: "a", Process: &results.Process{GraceS: 1.5, OrphanGraceS: 7}},
		{Kind: results.LifeSpawned, Life: "a", Process: &results.Process{PID: 7}},
	})
	for _, c := range []struct {
		name             string
		cleaner          Cleaner
		noted            results.Process
		program, orphans time.Duration
	}{
		{"noted", Cleaner{}, lives[0].Process, 1500 * time.Millisecond, 7 * time.Second},
		{"of an older journal", Cleaner{}, results.Process{PID: 7}, 30 * time.Second, 20 * time.Second},
		{"given by the caller", Cleaner{Grace: time.Second}, lives[0].Process, time.Second, time.Second},
	} {
		if program, orphans := c.cleaner.graces(c.noted); program != c.program || orphans != c.orphans {
			t.Errorf("%s: graces() = %v, %v, want %v, %v", c.name, program, orphans, c.program, c.orphans)
		}
	}
}

// After a reboot nothing is looked for but the cookie, and no memory waited
// for.
func TestCleanerAfterReboot(t *testing.T) {
	t.Parallel()
	self, _ := proc.System.StartTime(os.Getpid())
	left, err := Cleaner{}.Find(t.Context(), OpenLife{Life: "a", Process: results.Process{
		PID: os.Getpid(), StartTime: self, BootID: "an earlier one", Session: os.Getpid(), Cookie: rand.Text(),
	}})
	if err != nil || !left.Empty() || !left.Rebooted() {
		t.Fatalf("Find() = %v, %v, want nothing", left.Processes(), err)
	}
	proof, err := Cleaner{}.End(t.Context(), left)
	if err != nil || !proof.Clean() || len(proof.Signals) != 0 {
		t.Errorf("End() = %+v, %v, want a clean proof without a signal", proof, err)
	}
	if told := left.Stopped(proof, err); !strings.Contains(told.Message, "rebooted") {
		t.Errorf("Stopped() = %+v, want it to mention the reboot", told)
	}
}

// Memory that processes of a killed run held must come back, too; what was
// held before they began is in their baseline.
func TestCleanerProvesMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after int64
		freed bool
	}{{"back", 3 * giga, true}, {"not back", 40 * giga, false}} {
		synctest.Test(t, func(t *testing.T) {
			memory := steadyMemory{used: c.after, holder: results.GPUHolder{
				PID: 1, Device: "gpu-0",
				Bytes: new(int64(2 * giga)),
			}}
			left := &Leftover{OpenLife: OpenLife{Process: results.Process{
				StartTime: 1 << 62, VRAM: []results.VRAMProof{{Device: "gpu-0", BaselineBytes: 3 * giga}},
			}}}
			proofs, failure := Cleaner{GPUs: memory}.proveMemory(context.Background(), left)
			if len(proofs) != 1 || proofs[0].Freed != c.freed || (failure == nil) != c.freed {
				t.Errorf("%s: proveMemory() = %+v, %v, want freed %v", c.name, proofs, failure, c.freed)
			}
		})
	}
}

const giga = 1 << 30

// steadyMemory is the memory of one GPU that does not change.
type steadyMemory struct {
	used   int64
	holder results.GPUHolder
}

func (m steadyMemory) Used(context.Context) (map[string]int64, error) {
	return map[string]int64{"gpu-0": m.used}, nil
}

func (m steadyMemory) Holders(context.Context) ([]results.GPUHolder, error) {
	return []results.GPUHolder{m.holder}, nil
}
