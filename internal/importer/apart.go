package importer

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// dimension is something in which two results of one variant and point may
// differ, so that they are not repeats of each other.
type dimension struct {
	load  bool                  // it belongs to the point; else to the variant
	empty bool                  // "" is a value too: nothing is set
	of    func(e *entry) string // how it is told in a name; "": not known
}

// dimensions are told in this order.
func (n *namer) dimensions(all []*entry) []dimension {
	dims := []dimension{
		{empty: true, of: func(e *entry) string { return paramsText(e.params) }},
		{empty: true, of: envText},
		{empty: true, of: func(e *entry) string { return map[bool]string{true: "simulated"}[e.simulated] }},
		{of: func(e *entry) string { return path.Base(e.model) }},
		{of: func(e *entry) string { return e.backend }},
		{of: func(e *entry) string { return e.endpointType }},
		{of: func(e *entry) string { return e.asked.Endpoint }},
		{of: func(e *entry) string { return tokenizerText(e) }},
		{load: true, of: func(e *entry) string { return e.asked.Dataset }},
		{load: true, of: func(e *entry) string { return strings.Join(e.lengths(), "-") }},
		{load: true, of: wholeText("in", func(e *entry) *int { return e.asked.InputLen })},
		{load: true, of: wholeText("out", func(e *entry) *int { return e.asked.OutputLen })},
		{load: true, of: promptsText},
		{load: true, empty: true, of: func(e *entry) string { return e.ramp }},
		{load: true, empty: true, of: func(e *entry) string { return e.bestOf }},
		{load: true, of: func(e *entry) string { return numberText("b", e.asked.Burstiness) }},
		{load: true, of: func(e *entry) string { return numberText("temp", e.asked.Temperature) }},
	}

	for _, measured := range []struct {
		name string
		of   func(*entry) float64
		near float64 // ratio up to which values may be those of repeats
	}{
		{"in", meanInput, 1.25},
		{"n", func(e *entry) float64 { return float64(e.figures.Completed + e.figures.Failed) }, 1.25},
		{"out", meanOutput, 2},
	} {
		dims = append(dims, dimension{load: true, of: measuredText(all, measured.name, measured.of, measured.near)})
	}

	return append(dims, settingDimensions(all)...)
}

// settingDimensions are the settings of llama-bench, one each.
func settingDimensions(all []*entry) []dimension {
	var names []string
	for _, e := range all {
		for _, s := range e.commonSettings() {
			names = text.AppendNew(names, s.Name)
		}
	}

	var dims []dimension
	for _, name := range names {
		dims = append(dims, dimension{of: func(e *entry) string {
			for _, s := range e.commonSettings() {
				if s.Name == name && s.Value != "" {
					return strings.TrimPrefix(s.Name+" "+s.Value, "backend ")
				}
			}
			return ""
		}})
	}

	return dims
}

// makeNamesUnique adds to the names of results that are under one name what they
// differ in.
func (n *namer) makeNamesUnique(all []*entry) {
	fixed := n.o.Variant != "" || n.pattern != nil
	for _, d := range n.dimensions(all) {
		differ := differing(all, d)
		for _, e := range all {
			text := d.of(e)
			if !differ[e.ref.Variant] || text == "" || e.own != nil {
				continue
			}
			switch {
			case d.load || fixed:
				e.ref.Point = tidy(strings.TrimPrefix(e.ref.Point+"-"+text, everything+"-"))
			default:
				e.ref.Variant = tidy(e.ref.Variant + " " + text)
			}
		}
	}
}

// differing are the variants with a point at which two results are known to
// differ in a dimension.
func differing(all []*entry, d dimension) map[string]bool {
	first := map[[2]string]string{}
	differ := map[string]bool{}
	for _, e := range all {
		text := d.of(e)
		if text == "" && !d.empty || e.own != nil {
			continue
		}
		key := [2]string{e.ref.Variant, e.ref.Point}
		before, known := first[key]
		switch {
		case !known:
			first[key] = text
		case before != text:
			differ[e.ref.Variant] = true
		}
	}

	return differ
}

// measuredText tells a number that was measured, not set: values that are close
// together are those of repeats and told as one.
func measuredText(all []*entry, name string, of func(*entry) float64, near float64) func(*entry) string {
	var values []float64
	for _, e := range all {
		if v := of(e); v > 0 && !e.ofProgram() && e.own == nil {
			values = append(values, v)
		}
	}

	slices.Sort(values)

	return func(e *entry) string {
		v := of(e)
		if !(v > 0) || e.ofProgram() || e.own != nil {
			return ""
		}
		lowest := v
		for _, other := range slices.Backward(values) {
			if other < lowest && lowest/other <= near {
				lowest = other
			}
		}
		return name + strconv.FormatFloat(math.Round(lowest), 'f', -1, 64)
	}
}

func meanInput(e *entry) float64 {
	if e.figures.TotalInputTokens == nil || e.figures.Completed == 0 {
		return 0
	}
	return float64(*e.figures.TotalInputTokens) / float64(e.figures.Completed)
}

func meanOutput(e *entry) float64 {
	if e.figures.TotalOutputTokens == nil || e.figures.Completed == 0 {
		return 0
	}
	return float64(*e.figures.TotalOutputTokens) / float64(e.figures.Completed)
}

func tokenizerText(e *entry) string {
	if e.asked.Tokenizer == "" {
		return ""
	}
	return "tokenizer " + path.Base(e.asked.Tokenizer)
}

func promptsText(e *entry) string {
	if !e.isStated("num_prompts") {
		return ""
	}
	return "n" + strconv.Itoa(e.asked.NumPrompts)
}

func wholeText(name string, of func(*entry) *int) func(*entry) string {
	return func(e *entry) string {
		if v := of(e); v != nil {
			return name + strconv.Itoa(*v)
		}
		return ""
	}
}

func numberText(name string, v *float64) string {
	if v == nil {
		return ""
	}
	return name + strconv.FormatFloat(*v, 'g', -1, 64)
}

func envText(e *entry) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(e.env)) {
		parts = append(parts, name+"="+e.env[name])
	}
	return strings.Join(parts, " ")
}

// Rename is a variant's name in the files, and the one that the user wants.
type Rename struct{ From, To string }

// ParseRename reads "OLD=NEW".
func ParseRename(text string) (Rename, error) {
	from, to, ok := strings.Cut(text, "=")
	if !ok || from == "" || to == "" {
		return Rename{}, fmt.Errorf("rename %q: want OLD=NEW, the names of a variant", text)
	}
	return Rename{from, to}, nil
}
