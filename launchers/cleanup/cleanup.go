package cleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/shm"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// Leftover is what there still is of a server that was left behind.
type Leftover struct {
	OpenLife
	// Containers are those that carry the life's label.
	Containers []results.ContainerInfo
	// Others have the run's label and no name of ours; they are left alone.
	Others []results.ContainerInfo
	// Unseen says why it is not known whether there is a container; nil: it
	// can, or the server was none.
	Unseen error

	remains *process.Remains
	environ []string
}

// Cleaner finds and ends what servers of an earlier run have left. The zero
// value looks at no GPU.
type Cleaner struct {
	Environ  []string         // for the clients of container engines
	GPUs     vram.Memory      // nil: memory is not looked at
	GPUBytes map[string]int64 // the whole memory of devices by id
	Vendor   string           // of the devices: decides how long to wait for memory
	Grace    time.Duration    // from SIGTERM to SIGKILL; 0: what the server's start noted, or 30 s
	VRAM     vram.Policy      // of the wait for memory
}

const (
	cleanGrace = 30 * time.Second
	// cleanOrphanGrace is the longest that processes get whose leader is gone, where the kind
	// of server is not known: vLLM's engine needs that long.
	cleanOrphanGrace = 20 * time.Second
)

// Find looks for what is left of a life. What cannot be shown to be ours is
// not ours: see process.Find.
func (c Cleaner) Find(ctx context.Context, life OpenLife) (*Leftover, error) {
	remains, err := process.Find(life.Process)
	if err != nil {
		return nil, fmt.Errorf("look for server %s: %w", life.Life, err)
	}
	left := &Leftover{OpenLife: life, remains: remains, environ: c.Environ}
	if info := life.Process.Container; info != nil {
		left.Containers, left.Unseen = container.Leftovers(ctx, info.Engine, life.Process.Cookie, c.Environ)
	}
	return left, nil
}

// FindRun looks for all processes that carry the cookie of a run or of one of
// its servers.
func (c Cleaner) FindRun(cookie string) (*Leftover, error) {
	remains, err := process.FindRun(cookie)
	if err != nil {
		return nil, fmt.Errorf("look for processes of a run: %w", err)
	}
	return &Leftover{OpenLife: OpenLife{Process: results.Process{Cookie: cookie}}, remains: remains}, nil
}

// FindAll is FindRun, and looks for the run's containers as well; engines are
// those that it used. Where the machine was started again since, only containers
// can be left.
func (c Cleaner) FindAll(ctx context.Context, cookie string, engines []string, rebooted bool) (*Leftover, error) {
	left := &Leftover{OpenLife: OpenLife{Process: results.Process{Cookie: cookie}}, remains: process.None()}
	if !rebooted {
		var err error
		if left, err = c.FindRun(cookie); err != nil {
			return nil, err
		}
	}

	left.environ = c.Environ
	left.Containers, left.Others, left.Unseen = container.LeftoversOfRun(ctx, cookie, engines, c.Environ)

	return left, nil
}

// Processes are the living processes that are left.
func (l *Leftover) Processes() []proc.Process { return l.remains.Procs() }

// Strangers are processes that look like the server's and are left alone.
func (l *Leftover) Strangers() []process.Stranger { return l.remains.Strangers() }

// Empty reports whether nothing is left, as far as can be seen.
func (l *Leftover) Empty() bool {
	return len(l.Processes()) == 0 && len(l.Containers) == 0 && l.Unseen == nil
}

// Rebooted reports whether the machine was started again since the life began.
func (l *Leftover) Rebooted() bool {
	return l.Process.BootID != "" && l.Process.BootID != proc.System.BootID()
}

// End ends what was found, and nothing else, as a stop does: SIGTERM, grace,
// SIGKILL, proof. A done ctx means SIGKILL at once. The error says what cannot
// be ended or proven.
func (c Cleaner) End(ctx context.Context, l *Leftover) (results.Proof, error) {
	began, base := time.Now(), context.WithoutCancel(ctx)
	found := !l.Empty()
	errs := []error{l.Unseen}
	for _, info := range l.Containers {
		errs = append(errs, container.End(base, info, l.environ))
	}

	grace, orphanGrace := c.graces(l.Process)
	proof, err := l.remains.End(ctx, grace, orphanGrace)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		proof.PIDsGone = false // nor the containers
	}

	proof.PortFree = l.Process.Port == 0 || ports.AwaitFree(base, "", l.Process.Port)
	if found && proof.PIDsGone && !l.Rebooted() {
		var failure *results.Failure
		if proof.VRAM, failure = c.proveMemory(ctx, l); failure != nil {
			errs = append(errs, failure)
		}
	}

	if proof.PIDsGone && l.Process.BootID != "" && !l.Rebooted() {
		proof.ShmRemoved, proof.ShmLeft = shm.Here().Remove(l.Process.ShmFiles)
	}

	if proof.PIDsGone && !l.Rebooted() {
		errs = append(errs, RemovePrivate(l.Process.Private))
	}

	proof.StopS = time.Since(began).Seconds()
	return proof, errors.Join(errs...)
}

// graces are what the server's program and the processes that outlive it get between
// SIGTERM and SIGKILL: what a stop within its run would have given them, where known.
func (c Cleaner) graces(noted results.Process) (program, orphans time.Duration) {
	if c.Grace == 0 && noted.GraceS > 0 {
		second := float64(time.Second)
		return time.Duration(noted.GraceS * second), time.Duration(noted.OrphanGraceS * second)
	}
	grace := cmp.Or(c.Grace, cleanGrace)
	return grace, min(grace, cleanOrphanGrace)
}

// proveMemory waits for the memory that the processes held which were just
// ended, as it was before they began.
func (c Cleaner) proveMemory(ctx context.Context, l *Leftover) ([]results.VRAMProof, *results.Failure) {
	if c.GPUs == nil || len(l.Process.VRAM) == 0 {
		return nil, nil
	}
	base := context.WithoutCancel(ctx)
	setup := c.setup()
	claim := vram.Restore(setup, l.Process.VRAM, olderHolders(base, setup, l.Process.StartTime))
	nobody := func(int) (bool, error) { return false, nil } // all that are ours have ended

	return claim.Prove(base, ctx.Done(), nobody)
}

func (c Cleaner) setup() vram.Setup {
	return vram.Setup{Memory: vram.NewReader(c.GPUs), Sizes: c.GPUBytes, Policy: c.VRAM, Vendor: c.Vendor}
}

// olderHolders are those that held memory before the server began: their part
// is in the baseline.
func olderHolders(ctx context.Context, setup vram.Setup, began uint64) []results.GPUHolder {
	all, err := setup.Memory.Holders(ctx)
	if err != nil {
		return nil // the proof meets the same error
	}
	var older []results.GPUHolder
	for _, h := range all {
		if start, seen := proc.System.StartTime(h.PID); seen && start < began {
			older = append(older, h)
		}
	}
	return older
}

// Stopped is the journal's event for a leftover that was ended, or not.
func (l *Leftover) Stopped(proof results.Proof, err error) results.Event {
	event := results.Event{Kind: results.LifeStopped, Life: l.Life, Replica: l.Replica, Proof: &proof}
	switch {
	case err != nil:
		event.Failure = results.Failf(results.FailNoProof, "left by a run that was cut off: %v", err)
	case l.Rebooted():
		event.Message = "the machine was rebooted since"
	case l.Empty():
		event.Message = "left by a run that was cut off; it was gone already"
	default:
		event.Message = fmt.Sprintf("left by a run that was cut off: %s and %s stopped",
			text.Count(len(l.Processes()), "process"), text.Count(len(l.Containers), "container"))
	}
	return event
}
