// Package look finds out about this machine for bench doctor: programs, GPUs,
// limits, disk, clock, ports, leftovers, and what a scenario needs.
//
// It starts nothing but tools, to ask for their versions, and changes nothing.
// What it found is judged by package doctor.
package look

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/doctor"
	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/load/calibrate"
	"github.com/benchrig/bench/scenarios"
)

// versionTime is what a program gets to tell its version; heavyTime one that
// loads a whole framework for it.
const (
	versionTime = 5 * time.Second
	heavyTime   = time.Minute
)

// Look finds out about this machine.
type Look struct {
	Process    machine.Process
	Out        string // folder that results will go to
	AskEngines bool   // also start engines that load for long before they print their version

	hooks *hooks.Runner
}

// View looks at the machine, and at what a scenario needs of it; nil: none.
func (l *Look) View(ctx context.Context, sc *scenarios.Scenario) doctor.View {
	l.hooks = &hooks.Runner{Environ: l.Process.Environ, DiskDir: l.Out}
	v := doctor.View{Host: gpu.Host(ctx)}
	if topology, err := cpus.Here(); err == nil {
		v.CPUs = &topology
	}
	broken := func(err error) {
		if err != nil {
			v.Broken = append(v.Broken, err.Error())
		}
	}

	v.Programs = l.installed(ctx)
	broken(l.graphics(ctx, &v))
	limit, err := process.RaiseFileLimit()
	v.OpenFiles = limit
	broken(err)
	var shm unix.Statfs_t
	if unix.Statfs("/dev/shm", &shm) == nil {
		v.ShmFree = new(int64(shm.Bavail) * shm.Bsize)
	}

	v.Disk = l.disk()
	v.Clock = readClock()
	for _, kind := range engines.All() {
		if kind.DefaultPort != 0 && !kind.External {
			free, err := ports.Find(ctx, "127.0.0.1", kind.DefaultPort, nil)
			v.Ports = append(v.Ports, doctor.Port{Launcher: kind.Name, Port: kind.DefaultPort, Taken: err != nil ||
				free != kind.DefaultPort})
		}
	}

	if err := process.BecomeSubreaper(); err != nil {
		v.Subreaper = err.Error()
	}

	v.Cgroups = process.PlannedCgroup("doctor") != ""
	v.Calibration, err = calibrate.Stored()
	broken(err)
	broken(l.state(&v))
	if sc != nil {
		v.Needs = l.needs(ctx, sc, v)
	}

	return v
}

// program is one that bench may start.
type program struct {
	name  string
	kind  doctor.ProgramKind
	heavy string // Python package whose version stands for the program's
	argv  []string
}

// programs are the engines' own, and the container engines.
func programs() []program {
	var all []program
	for _, kind := range engines.All() {
		if p := kind.Program; p.Name != "" {
			all = append(all, program{p.Name, doctor.Engine, p.Package, p.VersionArgs})
		}
	}
	for _, name := range []string{"docker", "podman"} {
		all = append(all, program{
			name, doctor.ContainerEngine, "",
			[]string{"version", "--format", "{{.Server.Version}}"},
		})
	}
	return all
}

// installed looks for everything that bench may start.
func (l *Look) installed(ctx context.Context) []doctor.Program {
	var out []doctor.Program
	for _, p := range programs() {
		path, err := process.LookPath(p.name, "", l.Process.Environ)
		if err != nil {
			continue
		}
		found := doctor.Program{Name: p.name, Kind: p.kind, Path: path}
		if p.heavy != "" && (!l.AskEngines || p.argv == nil) {
			found.Version = pythonVersion(path, p.heavy)
			out = append(out, found)
			continue
		}
		limit := versionTime
		if p.heavy != "" {
			limit = heavyTime
		}
		record := l.hooks.Run(ctx, scenarios.Hook{
			Name: p.name, Command: append([]string{path}, p.argv...),
			Timeout: limit,
		}, nil)
		if record.OK {
			found.Version = versionOf(record.Message)
		} else {
			found.Trouble = record.Message
		}
		out = append(out, found)
	}

	return out
}

// versionOf finds the version in what a program says about itself.
func versionOf(said string) string {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "version: "); ok { // llama-server, in the middle of others
			return rest
		}
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	words := strings.Fields(last)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// pythonVersion is the version of a package in the environment that a program
// was installed into, by the folder that pip left; "" if it left none.
func pythonVersion(program, pkg string) string {
	places := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		places = append(places, real)
	}
	for _, place := range places {
		pattern := filepath.Join(filepath.Dir(filepath.Dir(place)), "lib", "python3*", "*-packages", pkg+"-*.dist-info")
		found, _ := filepath.Glob(pattern) // the pattern is sound
		for _, folder := range found {
			name := strings.TrimSuffix(filepath.Base(folder), ".dist-info")
			return strings.TrimPrefix(name, pkg+"-")
		}
	}
	return ""
}

// graphics looks at GPUs, who reads them and who uses them.
func (l *Look) graphics(ctx context.Context, v *doctor.View) error {
	options := l.Process.GPUOptions()
	inventory, err := gpu.Detect(ctx, options)
	if err != nil {
		return fmt.Errorf("look for GPUs: %w", err)
	}

	v.GPUs, v.Notes = inventory, inventory.Notes
	l.hooks.GPUs = l.Process.GPUStates(inventory)
	if len(inventory.GPUs) == 0 {
		return nil
	}

	samplers, notes, err := gpu.Samplers(ctx, options, inventory, "auto")
	v.Notes = append(v.Notes, notes...)
	if err != nil {
		v.Notes = append(v.Notes, err.Error())
	}

	for _, s := range samplers {
		v.Samplers = append(v.Samplers, s.Name())
		_ = s.Close() // it only read
	}

	watcher := gpu.NewWatcher(options, inventory)
	defer func() { _ = watcher.Close() }() // it only read

	v.Holders, err = watcher.Holders(ctx)
	if err != nil {
		v.Unseen = err.Error()
	}

	return nil
}

func (l *Look) disk() doctor.Disk {
	d := doctor.Disk{Dir: l.Out}
	if abs, err := filepath.Abs(l.Out); err == nil {
		d.Dir = abs
	}
	free, err := hooks.FreeDisk(d.Dir)
	if err != nil {
		d.Error = err.Error()
		return d
	}
	d.Free = &free
	return d
}

// readClock asks the kernel whether something keeps its clock right.
func readClock() doctor.Clock {
	const unsynchronised = 0x40 // STA_UNSYNC
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return doctor.Clock{}
	}
	return doctor.Clock{Synchronised: new(t.Status&unsynchronised == 0), ErrorS: float64(t.Maxerror) / 1e6}
}

// state looks at what bench remembers of the machine.
func (l *Look) state(v *doctor.View) error {
	machine, err := l.Process.OpenState()
	if err != nil {
		return err
	}
	if owner, busy := machine.Owner(); busy {
		v.Busy = owner.String()
	}
	runs, err := machine.Runs()
	for _, run := range runs {
		if v.Busy == "" || !strings.Contains(v.Busy, run.Dir) {
			v.Leftovers = append(v.Leftovers, run.Dir)
		}
	}
	return err
}
