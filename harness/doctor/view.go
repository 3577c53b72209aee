package doctor

import (
	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/results"
)

// View is all that is known of a machine. What could not be learned is nil, or
// has an error beside it.
type View struct {
	Programs []Program
	Host     gpu.HostFacts
	GPUs     gpu.Inventory
	Samplers []string // that give readings of the GPUs
	Notes    []string // of the search for GPUs and samplers
	Holders  []results.GPUHolder
	Unseen   string // why holders could not be listed; "": they could

	OpenFiles uint64 // that a program may have
	ShmFree   *int64 // bytes of /dev/shm
	Ports     []Port
	Busy      string   // who else measures here; "": nobody
	Leftovers []string // folders of runs that may have left something behind
	Disk      Disk
	Clock     Clock
	Subreaper string // why orphans cannot be adopted; "": they can
	Cgroups   bool   // a control group may be made for each server

	CPUs *cpus.Topology // nil: not known

	Calibration *results.Calibration
	Broken      []string // what could not be read at all: state, calibration

	Needs []Need
}

// ProgramKind says what a program is for.
type ProgramKind string

// The kinds of programs.
const (
	Engine          ProgramKind = "engine"
	ContainerEngine ProgramKind = "container engine"
	Tool            ProgramKind = "tool"
)

// Program is one that bench may start.
type Program struct {
	Name    string
	Kind    ProgramKind
	Path    string // "": not found
	Version string // "": it did not say
	Trouble string // of its version or, for a container engine, of reaching its service
}

// Port is where a launcher's servers listen by default.
type Port struct {
	Launcher string
	Port     int
	Taken    bool
}

// Disk is where results go.
type Disk struct {
	Dir   string
	Free  *int64
	Error string
}

// Clock is what the kernel says about its own clock.
type Clock struct {
	Synchronised *bool
	ErrorS       float64 // at most
}

// Need is something that a scenario asks of the machine.
type Need struct {
	What   string // "variant tp8", "check governor performance"
	OK     bool
	Only   bool   // its lack keeps nothing from running
	Text   string // what was found
	Advice string
}
