package differences

import (
	"encoding/json"
	"io"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
)

// comparisonJSON is the comparison for programs; docs/compare.md has its
// fields.
type comparisonJSON struct {
	Format     int              `json:"format_version"`
	Baseline   string           `json:"baseline"`
	Confidence float64          `json:"confidence"`
	Margin     float64          `json:"smallest_difference"`
	Sides      []sideJSON       `json:"sides"`
	Versus     []versusJSON     `json:"comparisons"`
	Findings   []versus.Finding `json:"conditions"`
}

type sideJSON struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Scenario  string `json:"scenario"`
	Run       string `json:"run_id"`
	Bench     string `json:"bench_version"`
	Simulated bool   `json:"simulated"`
	Imported  bool   `json:"imported,omitempty"` // from others' files
}

type versusJSON struct {
	Side   string         `json:"side"`
	Things int            `json:"things_that_differ"`
	Delta  []versus.Delta `json:"config_delta"`
	Notes  []string       `json:"notes"`
	Pairs  []pairJSON     `json:"pairs"`

	Unknown []string `json:"not_known,omitempty"` // of either side
}

type pairJSON struct {
	Variant       string               `json:"variant"`
	Baseline      string               `json:"baseline_variant"`
	Point         string               `json:"point"`
	NotComparable string               `json:"not_comparable"` // ""
	Failed        []string             `json:"failed"`
	Notes         []string             `json:"notes"`
	Outliers      []string             `json:"outliers"`
	Drifts        []string             `json:"drifts"`
	Simulated     bool                 `json:"simulated"`
	Extrapolated  bool                 `json:"extrapolated"`
	Differences   []compare.Difference `json:"differences"`
}

// ComparisonJSON prints the comparison for programs.
func ComparisonJSON(w io.Writer, c *versus.Comparison, findings []versus.Finding) error {
	const format = 1
	out := comparisonJSON{
		Format: format, Baseline: c.Sides[c.Baseline].Name, Confidence: c.Rule.Confidence, Margin: c.Rule.Margin,
		Findings: notNil(findings),
	}

	for _, s := range c.Sides {
		m := s.Run.Manifest
		out.Sides = append(out.Sides, sideJSON{s.Name, s.Path, m.Scenario, m.Run, m.Bench, m.Simulated ||
			s.Run.AnySimulated(), m.Imported != nil})
	}

	for _, v := range c.Others {
		one := versusJSON{
			Side: c.Sides[v.Side].Name, Things: v.Things, Delta: notNil(v.Delta), Notes: notNil(v.Notes),
			Pairs: []pairJSON{}, Unknown: v.Unknown,
		}
		for i := range v.Pairs {
			one.Pairs = append(one.Pairs, jsonOfPair(&v.Pairs[i]))
		}
		out.Versus = append(out.Versus, one)
	}

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")

	return encoder.Encode(out)
}

func jsonOfPair(s *versus.Pair) pairJSON {
	return pairJSON{
		Variant: s.Candidate.Variant, Baseline: s.Baseline.Variant, Point: s.Point, NotComparable: s.NotCompared,
		Failed: notNil(s.Failed), Notes: notNil(s.Notes), Outliers: notNil(s.Outliers), Drifts: notNil(s.Drifts),
		Differences:  notNil(s.Differences),
		Simulated:    s.Baseline.IsSimulated() || s.Candidate.IsSimulated(),
		Extrapolated: s.Baseline.Extrapolated() != nil || s.Candidate.Extrapolated() != nil,
	}
}

// notNil makes an empty list of none, which JSON would call null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
