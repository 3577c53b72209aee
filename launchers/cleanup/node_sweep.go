package cleanup

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// NodeSweeper looks at other nodes of the job.
type NodeSweeper interface {
	// Sweep ends what carries the cookie on a node, waits until the memory of
	// its GPUs is back at the baseline, and says what it found. Without a
	// baseline it reads one. The error says why nothing is known.
	Sweep(ctx context.Context, sweep NodeSweep) (results.NodeProof, error)
}

// NodeSweep says what to look for on a node.
type NodeSweep struct {
	Node     string
	Cookie   string
	Baseline []results.VRAMProof // nil: to be read
	KillNow  <-chan struct{}     // closed: SIGKILL at once; nil: never
	VRAM     vram.Policy
	Engine   string        // of containers that carry the cookie; "": there are none
	Grace    time.Duration // from SIGTERM to SIGKILL; 0: the node's default
	GPUs     []int         // of the node, by index, whose memory is looked at; nil: all that the job was given
}

// Sweep is a node's part of NodeSweeper.Sweep.
func (c Cleaner) Sweep(ctx context.Context, sweep NodeSweep) results.NodeProof {
	out := results.NodeProof{Node: sweep.Node, Ended: []int{}, Signals: []string{}, VRAM: []results.VRAMProof{}}
	left, err := c.FindRun(sweep.Cookie)
	if err != nil {
		out.Error = err.Error()
		return out
	}

	for _, p := range left.Processes() {
		out.Ended = append(out.Ended, p.PID)
	}

	if sweep.Engine != "" {
		left.environ = c.Environ
		left.Containers, left.Unseen = container.Leftovers(ctx, sweep.Engine, sweep.Cookie, c.Environ)
		for _, info := range left.Containers {
			out.Containers = append(out.Containers, info.Name)
		}
	}

	ctx, free := sleep.UnlessClosed(ctx, sweep.KillNow)
	defer free()

	proof, err := c.End(ctx, left)
	out.PIDsGone = proof.PIDsGone
	out.Signals = append(out.Signals, proof.Signals...)
	if err == nil {
		out.VRAM, err = c.sweepMemory(ctx, left, sweep)
	}
	if err != nil {
		out.Error = err.Error()
	}

	return out
}

// sweepMemory reads the baseline, or waits for it.
func (c Cleaner) sweepMemory(ctx context.Context, left *Leftover, sweep NodeSweep) ([]results.VRAMProof, error) {
	all := []results.VRAMProof{}
	switch {
	case c.GPUs == nil:
		return all, nil
	case sweep.Baseline != nil:
		left.Process.VRAM = sweep.Baseline
		proofs, failure := c.proveMemory(ctx, left)
		if failure != nil {
			return proofs, failure
		}
		return append(all, proofs...), nil
	}

	used, err := c.setup().Memory.Used(ctx)
	if err != nil {
		return all, nil //nolint:nilerr // memory that cannot be read is not proven, as on this machine
	}

	for device := range c.GPUBytes {
		if bytes, known := used[device]; known {
			all = append(all, results.VRAMProof{Device: device, BaselineBytes: bytes, AfterBytes: &bytes, Freed: true})
		}
	}

	slices.SortStableFunc(all, func(a, b results.VRAMProof) int { return strings.Compare(a.Device, b.Device) })
	return all, nil
}
