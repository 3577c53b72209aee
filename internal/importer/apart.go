package importer

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/text"
)

// dimension is something in which two results of one variant and point may
// differ, so that they are not repeats of each other.
type dimension struct {
	load  bool                         // it belongs to the point; else to the variant
	empty bool                         // "" is a value, too: nothing is set
	of    func(e *stated.Entry) string // the part of a name that shows it; "": not known
}

// dimensions lists them in the order in which names show them.
func dimensions(all []*stated.Entry) []dimension {
	dims := []dimension{
		{empty: true, of: func(e *stated.Entry) string { return joined(e.Params, " ") }},
		{empty: true, of: func(e *stated.Entry) string { return joined(e.Env, "=") }},
		{empty: true, of: simulatedText},
		{of: func(e *stated.Entry) string { return path.Base(e.Model) }},
		{of: func(e *stated.Entry) string { return e.Backend }},
		{of: func(e *stated.Entry) string { return e.EndpointType }},
		{of: func(e *stated.Entry) string { return e.Asked.Endpoint }},
		{of: tokenizerText},
		{load: true, of: func(e *stated.Entry) string { return e.Asked.Dataset }},
		{load: true, of: func(e *stated.Entry) string { return strings.Join(lengths(e), "-") }},
		{load: true, of: wholeText("in", func(e *stated.Entry) *int { return e.Asked.InputLen })},
		{load: true, of: wholeText("out", func(e *stated.Entry) *int { return e.Asked.OutputLen })},
		{load: true, of: promptsText},
		{load: true, empty: true, of: func(e *stated.Entry) string { return e.Ramp }},
		{load: true, empty: true, of: func(e *stated.Entry) string { return e.BestOf }},
		{load: true, of: func(e *stated.Entry) string { return numberText("b", e.Asked.Burstiness) }},
		{load: true, of: func(e *stated.Entry) string { return numberText("temp", e.Asked.Temperature) }},
	}

	for _, measured := range []struct {
		name string
		of   func(*stated.Entry) float64
		near float64 // ratio up to which values may be those of repeats
	}{
		{"in", meanInput, 1.25},
		{"n", func(e *stated.Entry) float64 { return float64(e.Figures.Completed + e.Figures.Failed) }, 1.25},
		{"out", meanOutput, 2},
	} {
		dims = append(dims, dimension{load: true, of: measuredText(all, measured.name, measured.of, measured.near)})
	}

	return append(dims, settingDimensions(all)...)
}

// settingDimensions returns a dimension for each setting of llama-bench.
func settingDimensions(all []*stated.Entry) []dimension {
	var names []string
	for _, e := range all {
		for _, s := range commonSettings(e) {
			names = text.AppendNew(names, s.Name)
		}
	}

	var dims []dimension
	for _, name := range names {
		dims = append(dims, dimension{of: func(e *stated.Entry) string {
			for _, s := range commonSettings(e) {
				if s.Name == name && s.Value != "" {
					return strings.TrimPrefix(s.Name+" "+s.Value, "backend ")
				}
			}
			return ""
		}})
	}

	return dims
}

// makeNamesUnique adds to names that several results share what tells these results
// apart.
func (n *namer) makeNamesUnique(all []*stated.Entry) {
	fixed := n.o.Variant != "" || n.pattern != nil
	for _, d := range dimensions(all) {
		differ := differing(all, d)
		for _, e := range all {
			text := d.of(e)
			if !differ[e.Ref.Variant] || text == "" || e.Own != nil {
				continue
			}
			switch {
			case d.load || fixed:
				e.Ref.Point = tidy(strings.TrimPrefix(e.Ref.Point+"-"+text, everything+"-"))
			default:
				e.Ref.Variant = tidy(e.Ref.Variant + " " + text)
			}
		}
	}
}

// differing returns the variants that have a point at which two results are known to
// differ in a dimension.
func differing(all []*stated.Entry, d dimension) map[string]bool {
	first := map[[2]string]string{}
	differ := map[string]bool{}
	for _, e := range all {
		text := d.of(e)
		if text == "" && !d.empty || e.Own != nil {
			continue
		}
		key := [2]string{e.Ref.Variant, e.Ref.Point}
		before, known := first[key]
		switch {
		case !known:
			first[key] = text
		case before != text:
			differ[e.Ref.Variant] = true
		}
	}

	return differ
}

// measuredText names a number that was measured, not set: values within the ratio near
// are taken for those of repeats, and have the name of the lowest.
func measuredText(all []*stated.Entry, name string, of func(*stated.Entry) float64, near float64,
) func(*stated.Entry) string {
	var values []float64
	for _, e := range all {
		if v := of(e); v > 0 && !e.OfProgram() && e.Own == nil {
			values = append(values, v)
		}
	}

	slices.Sort(values)

	return func(e *stated.Entry) string {
		v := of(e)
		if !(v > 0) || e.OfProgram() || e.Own != nil {
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

func meanInput(e *stated.Entry) float64 { return perRequest(e, e.Figures.TotalInputTokens) }

func meanOutput(e *stated.Entry) float64 { return perRequest(e, e.Figures.TotalOutputTokens) }

// perRequest divides a total by the number of completed requests; 0: not known.
func perRequest(e *stated.Entry, total *int64) float64 {
	if total == nil || e.Figures.Completed == 0 {
		return 0
	}
	return float64(*total) / float64(e.Figures.Completed)
}

func simulatedText(e *stated.Entry) string {
	if e.Simulated {
		return "simulated"
	}
	return ""
}

func tokenizerText(e *stated.Entry) string {
	if e.Asked.Tokenizer == "" {
		return ""
	}
	return "tokenizer " + path.Base(e.Asked.Tokenizer)
}

func promptsText(e *stated.Entry) string {
	if !e.IsStated("num_prompts") {
		return ""
	}
	return "n" + strconv.Itoa(e.Asked.NumPrompts)
}

func wholeText(name string, of func(*stated.Entry) *int) func(*stated.Entry) string {
	return func(e *stated.Entry) string {
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

// joined writes pairs of a name and a value, by name.
func joined(pairs map[string]string, between string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		parts = append(parts, name+between+pairs[name])
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
