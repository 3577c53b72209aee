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

// BoxState says whether a fact of the origin's box holds on this one.
type BoxState string

// The states. Fixed is what nobody can make the same on this box.
const (
	BoxSame    BoxState = "same"
	BoxDiffers BoxState = "differs"
	BoxFixed   BoxState = "cannot be the same"
	BoxUnknown BoxState = "unknown"
	BoxMissing BoxState = "missing"
)

// BoxFact is one thing by which boxes differ.
type BoxFact struct {
	What    string   `json:"what"`
	Origin  string   `json:"origin"` // "": not known
	Here    string   `json:"here"`
	State   BoxState `json:"state"`
	Touches string   `json:"touches"` // figures that a difference shows in; "": none
}

// CompareFact is a fact that can be made the same, or if fixed cannot. What one
// side does not tell is unknown.
func CompareFact(what, origin, here string, fixed bool, touches string) BoxFact {
	f := BoxFact{What: what, Origin: origin, Here: here, State: BoxDiffers}
	switch {
	case origin == here && origin != "":
		f.State = BoxSame
		return f
	case origin == "" || here == "":
		f.State = BoxUnknown
	case fixed:
		f.State = BoxFixed
	}
	f.Touches = touches
	return f
}

// What a difference of machines shows in.
const (
	AllFigures  = "all figures"
	hostFigures = "TTFT, ITL and the client's own lag"
)

// MachineFacts compares what two environment.json say of their boxes.
func MachineFacts(origin, here json.RawMessage) []BoxFact {
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

	var facts []BoxFact
	for _, k := range known {
		if a[k.name] != "" || b[k.name] != "" {
			facts = append(facts, CompareFact(k.name, a[k.name], b[k.name], k.fixed, k.touches))
		}
	}

	if a["GPUs"] == "" && b["GPUs"] == "" && a != nil && b != nil {
		facts = slices.Insert(facts, 0, BoxFact{What: "GPUs", Origin: "none", Here: "none", State: BoxSame})
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
// they lie on this box.
func FileFacts(origin, here []results.FileIdentity) []BoxFact {
	var facts []BoxFact
	for _, o := range origin {
		name := path.Base(o.Path)
		f := BoxFact{What: "file " + name, Origin: identityText(o), State: BoxUnknown, Touches: AllFigures}
		for _, h := range here {
			if path.Base(h.Path) != name {
				continue
			}
			f.Here, f.State = identityText(h), BoxDiffers
			if h.Bytes == o.Bytes && h.Ends == o.Ends {
				f.State, f.Touches = BoxSame, ""
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

// BoxCheck is this box beside the one of a run.
type BoxCheck struct {
	Origin   string    `json:"origin"` // scenario and id of the run
	Facts    []BoxFact `json:"facts"`
	Problems []string  `json:"problems"` // what keeps this box from repeating the run
	Notes    []string  `json:"notes"`
}

// Counts counts the facts by state.
func (b *BoxCheck) Counts() map[BoxState]int {
	counts := map[BoxState]int{}
	for _, f := range b.Facts {
		counts[f.State]++
	}
	return counts
}
