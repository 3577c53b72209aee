package versus

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// FactState says whether a fact of the origin's machine holds on this one.
type FactState string

// The states. Fixed is what nobody can make the same on this machine.
const (
	FactSame    FactState = "same"
	FactDiffers FactState = "differs"
	FactFixed   FactState = "cannot be the same"
	FactUnknown FactState = "unknown"
	FactMissing FactState = "missing"
)

// MachineFact is one thing by which machines differ.
type MachineFact struct {
	What    string    `json:"what"`
	Origin  string    `json:"origin"` // "": not known
	Here    string    `json:"here"`
	State   FactState `json:"state"`
	Touches string    `json:"touches"` // figures that a difference shows in; "": none
}

// CompareFact is a fact that can be made the same, or if fixed cannot. What one
// side does not state is unknown.
func CompareFact(what, origin, here string, fixed bool, touches string) MachineFact {
	f := MachineFact{What: what, Origin: origin, Here: here, State: FactDiffers}
	switch {
	case origin == here && origin != "":
		f.State = FactSame
		return f
	case origin == "" || here == "":
		f.State = FactUnknown
	case fixed:
		f.State = FactFixed
	}
	f.Touches = touches
	return f
}

// What a difference of machines shows in.
const (
	AllFigures  = "all figures"
	hostFigures = "TTFT, ITL and the client's own lag"
)

// MachineFacts compares what two environment.json say of their machines.
func MachineFacts(origin, here json.RawMessage) []MachineFact {
	a, known := MachineOf(origin)
	b, hereKnown := MachineOf(here)
	var all []MachineFact
	add := func(what, origin, here string, fixed bool, touches string) {
		if origin != "" || here != "" {
			all = append(all, CompareFact(what, origin, here, fixed, touches))
		}
	}

	if known && hereKnown && len(a.GPU.GPUs)+len(b.GPU.GPUs) == 0 {
		all = append(all, MachineFact{What: "GPUs", Origin: "none", Here: "none", State: FactSame})
	}

	theirs, ours := a.Facts(), b.Facts()
	both := func(name string, fixed bool, touches string) { add(name, theirs[name], ours[name], fixed, touches) }
	both("GPUs", true, AllFigures)
	both("CPU", true, hostFigures)
	both("CPU threads", true, hostFigures)
	both("kernel", false, hostFigures)
	both("CPU governors", false, hostFigures)
	both("boot options", false, hostFigures)
	both("CUDA", false, AllFigures)
	both("ROCm", false, AllFigures)
	add("VRAM", a.memorySizes(), b.memorySizes(), true, "KV cache, so figures at high load; VRAM peak")
	add("GPU power limits", a.powerLimits(), b.powerLimits(), false, AllFigures)
	add("OS", a.Host.Platform, b.Host.Platform, false, "")
	for _, name := range allKeys(theirs, ours) {
		if strings.HasPrefix(name, "driver ") {
			both(name, false, AllFigures)
		}
	}

	return all
}

// FileFacts compares programs and models: those with the origin's name, wherever
// they are on this machine.
func FileFacts(origin, here []results.FileIdentity) []MachineFact {
	var facts []MachineFact
	for _, o := range origin {
		name := path.Base(o.Path)
		f := MachineFact{What: "file " + name, Origin: identityText(o), State: FactUnknown, Touches: AllFigures}
		for _, h := range here {
			if path.Base(h.Path) != name {
				continue
			}
			f.Here, f.State = identityText(h), FactDiffers
			if h.Bytes == o.Bytes && h.Ends == o.Ends {
				f.State, f.Touches = FactSame, ""
				break
			}
		}
		facts = append(facts, f)
	}

	return facts
}

func identityText(f results.FileIdentity) string {
	return fmt.Sprintf("%d bytes, %s", f.Bytes, Short(f.Ends))
}

// MachineCheck is this machine beside the one of a run.
type MachineCheck struct {
	Origin   string        `json:"origin"` // scenario and id of the run
	Facts    []MachineFact `json:"facts"`
	Problems []string      `json:"problems"` // what keeps this machine from repeating the run
	Notes    []string      `json:"notes"`
}

// Counts counts the facts by state.
func (b *MachineCheck) Counts() map[FactState]int {
	counts := map[FactState]int{}
	for _, f := range b.Facts {
		counts[f.State]++
	}
	return counts
}

// LackingGPUs says that a step of a run had more GPUs than this machine has; "":
// none had.
func LackingGPUs(origin *results.Run, here json.RawMessage) string {
	most, step := 0, ""
	for _, s := range origin.Steps {
		used := 0
		for _, server := range s.Result.Servers {
			used += len(server.GPUs)
		}
		if used > most && !s.Result.Simulated && len(origin.Manifest.Groups) == 0 {
			most, step = used, s.Result.Step.ID
		}
	}

	m, _ := MachineOf(here)
	if has := len(m.GPU.GPUs); most > has {
		return fmt.Sprintf("the servers of %s had %s, and this machine has %d", step, text.Count(most, "GPU"), has)
	}
	return ""
}
