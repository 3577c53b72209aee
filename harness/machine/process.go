package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/launchers/caches"
)

// sysfsRootVariable names a folder that is put before /sys and /proc when bench
// looks for GPUs: for tests, and for replays of a machine that is not at hand.
const sysfsRootVariable = "BENCH_SYSFS_ROOT"

// Process is what this process was given by whoever started it.
type Process struct {
	Stderr  io.Writer // notes and warnings
	Lookup  func(name string) (string, bool)
	Environ []string // the variables that Lookup finds, as NAME=value
	Self    string   // path of this program
	Version string   // of this program
}

// GPUOptions say where to look for GPUs.
func (p Process) GPUOptions() device.Options {
	root, _ := p.Lookup(sysfsRootVariable)
	return device.Options{Root: root}
}

// Visibility are the variables of this process that say which GPUs a server
// sees that inherits them.
func (p Process) Visibility() map[string]string {
	found := map[string]string{}
	for _, name := range gpu.VisibilityVariables() {
		if value, ok := p.Lookup(name); ok {
			found[name] = value
		}
	}
	return found
}

// HubCache are the variables of this process that say where downloaded models are.
func (p Process) HubCache() map[string]string {
	found := map[string]string{}
	for _, name := range caches.HubVariables() {
		if value, ok := p.Lookup(name); ok {
			found[name] = value
		}
	}
	return found
}

// Here is the whole of this machine, for plans.
func Here(inventory gpu.Inventory, self string) plan.Machine {
	vendor := inventory.Vendor()
	here := plan.Machine{Self: self, Vendor: vendor, GPUs: inventory.Count(), Devices: inventory.Of(vendor)}
	if topology, err := cpus.Here(); err == nil {
		here.CPUs = &topology
	}
	return here
}

// MachineOf is what this process may use of the machine: the shell's variables and
// the permissions of device files bound it, as they bound any program that the
// user starts there.
func (p Process) MachineOf(inventory gpu.Inventory, self string) plan.Machine {
	machine := Here(inventory, self)
	limits := gpu.LimitsOf(p.Visibility(), p.GPUOptions(), inventory)
	if len(limits.By) == 0 && len(limits.Parts) == 0 {
		return machine
	}

	for _, note := range limits.Notes {
		fmt.Fprintf(p.Stderr, "note: %s\n", note)
	}
	machine.Allowed = &limits

	return machine
}

// OpenState opens what bench remembers of this machine for this user.
func (p Process) OpenState() (*state.Store, error) {
	root, err := p.stateRoot()
	if err != nil {
		return nil, err
	}
	return state.Open(root)
}

// stateRoot is the folder for state of this user.
func (p Process) stateRoot() (string, error) {
	if dir, _ := p.Lookup("BENCH_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir, _ := p.Lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bench"), nil
	}
	if home, _ := p.Lookup("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "bench"), nil
	}
	return "", errors.New("no folder for the state of this machine: set HOME or BENCH_STATE_DIR")
}

// JobStateRoot is the folder for state of a scheduler's jobs: on the node
// itself, since locks need not work on a shared home, and kept over a reboot as
// the files are that it lists.
func (p Process) JobStateRoot() (string, error) {
	if dir, _ := p.Lookup("BENCH_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	root := fmt.Sprintf("/var/tmp/bench-%d", os.Getuid())
	var info unix.Stat_t
	switch err := unix.Lstat(root, &info); {
	case errors.Is(err, unix.ENOENT):
		return root, nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", root, err)
	case info.Mode&unix.S_IFMT != unix.S_IFDIR || info.Mode&0o077 != 0 || int(info.Uid) != os.Getuid():
		return "", fmt.Errorf("%s is not a folder of this user alone; remove it, or set BENCH_STATE_DIR", root)
	}
	return root, nil
}
