package launchers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

const (
	vramPoll     = time.Second      // between looks at memory
	holdersEvery = 5                // looks at memory to a look at who holds it
	vramReadTime = 20 * time.Second // a driver that takes longer is stuck
	hurriedWait  = 5 * time.Second  // for memory, of someone in a hurry

	vramTimeout    = 2 * time.Minute
	vramTimeoutAMD = 15 * time.Minute // seen on machines with eight GPUs
	minTolerance   = 512 << 20        // bytes
	tolerancePart  = 100              // of the device's memory
)

// vramLedger knows the baselines of devices that servers use. Several servers
// on one device share the one taken before the first of them.
type vramLedger struct {
	mu      sync.Mutex
	devices map[string]*vramEntry // guarded by mu
}

type vramEntry struct {
	baseline int64 // bytes in use
	foreign  int64 // of these, bytes of others as far as they are known
	alive    int   // servers whose processes are not proven gone
	claims   int   // servers that still need the entry
}

// vramClaim is what one server's proof of stop needs to know of memory.
type vramClaim struct {
	memory  GPUMemory
	ledger  *vramLedger
	devices []string // that could be read before the start
	policy  recipe.VRAMPolicy
	vendor  string
	sizes   map[string]int64
	notes   []string // for the journal: what could not be read, who else was there

	left bool // its processes are gone
}

// claimMemory takes the baselines of the spec's devices, after others have
// left them as far as the policy asks for that. The claim is nil where memory
// is not looked at.
func (l *Launcher) claimMemory(ctx context.Context, spec recipe.Spec) (*vramClaim, *results.Failure) {
	if l.GPUs == nil || len(spec.Devices) == 0 {
		return nil, nil
	}
	c := &vramClaim{memory: l.GPUs, ledger: &l.vram, policy: spec.VRAM, vendor: spec.Vendor, sizes: l.GPUBytes}
	foreign, failure := c.awaitOthers(ctx, spec.Devices, l.ownPIDs)
	if failure != nil {
		return nil, failure
	}
	used, err := c.read(ctx)
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("GPU memory cannot be read, so its return will not be proven: %v", err))
		return c, nil
	}
	for _, device := range spec.Devices {
		bytes, ok := used[device]
		if !ok {
			c.notes = append(c.notes, fmt.Sprintf("memory of GPU %s cannot be read, so its return will not be proven", device))
			continue
		}
		c.devices = append(c.devices, device)
		c.ledger.enter(device, bytes, bytesOn(foreign, device))
	}
	return c, nil
}

func (v *vramLedger) enter(device string, used, foreign int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.devices == nil {
		v.devices = make(map[string]*vramEntry)
	}
	if v.devices[device] == nil {
		v.devices[device] = &vramEntry{baseline: used, foreign: foreign}
	}
	v.devices[device].alive++
	v.devices[device].claims++
}

// baseline is what the journal keeps of the claim.
func (c *vramClaim) baseline() []results.VRAMProof {
	if c == nil {
		return nil
	}
	var list []results.VRAMProof
	for _, device := range c.devices {
		entry, _ := c.ledger.entry(device)
		list = append(list, results.VRAMProof{Device: device, BaselineBytes: entry.baseline})
	}
	return list
}

func (c *vramClaim) message() string {
	if c == nil {
		return ""
	}
	return strings.Join(c.notes, "; ")
}

func (v *vramLedger) entry(device string) (vramEntry, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	entry, ok := v.devices[device]
	if !ok {
		return vramEntry{}, false
	}
	return *entry, true
}

// leave notes that the server's processes are gone: the last server of a
// device proves that its memory is back.
func (c *vramClaim) leave() {
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

// release gives up the claim.
func (c *vramClaim) release() {
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

// read reads memory, within a limit: a stuck driver does not answer.
func (c *vramClaim) read(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, vramReadTime)
	defer cancel()
	return c.memory.Used(ctx)
}

func (c *vramClaim) holders(ctx context.Context) ([]results.GPUHolder, error) {
	ctx, cancel := context.WithTimeout(ctx, vramReadTime)
	defer cancel()
	return c.memory.Holders(ctx)
}

func (c *vramClaim) limit() time.Duration {
	usual := vramTimeout
	if c.vendor == "amd" {
		usual = vramTimeoutAMD
	}
	return cmp.Or(c.policy.Timeout, usual)
}

// tolerance is how much more than the baseline counts as back.
func (c *vramClaim) tolerance(device string) int64 {
	return cmp.Or(c.policy.Tolerance, max(minTolerance, c.sizes[device]/tolerancePart))
}

// awaitOthers looks for processes of others on the devices and does what the
// policy says. It returns those that are there at the end.
func (c *vramClaim) awaitOthers(ctx context.Context, devices []string, own func() []int) ([]results.GPUHolder, *results.Failure) {
	deadline := time.Now().Add(c.limit())
	for {
		all, err := c.holders(ctx)
		if err != nil {
			c.notes = append(c.notes, fmt.Sprintf("who else uses the GPUs cannot be seen: %v", err))
			return nil, nil
		}
		foreign := others(all, devices, own())
		heavy := c.heavy(foreign, devices)
		switch {
		case len(heavy) == 0:
			return foreign, nil
		case c.policy.Foreign != "wait" && c.policy.Foreign != "refuse":
			c.notes = append(c.notes, "others use the GPUs: "+describeHolders(heavy))
			return foreign, nil
		case c.policy.Foreign == "refuse" || time.Now().After(deadline):
			return nil, results.Failf(results.FailForeignGPU, "others use the GPUs of this server: %s; end them, name other devices in gpus:, or say vram.foreign: report",
				describeHolders(heavy))
		case !sleep.For(ctx, vramPoll):
			return nil, results.Interrupted(ctx, "waiting for others to leave the GPUs")
		}
	}
}

// others are the holders on the devices that are not ours. A holder whose
// device is not known may be on any.
func others(all []results.GPUHolder, devices []string, own []int) []results.GPUHolder {
	return slices.DeleteFunc(slices.Clone(all), func(h results.GPUHolder) bool {
		return slices.Contains(own, h.PID) || h.Device != "" && !slices.Contains(devices, h.Device)
	})
}

// heavy are the holders whose memory on a device is more than the tolerance
// together, or not known: a desktop on a device is no contender.
func (c *vramClaim) heavy(foreign []results.GPUHolder, devices []string) []results.GPUHolder {
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
	texts := make([]string, 0, len(holders))
	for _, h := range holders {
		text := fmt.Sprintf("pid %d (%s)", h.PID, cmp.Or(h.Name, "unknown program"))
		if h.Bytes != nil {
			text += " holds " + gibibytes(*h.Bytes)
		}
		if h.Device != "" {
			text += " of GPU " + h.Device
		}
		if h.Ours {
			text += ", ours"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func gibibytes(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
