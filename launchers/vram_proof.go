package launchers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/results"
)

// vramProving is the wait for memory after the processes of a server are gone.
type vramProving struct {
	claim  *vramClaim
	stray  func(pid int) (ours bool, err error) // ends a process of ours that was hidden
	began  time.Time
	proofs []results.VRAMProof
	err    error // of the last reading
}

// prove waits until the memory of the server's devices is back at the baseline.
// Holders that are ours are ended by stray, which reports whether they are;
// those of others are left alone, and their memory is not counted against us.
// Devices that other servers of ours still use are left out.
func (c *vramClaim) prove(ctx context.Context, hurry <-chan struct{}, stray func(int) (bool, error)) ([]results.VRAMProof, *results.Failure) {
	if c == nil {
		return nil, nil
	}
	c.leave()
	p := &vramProving{claim: c, stray: stray, began: time.Now()}
	for _, device := range c.devices {
		if entry, ok := c.ledger.entry(device); ok && entry.alive == 0 {
			p.proofs = append(p.proofs, results.VRAMProof{Device: device, BaselineBytes: entry.baseline})
		}
	}
	return p.await(ctx, hurry)
}

func (p *vramProving) await(ctx context.Context, hurry <-chan struct{}) ([]results.VRAMProof, *results.Failure) {
	deadline := p.began.Add(p.claim.limit())
	for look := 1; !p.look(ctx, look%holdersEvery == 0); look++ {
		if !time.Now().Before(deadline) {
			if p.look(ctx, true) {
				break
			}
			return p.proofs, p.failure()
		}
		timer := time.NewTimer(vramPoll)
		select {
		case <-timer.C:
		case <-hurry:
			hurry = nil
			deadline = earlier(deadline, time.Now().Add(hurriedWait))
		}
		timer.Stop()
	}
	return p.proofs, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// look reads memory once, if need be with its holders, and reports whether all
// of it is back.
func (p *vramProving) look(ctx context.Context, withHolders bool) bool {
	if len(p.proofs) == 0 {
		return true
	}
	used, err := p.claim.read(ctx)
	p.err = err
	if p.judge(used, nil) {
		return true
	}
	return withHolders && p.judge(used, p.seeHolders(ctx))
}

// seeHolders lists who holds memory of the devices that are not free, and ends
// those that are ours.
func (p *vramProving) seeHolders(ctx context.Context) []results.GPUHolder {
	all, err := p.claim.holders(ctx)
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

func (p *vramProving) waiting() []string {
	var devices []string
	for _, proof := range p.proofs {
		if !proof.Freed {
			devices = append(devices, proof.Device)
		}
	}
	return devices
}

// judge compares the memory in use with the baselines. What holders that are
// not ours have taken since is not ours to bring back; they must be those of
// the same moment.
func (p *vramProving) judge(used map[string]int64, holders []results.GPUHolder) bool {
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
		entry, _ := p.claim.ledger.entry(proof.Device)
		allowed := proof.BaselineBytes + p.claim.tolerance(proof.Device)
		taken := max(0, foreign-entry.foreign)
		proof.Freed = ok && bytes-taken <= allowed
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
func (p *vramProving) failure() *results.Failure {
	var texts []string
	for _, proof := range p.proofs {
		if proof.Freed {
			continue
		}
		text := "GPU " + proof.Device
		if proof.AfterBytes == nil {
			text += " cannot be read"
		} else {
			text += fmt.Sprintf(" has %s in use, %s before the start", gibibytes(*proof.AfterBytes), gibibytes(proof.BaselineBytes))
		}
		if len(proof.Holders) > 0 {
			text += ": " + describeHolders(proof.Holders)
		} else {
			text += ", held by no process that can be seen"
		}
		texts = append(texts, text)
	}
	why := ""
	if p.err != nil {
		why = fmt.Sprintf(" (%v)", p.err)
	}
	took := time.Since(p.began).Round(time.Second)
	return results.Failf(results.FailNoProof, "memory is not back %v after the server is gone: %s%s; the box needs a look, or vram.timeout: more time",
		took, strings.Join(slices.Compact(texts), "; "), why)
}
