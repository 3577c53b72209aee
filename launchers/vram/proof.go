package vram

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// proving is the wait for memory after the processes of a server are gone.
type proving struct {
	claim  *Claim
	stray  func(pid int) (ours bool, err error) // ends a process of ours that was hidden
	began  time.Time
	proofs []results.VRAMProof
	err    error // of the last reading
}

// Prove waits until the memory of the server's devices is back at the baseline.
// Holders that are ours are ended by stray, which reports whether they are;
// those of others are left alone, and their memory is not counted against us.
// Devices that other servers of ours still use are left out.
func (c *Claim) Prove(ctx context.Context, killNow <-chan struct{}, stray func(int) (bool, error)) ([]results.VRAMProof,
	*results.Failure,
) {
	if c == nil {
		return nil, nil
	}
	c.leave()
	p := &proving{claim: c, stray: stray, began: time.Now()}
	for _, device := range c.devices {
		if entry, ok := c.ledger.lookUp(device); ok && entry.alive == 0 {
			p.proofs = append(p.proofs, results.VRAMProof{Device: device, BaselineBytes: entry.baseline})
		}
	}
	return p.await(ctx, killNow)
}

// await looks at memory until it is back or the limit has passed. A closed killNow
// leaves killNowWait. Neither waits for a driver that hangs.
func (p *proving) await(ctx context.Context, killNow <-chan struct{}) ([]results.VRAMProof, *results.Failure) {
	limited, cancel := awake.WithTimeout(ctx, p.claim.limit())
	defer cancel()

	soon := cancelSoonAfter(limited, killNow, cancel)
	defer soon()

	for look := 1; !p.look(limited, look%holdersEvery == 0); look++ {
		if sleep.For(limited, vramPoll) {
			continue
		}
		last, free := context.WithTimeout(ctx, killNowWait)
		defer free()
		if p.look(last, true) {
			break
		}
		return p.proofs, p.failure()
	}

	return p.proofs, nil
}

// cancelSoonAfter calls cancel some time after killNow is closed, unless ctx is done
// before. The returned function ends that.
func cancelSoonAfter(ctx context.Context, killNow <-chan struct{}, cancel func()) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		select {
		case <-killNow:
			sleep.For(ctx, killNowWait)
			cancel()
		case <-ctx.Done():
		}
	}()

	return stop
}

// look reads memory once, if need be with its holders, and reports whether all
// of it is back.
func (p *proving) look(ctx context.Context, withHolders bool) bool {
	if len(p.proofs) == 0 {
		return true
	}

	used, err := p.claim.Memory.Used(ctx)
	p.err = err
	if p.judge(used, nil) {
		return true
	}
	if err != nil || !withHolders && !p.besideOthers() {
		return false
	}

	return p.judge(used, p.seeHolders(ctx))
}

// besideOthers reports whether others held memory before the start: then it
// cannot be told from the sum alone whether ours is back.
func (p *proving) besideOthers() bool {
	return slices.ContainsFunc(p.waiting(), func(device string) bool {
		entry, _ := p.claim.ledger.lookUp(device)
		return entry.foreign > 0
	})
}

// seeHolders lists who holds memory of the devices that are not free, and ends
// those that are ours.
func (p *proving) seeHolders(ctx context.Context) []results.GPUHolder {
	all, err := p.claim.Memory.Holders(ctx)
	if err != nil {
		p.err = err
		return nil
	}

	var holders []results.GPUHolder
	for _, h := range others(all, p.waiting(), nil) {
		ours, err := p.stray(h.PID)
		if err != nil {
			p.err = err
		}
		h.Ours = ours
		holders = append(holders, h)
	}

	return holders
}

func (p *proving) waiting() []string {
	var devices []string
	for _, proof := range p.proofs {
		if !proof.Freed {
			devices = append(devices, proof.Device)
		}
	}
	return devices
}

// judge compares the memory in use with the baselines, each without what others
// hold: what they have taken since is not ours to bring back, and what they have
// given back must not hide ours. The holders must be those of the same moment;
// nil counts as nobody.
func (p *proving) judge(used map[string]int64, holders []results.GPUHolder) bool {
	all := true
	for i := range p.proofs {
		proof := &p.proofs[i]
		if proof.Freed {
			continue
		}
		bytes, ok := used[proof.Device]
		proof.AfterBytes = nil
		if ok {
			proof.AfterBytes = &bytes
		}
		on, foreign := holdersOn(holders, proof.Device)
		entry, _ := p.claim.ledger.lookUp(proof.Device)
		allowed := proof.BaselineBytes - entry.foreign + p.claim.tolerance(proof.Device)
		proof.Freed = ok && bytes-foreign <= allowed
		proof.TookS = time.Since(p.began).Seconds()
		proof.Holders = on
		all = all && proof.Freed
	}

	return all
}

// holdersOn are the holders on a device, and the bytes of those that are not
// ours.
func holdersOn(all []results.GPUHolder, device string) (on []results.GPUHolder, foreign int64) {
	for _, h := range all {
		if h.Device != device && h.Device != "" {
			continue
		}
		on = append(on, h)
		if !h.Ours && h.Device == device && h.Bytes != nil {
			foreign += *h.Bytes
		}
	}
	return on, foreign
}

// failure says which memory is not back and who holds it.
func (p *proving) failure() *results.Failure {
	var list []string
	for _, proof := range p.proofs {
		if proof.Freed {
			continue
		}
		line := "GPU " + proof.Device
		if proof.AfterBytes == nil {
			line += " cannot be read"
		} else {
			line += fmt.Sprintf(" has %s GiB in use, %s GiB before the start", text.Gibibytes(proof.AfterBytes),
				text.Gibibytes(&proof.BaselineBytes))
		}
		if len(proof.Holders) > 0 {
			line += ": " + describeHolders(proof.Holders)
		} else {
			line += ", held by no visible process"
		}
		list = append(list, line)
	}

	why := ""
	if p.err != nil {
		why = fmt.Sprintf(" (%v)", p.err)
	}

	took := time.Since(p.began).Round(time.Second)
	return results.Failf(results.FailNoProof, "GPU memory is not free %v after the server exited: %s%s; inspect the "+
		"machine, or raise vram.timeout",
		took, strings.Join(slices.Compact(list), "; "), why)
}
