package vram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

const (
	vramPoll     = time.Second     // between looks at memory
	holdersEvery = 5               // looks at memory to a look at who holds it
	killNowWait  = 5 * time.Second // for memory, once it was asked to be killed at once

	vramTimeout    = 2 * time.Minute
	vramTimeoutAMD = 15 * time.Minute // seen on machines with eight GPUs
	minTolerance   = 512 << 20        // bytes
	tolerancePart  = 100              // of the device's memory
)

// Ledger knows the baselines of devices that servers use. Several servers
// on one device share the one taken before the first of them.
type Ledger struct {
	mu      sync.Mutex
	devices map[string]*entry // guarded by mu
}

type entry struct {
	baseline int64 // bytes in use
	foreign  int64 // of these, bytes of others as far as they are known
	alive    int   // servers whose processes are not proven gone
	claims   int   // servers that still need the entry
}

// Claim is what one server's proof of stop needs to know of memory.
type Claim struct {
	Setup
	ledger  *Ledger
	devices []string // that could be read before the start
	notes   []string // for the journal: what could not be read, who else was there

	left bool // its processes are gone
}

// Setup is what a claim needs of its server.
type Setup struct {
	Memory *Reader          // nil: memory is not looked at
	Sizes  map[string]int64 // the whole memory of devices by id, bytes
	Policy Policy
	Vendor string // of the devices: decides how long to wait for memory
}

// Policy limits the wait for video memory, see scenarios.VRAM.
type Policy struct {
	Timeout   time.Duration // 0: 2 minutes, AMD 15
	Tolerance int64         // bytes; 0: the larger of 512 MiB and 1 %
	Foreign   string        // "report", "wait", "refuse"

	// Share is the part of a device's memory that the server does not start
	// without; 0: not known.
	Share float64
	// Weights is what the model's weights take of each device, bytes; 0: not known.
	Weights int64
}

// Claim takes the baselines of devices, after others have left them as far as
// the policy asks for that; own are our processes. The claim is nil where memory
// is not looked at.
func (v *Ledger) Claim(ctx context.Context, setup Setup, devices []string, own func() []int) (*Claim,
	*results.Failure,
) {
	if setup.Memory == nil || len(devices) == 0 {
		return nil, nil
	}

	c := &Claim{Setup: setup, ledger: v}
	foreign, failure := c.awaitOthers(ctx, devices, own)
	if failure != nil {
		return nil, failure
	}

	used, err := c.Memory.Used(ctx)
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("GPU memory cannot be read, so bench cannot prove that it is freed: %v",
			err))
		return c, nil
	}

	for _, device := range devices {
		bytes, ok := used[device]
		if !ok {
			c.notes = append(c.notes, fmt.Sprintf("memory of GPU %s cannot be read, so bench cannot prove that it is "+
				"freed",
				device))
			continue
		}
		c.devices = append(c.devices, device)
		c.ledger.enter(device, bytes, bytesOn(foreign, device))
	}

	return c, nil
}

func (v *Ledger) enter(device string, used, foreign int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.devices == nil {
		v.devices = make(map[string]*entry)
	}
	if v.devices[device] == nil {
		v.devices[device] = &entry{baseline: used, foreign: foreign}
	}
	v.devices[device].alive++
	v.devices[device].claims++
}

// Baseline is what the journal keeps of the claim.
func (c *Claim) Baseline() []results.VRAMProof {
	if c == nil {
		return nil
	}
	var list []results.VRAMProof
	for _, device := range c.devices {
		entry, _ := c.ledger.lookUp(device)
		list = append(list, results.VRAMProof{
			Device: device, BaselineBytes: entry.baseline,
			ForeignBytes: &entry.foreign,
		})
	}
	return list
}

// Notes is what people should know of the claim, joined by "; "; "" for a nil claim.
func (c *Claim) Notes() string {
	if c == nil {
		return ""
	}
	return strings.Join(c.notes, "; ")
}

func (v *Ledger) lookUp(device string) (entry, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.devices[device]
	if !ok {
		return entry{}, false
	}
	return *found, true
}

// leave notes that the server's processes are gone: the last server of a
// device proves that its memory is back.
func (c *Claim) leave() {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.left {
		return
	}
	c.left = true
	for _, device := range c.devices {
		c.ledger.devices[device].alive--
	}
}

// Restore is the claim of a server that an earlier program started, on the
// devices with these baselines; older are the holders from before that start.
func Restore(setup Setup, baselines []results.VRAMProof, older []results.GPUHolder) *Claim {
	c := &Claim{Setup: setup, ledger: &Ledger{}}
	for _, b := range baselines {
		c.devices = append(c.devices, b.Device)
		foreign := bytesOn(older, b.Device)
		if b.ForeignBytes != nil {
			foreign = *b.ForeignBytes
		}
		c.ledger.enter(b.Device, b.BaselineBytes, foreign)
	}

	return c
}

// Release gives up the claim.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	c.leave()
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	for _, device := range c.devices {
		entry := c.ledger.devices[device]
		if entry.claims--; entry.claims == 0 {
			delete(c.ledger.devices, device)
		}
	}
	c.devices = nil
}

func (c *Claim) limit() time.Duration {
	usual := vramTimeout
	if c.Vendor == "amd" {
		usual = vramTimeoutAMD
	}
	return cmp.Or(c.Policy.Timeout, usual)
}

// tolerance is how much more than the baseline counts as back.
func (c *Claim) tolerance(device string) int64 {
	return cmp.Or(c.Policy.Tolerance, max(minTolerance, c.Sizes[device]/tolerancePart))
}

// awaitOthers looks for processes of others on the devices and does what the
// policy says. It returns those that are there at the end.
func (c *Claim) awaitOthers(ctx context.Context, devices []string, own func() []int) ([]results.GPUHolder,
	*results.Failure,
) {
	deadline := time.Now().Add(c.limit())
	for {
		all, err := c.Memory.Holders(ctx)
		if ctx.Err() != nil {
			return nil, results.Interrupted(ctx, "waiting for others to leave the GPUs")
		}
		if err != nil {
			c.notes = append(c.notes, fmt.Sprintf("other users of the GPUs cannot be listed: %v", err))
			return nil, nil
		}

		foreign := others(all, devices, own())
		heavy := c.heavy(foreign, devices)
		switch {
		case len(heavy) == 0:
			return foreign, nil
		case c.Policy.Foreign != "wait" && c.Policy.Foreign != "refuse":
			if failure := c.tooLittle(foreign, devices); failure != nil {
				return nil, failure
			}
			c.notes = append(c.notes, "other processes use the GPUs: "+describeHolders(heavy))
			return foreign, nil
		case c.Policy.Foreign == "refuse" || time.Now().After(deadline):
			return nil, results.Failf(results.FailForeignGPU,
				"other processes use the GPUs of this server: %s; stop them, name other devices in gpus:, "+
					"or say vram.foreign: report",
				describeHolders(heavy))
		case !sleep.For(ctx, vramPoll):
			return nil, results.Interrupted(ctx, "waiting for others to leave the GPUs")
		}
	}
}

// tooLittle refuses a server that would not fit beside what others hold.
func (c *Claim) tooLittle(foreign []results.GPUHolder, devices []string) *results.Failure {
	for _, device := range devices {
		held, size := bytesOn(foreign, device), c.Sizes[device]
		if size > 0 && c.Policy.Share > 0 && float64(held) > (1-c.Policy.Share)*float64(size) {
			return results.Failf(results.FailForeignGPU,
				"others hold %s of %s GiB of GPU %s, and the server asks for %.0f %%: %s; end them, name other "+
					"devices in gpus:, or lower what the server asks for",
				text.Gibibytes(&held), text.Gibibytes(&size), device, 100*c.Policy.Share, describeHolders(foreign))
		}
		// weights that would not fit alone are the engine's to refuse
		if weights := c.Policy.Weights; weights > 0 && weights <= size && held > size-weights {
			return results.Failf(results.FailForeignGPU,
				"others hold %s of %s GiB of GPU %s, and the model's weights alone take %s: %s; end them, "+
					"or name other "+
					"devices in gpus:",
				text.Gibibytes(&held), text.Gibibytes(&size), device, text.Gibibytes(&weights),
				describeHolders(foreign))
		}
	}

	return nil
}

// others are the holders on the devices that are not ours. A holder whose
// device is not known may be on any.
func others(all []results.GPUHolder, devices []string, own []int) []results.GPUHolder {
	return slices.DeleteFunc(slices.Clone(all), func(h results.GPUHolder) bool {
		return slices.Contains(own, h.PID) || h.Device != "" && !slices.Contains(devices, h.Device)
	})
}

// heavy are the holders whose memory on a device is more than the tolerance
// together, or not known: a desktop on a device is not a contender.
func (c *Claim) heavy(foreign []results.GPUHolder, devices []string) []results.GPUHolder {
	var heavy []results.GPUHolder
	for _, device := range append([]string{""}, devices...) {
		on := slices.DeleteFunc(slices.Clone(foreign), func(h results.GPUHolder) bool { return h.Device != device })
		unknown := slices.ContainsFunc(on, func(h results.GPUHolder) bool { return h.Bytes == nil })
		if unknown || bytesOn(on, device) > c.tolerance(device) {
			heavy = append(heavy, on...)
		}
	}
	return heavy
}

func bytesOn(holders []results.GPUHolder, device string) int64 {
	var sum int64
	for _, h := range holders {
		if h.Device == device && h.Bytes != nil {
			sum += *h.Bytes
		}
	}
	return sum
}

func describeHolders(holders []results.GPUHolder) string {
	list := make([]string, 0, len(holders))
	for _, h := range holders {
		line := fmt.Sprintf("pid %d (%s)", h.PID, cmp.Or(h.Name, "unknown program"))
		if h.Bytes != nil {
			line += " holds " + text.Gibibytes(h.Bytes) + " GiB"
		}
		if h.Device != "" {
			line += " of GPU " + h.Device
		}
		if h.Ours {
			line += ", ours"
		}
		list = append(list, line)
	}

	return strings.Join(list, ", ")
}
