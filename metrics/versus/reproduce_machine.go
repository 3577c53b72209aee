package versus

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
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
// side does not tell is unknown.
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
	a, b := RunFacts(&results.Run{Environment: origin}), RunFacts(&results.Run{Environment: here})
	known := []struct {
		name    string
		fixed   bool
		touches string
	}{
		{"GPUs", true, AllFigures},
		{"CPU", true, hostFigures},
		{"CPU threads", true, hostFigures},
		{"kernel", false, hostFigures},
		{"CPU governors", false, hostFigures},
		{"boot options", false, hostFigures},
		{"CUDA", false, AllFigures},
		{"ROCm", false, AllFigures},
	}

	var facts []MachineFact
	for _, k := range known {
		if a[k.name] != "" || b[k.name] != "" {
			facts = append(facts, CompareFact(k.name, a[k.name], b[k.name], k.fixed, k.touches))
		}
	}

	if a["GPUs"] == "" && b["GPUs"] == "" && a != nil && b != nil {
		facts = slices.Insert(facts, 0, MachineFact{What: "GPUs", Origin: "none", Here: "none", State: FactSame})
	}

	if v, w := vramOf(origin), vramOf(here); v != "" || w != "" {
		facts = append(facts, CompareFact("VRAM", v, w, true, "KV cache, so figures at high load; VRAM peak"))
	}

	if v, w := powerLimits(origin), powerLimits(here); v != "" || w != "" {
		facts = append(facts, CompareFact("GPU power limits", v, w, false, AllFigures))
	}

	if v, w := platformOf(origin), platformOf(here); v != "" || w != "" {
		facts = append(facts, CompareFact("OS", v, w, false, ""))
	}

	names := slices.Sorted(maps.Keys(a))
	for _, name := range slices.Sorted(maps.Keys(b)) {
		names = text.AppendNew(names, name)
	}

	for _, name := range names {
		if strings.HasPrefix(name, "driver ") && (a[name] != "" || b[name] != "") {
			facts = append(facts, CompareFact(name, a[name], b[name], false, AllFigures))
		}
	}

	return facts
}

// deviceFacts is what environment.json says of GPUs beyond machine.
type deviceFacts struct {
	GPU struct {
		GPUs []struct {
			VRAM  *int64 `json:"vram_bytes"`
			Facts *struct {
				Power *float64 `json:"power_limit_w"`
			} `json:"facts"`
		} `json:"gpus"`
	} `json:"gpu"`
	Host struct {
		Platform string `json:"platform"`
	} `json:"host"`
}

func devicesOf(environment json.RawMessage) deviceFacts {
	var d deviceFacts
	_ = json.Unmarshal(environment, &d) // what it does not say is not known
	return d
}

func vramOf(environment json.RawMessage) string {
	const gib = 1 << 30
	var sizes []string
	for _, g := range devicesOf(environment).GPU.GPUs {
		if g.VRAM != nil {
			sizes = append(sizes, fmt.Sprintf("%.0f GiB", float64(*g.VRAM)/gib))
		}
	}
	return counted(sizes)
}

func powerLimits(environment json.RawMessage) string {
	var limits []string
	for _, g := range devicesOf(environment).GPU.GPUs {
		if g.Facts != nil && g.Facts.Power != nil {
			limits = append(limits, fmt.Sprintf("%g W", *g.Facts.Power))
		}
	}
	return counted(limits)
}

// counted is "2 x a, b".
func counted(values []string) string {
	var names []string
	counts := map[string]int{}
	for _, v := range values {
		names = text.AppendNew(names, v)
		counts[v]++
	}
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%d x %s", counts[name], name)
		}
	}
	return strings.Join(names, ", ")
}

func platformOf(environment json.RawMessage) string { return devicesOf(environment).Host.Platform }

// FileFacts compares programs and models: those with the origin's name, wherever
// they lie on this machine.
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

	if has := len(devicesOf(here).GPU.GPUs); most > has {
		return fmt.Sprintf("the servers of %s had %s, and this machine has %d", step, text.Count(most, "GPU"), has)
	}
	return ""
}
