package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// CPU is what /proc/cpuinfo says of the processor.
type CPU struct {
	Model string // "" where the architecture does not write one (arm64)
	Cores *int   // physical; nil where it does not say
}

// CPU is the processor of this machine; zero where the kernel does not say.
func (fs FS) CPU() CPU {
	text, err := os.ReadFile(filepath.Join(string(fs), "cpuinfo"))
	if err != nil {
		return CPU{}
	}

	return parseCPUInfo(string(text))
}

// parseCPUInfo reads /proc/cpuinfo: paragraphs of "key : value", one for each
// logical CPU. A physical core is a pair of package and core id.
func parseCPUInfo(text string) CPU {
	var facts CPU
	type core struct{ socket, id string }
	cores := map[core]bool{}
	var current core
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			current = core{}
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "model name":
			if facts.Model == "" {
				facts.Model = value
			}
		case "physical id":
			current.socket = value
		case "core id":
			current.id = value
		}
		if current.socket != "" && current.id != "" {
			cores[current] = true
		}
	}

	if n := len(cores); n > 0 {
		facts.Cores = &n
	}

	return facts
}
