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
			Index     int    `json:"index"`
			Name      string `json:"name"`
			Partition string `json:"partition"`
			Memory    string `json:"memory_mode"`
		} `json:"gpus"`
		Drivers map[string]string `json:"drivers"`
		CUDA    *string           `json:"cuda"`
		ROCm    *string           `json:"rocm"`
	} `json:"gpu"`
	Host struct {
		Name      string   `json:"hostname"`
		Kernel    string   `json:"kernel"`
		CPU       string   `json:"cpu_model"`
		Threads   int      `json:"threads"`
		Governors []string `json:"cpu_governors"`
		Boot      []string `json:"boot_options"`
	} `json:"host"`
}

// RunFacts are facts of a run's machine by what they are called; nil where it
// is not known.
func RunFacts(run *results.Run) map[string]string { return factsOf(run.Environment) }

// factsOf are the facts that an environment.json tells.
func factsOf(environment json.RawMessage) map[string]string {
	m, ok := MachineOf(environment)
	if !ok {
		return nil
	}
	return m.Facts()
}

// MachineOf reads an environment.json; false where there is none to read.
func MachineOf(environment json.RawMessage) (m machine, ok bool) {
	ok = len(environment) > 0 && json.Unmarshal(environment, &m) == nil
	return m, ok
}

func (m machine) Facts() map[string]string {
	facts := map[string]string{
		"host": m.Host.Name, "kernel": m.Host.Kernel, "CPU": m.Host.CPU,
		"CPU governors": strings.Join(m.Host.Governors, " "), "GPUs": gpuNames(m),
		"CUDA": textOr(m.GPU.CUDA), "ROCm": textOr(m.GPU.ROCm), "boot options": strings.Join(m.Host.Boot, " "),
	}
	if m.Host.Threads > 0 {
		facts["CPU threads"] = fmt.Sprint(m.Host.Threads)
	}
	for _, vendor := range slices.Sorted(maps.Keys(m.GPU.Drivers)) {
		facts["driver "+vendor] = m.GPU.Drivers[vendor]
	}
	return facts
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// gpuNames counts GPUs of one kind: "8 x AMD Instinct MI300X (SPX, NPS1)".
func gpuNames(m machine) string {
	counts := make(map[string]int)
	var names []string
	for _, g := range m.GPU.GPUs {
		name := g.Name
		if mode := strings.Trim(g.Partition+", "+g.Memory, ", "); mode != "" {
			name += " (" + mode + ")"
		}
		counts[name]++
		names = text.AppendNew(names, name)
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d x %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}
