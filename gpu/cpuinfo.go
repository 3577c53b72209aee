package gpu

import "strings"

// cpuFacts is what /proc/cpuinfo says of the processor.
type cpuFacts struct {
	model string // "" where the architecture does not write one (arm64)
	cores *int   // physical; nil where it does not say
}

// parseCPUInfo reads /proc/cpuinfo: paragraphs of "key : value", one for each
// logical CPU. A physical core is a pair of package and core id.
func parseCPUInfo(text string) cpuFacts {
	var facts cpuFacts
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
			if facts.model == "" {
				facts.model = value
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
		facts.cores = &n
	}
	return facts
}
