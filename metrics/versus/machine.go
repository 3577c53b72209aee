package versus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// machine is what environment.json says of a machine, as far as runs are compared
// by it.
type machine struct {
	Node string `json:"node"` // as the results name it; "": of an older bench
	GPU  struct {
		GPUs []struct {
			Name      string `json:"name"`
			Partition string `json:"partition"`
			Memory    string `json:"memory_mode"`
			VRAM      *int64 `json:"vram_bytes"`
			Facts     struct {
				Power *float64 `json:"power_limit_w"`
			} `json:"facts"`
		} `json:"gpus"`
		Drivers map[string]string `json:"drivers"`
		CUDA    *string           `json:"cuda"`
		ROCm    *string           `json:"rocm"`
	} `json:"gpu"`
	Host struct {
		Name      string   `json:"hostname"`
		Platform  string   `json:"platform"`
		Kernel    string   `json:"kernel"`
		CPU       string   `json:"cpu_model"`
		Threads   int      `json:"threads"`
		Governors []string `json:"cpu_governors"`
		Boot      []string `json:"boot_options"`
	} `json:"host"`
}

// RunFacts are facts of a run's machine by what they are called; nil where it
// is not known.
func RunFacts(run *results.Run) map[string]string {
	m, ok := MachineOf(run.Environment)
	if !ok {
		return nil
	}
	return m.Facts()
}

// MachineOf reads an environment.json; false where there is none to read.
func MachineOf(environment json.RawMessage) (m machine, ok bool) {
	if len(environment) == 0 || json.Unmarshal(environment, &m) != nil {
		return machine{}, false
	}
	return m, true
}

func (m machine) Facts() map[string]string {
	facts := map[string]string{
		"host": m.Host.Name, "kernel": m.Host.Kernel, "CPU": m.Host.CPU,
		"CPU governors": strings.Join(m.Host.Governors, " "), "GPUs": gpuNames(m),
		"CUDA": orEmpty(m.GPU.CUDA), "ROCm": orEmpty(m.GPU.ROCm), "boot options": strings.Join(m.Host.Boot, " "),
	}
	if m.Host.Threads > 0 {
		facts["CPU threads"] = fmt.Sprint(m.Host.Threads)
	}
	for _, vendor := range slices.Sorted(maps.Keys(m.GPU.Drivers)) {
		facts["driver "+vendor] = m.GPU.Drivers[vendor]
	}
	return facts
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// gpuNames counts GPUs of one kind: "8 x AMD Instinct MI300X (SPX, NPS1)".
func gpuNames(m machine) string {
	var names []string
	for _, g := range m.GPU.GPUs {
		name := g.Name
		if mode := strings.Trim(g.Partition+", "+g.Memory, ", "); mode != "" {
			name += " (" + mode + ")"
		}
		names = append(names, name)
	}
	return counted(names, 1)
}

// memorySizes are those of the GPUs: "8 x 192 GiB".
func (m machine) memorySizes() string {
	const gib = 1 << 30
	var sizes []string
	for _, g := range m.GPU.GPUs {
		if g.VRAM != nil {
			sizes = append(sizes, fmt.Sprintf("%.0f GiB", float64(*g.VRAM)/gib))
		}
	}
	return counted(sizes, 2)
}

// powerLimits are those of the GPUs: "8 x 750 W".
func (m machine) powerLimits() string {
	var limits []string
	for _, g := range m.GPU.GPUs {
		if g.Facts.Power != nil {
			limits = append(limits, fmt.Sprintf("%g W", *g.Facts.Power))
		}
	}
	return counted(limits, 2)
}

// counted is "2 x a, b": each value once, with how often it is there where that is at
// least so often.
func counted(values []string, least int) string {
	var names []string
	counts := map[string]int{}
	for _, v := range values {
		names = text.AppendNew(names, v)
		counts[v]++
	}
	for i, name := range names {
		if counts[name] >= least {
			names[i] = fmt.Sprintf("%d x %s", counts[name], name)
		}
	}
	return strings.Join(names, ", ")
}
