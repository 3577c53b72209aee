package gpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/load"
	"github.com/shirou/gopsutil/v3/mem"

	"github.com/benchrig/bench/internal/proc"
)

// HostFacts is what environment.json says of the machine besides its GPUs.
type HostFacts struct {
	Hostname       string   `json:"hostname"`
	OS             string   `json:"os"`       // "linux"
	Platform       string   `json:"platform"` // distribution and its version
	Kernel         string   `json:"kernel"`
	Arch           string   `json:"arch"`
	Virtualization string   `json:"virtualization"` // "kvm"; "" on bare metal or unknown
	CPUModel       string   `json:"cpu_model"`
	Cores          *int     `json:"cores"`   // physical
	Threads        *int     `json:"threads"` // logical CPUs
	MemoryBytes    *int64   `json:"memory_bytes"`
	FreeBytes      *int64   `json:"memory_available_bytes"` // what a new process can get
	Load1          *float64 `json:"load_1m"`
	Load5          *float64 `json:"load_5m"`
	Load15         *float64 `json:"load_15m"`
	UptimeS        *int64   `json:"uptime_s"`
	Notes          []string `json:"notes"` // what could not be read, and why

	HostSettings
}

// Host reads the facts of this machine, at this moment.
func Host(ctx context.Context) HostFacts {
	facts := HostFacts{Arch: runtime.GOARCH, OS: runtime.GOOS, Notes: []string{}}
	facts.addSystem(ctx)
	facts.addCPU(ctx)
	facts.addMemory(ctx)
	settings, unknown := readHostSettings("")
	facts.HostSettings = settings
	facts.Notes = append(facts.Notes, unknown...)
	return facts
}

func (f *HostFacts) addSystem(ctx context.Context) {
	info, err := host.InfoWithContext(ctx)
	if err != nil || info == nil {
		f.note("system", err)
		return
	}

	f.Hostname = info.Hostname
	f.Kernel = info.KernelVersion
	f.Platform = info.Platform
	if info.PlatformVersion != "" {
		f.Platform += " " + info.PlatformVersion
	}
	if info.VirtualizationRole == "guest" {
		f.Virtualization = info.VirtualizationSystem
	}
	if info.Uptime > 0 {
		f.UptimeS = new(int64(info.Uptime))
	}
}

func (f *HostFacts) addCPU(ctx context.Context) {
	cpu := proc.System.CPU()
	f.CPUModel, f.Cores, f.Threads = cpu.Model, cpu.Cores, new(runtime.NumCPU())
	average, err := load.AvgWithContext(ctx)
	if err != nil || average == nil {
		f.note("load", err)
		return
	}
	f.Load1, f.Load5, f.Load15 = &average.Load1, &average.Load5, &average.Load15
}

func (f *HostFacts) addMemory(ctx context.Context) {
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil || memory == nil {
		f.note("memory", err)
		return
	}
	f.MemoryBytes, f.FreeBytes = new(int64(memory.Total)), new(int64(memory.Available))
}

func (f *HostFacts) note(what string, err error) {
	if err == nil {
		err = fmt.Errorf("the system does not say")
	}
	f.Notes = append(f.Notes, fmt.Sprintf("%s: %v", what, err))
}
