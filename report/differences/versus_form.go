package differences

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
)

// WriteComparison prints the comparison for a terminal or as Markdown, and what was
// found of the conditions.
func WriteComparison(w io.Writer, c *versus.Comparison, form table.Format, findings []versus.Finding,
	opts table.Options,
) error {
	if form == table.ForJSON {
		return ComparisonJSON(w, c, findings)
	}
	return table.Print(w, comparisonParts(c, findings), form, opts)
}

func comparisonParts(c *versus.Comparison, findings []versus.Finding) []table.Piece {
	base := c.Sides[c.Baseline]
	head := table.Piece{
		Title: "Comparison against " + base.Name, Intro: append(simulatedLines(c), verdictLines(c)...),
		Table: sideTable(c),
	}
	parts := []table.Piece{head}
	if len(findings) > 0 {
		parts = append(parts, findingsPart(findings))
	}

	for _, v := range c.Others {
		name := c.Sides[v.Side].Name
		parts = append(parts, deltaPart(&v, base.Name, name))
		body := table.Piece{
			Title: "Differences of " + name, Intro: []string{ruleText(c.Rule, base.Name)},
			Notes: v.Notes,
		}
		parts = append(parts, body)
		for i := range v.Pairs {
			s := &v.Pairs[i]
			s.Differ = nil // the configuration stands above, once for all
			piece := pairPart(s, c.Figures, base.Name, name)
			piece.Title = text.Clean(s.Candidate.Variant) + ", " + text.Clean(s.Point)
			parts = append(parts, piece)
		}
	}

	return parts
}

func simulatedLines(c *versus.Comparison) []string {
	for _, s := range c.Sides {
		if s.Run.Manifest.Simulated || s.Run.AnySimulated() {
			return []string{grid.SimulatedLine + " (of the sides or rows marked" + grid.Simulated + ")"}
		}
	}
	return nil
}

// sideTable says what the sides are.
func sideTable(c *versus.Comparison) table.Table {
	t := table.Table{Keys: []int{0}, Columns: []table.Column{
		table.Words("run"), table.Words("scenario"),
		table.Words("id"), table.Words("started"), table.Words("bench"), table.Words("steps"),
	}}
	for i, s := range c.Sides {
		name := s.Name
		if s.Run.AnySimulated() {
			name += grid.Simulated
		}
		if i == c.Baseline {
			name += " (baseline)"
		}
		m := s.Run.Manifest
		t.Rows = append(t.Rows, table.NewRow(
			name, text.Clean(m.Scenario), text.Clean(m.Run), text.Clean(m.StartedAt), text.Clean(m.Bench),
			CountSteps(s.Run),
		))
	}

	return t
}

// deltaPart is what differs in configuration, and the warning where that is
// more than one thing.
func deltaPart(v *versus.Against, baseline, name string) table.Piece {
	p := table.Piece{Title: "CONFIG DELTA of " + name}
	switch v.Things {
	case 0:
		p.Intro = []string{"No known difference: arguments, environment, engine, model, GPUs, drivers, " +
			"kernel, bench, client, load, prompts."}
	case 1:
		p.Intro = []string{"One difference."}
	default:
		p.Intro = []string{"WARNING: " + v.ManyThings()}
	}

	if names := v.OneSided(); len(names) > 0 {
		p.Intro = append(p.Intro, "Known on one side only, so not known to be equal: "+strings.Join(names, ", ")+".")
	}
	if len(v.Unknown) > 0 {
		p.Intro = append(p.Intro, "Unknown on both sides, so not known to be equal: "+strings.Join(v.Unknown, ", ")+".")
	}

	if len(v.Delta) == 0 {
		return p
	}

	p.Table = table.Table{
		Keys:    []int{0},
		Columns: []table.Column{table.Words("what"), table.Words(baseline), table.Words(name), table.Words("of")},
	}
	for _, d := range v.Delta {
		of := "the run"
		if d.Variants != nil {
			of = text.Few(d.Variants)
		}
		p.Table.Rows = append(p.Table.Rows, table.NewRow(text.Clean(d.What), table.OrMissing(text.Clean(d.From)),
			table.OrMissing(text.Clean(d.To)), of))
	}

	return p
}

func findingsPart(findings []versus.Finding) table.Piece {
	p := table.Piece{Title: "Conditions"}
	for _, f := range findings {
		state := "holds"
		if f.Uncertain {
			state = "is undecided"
		}
		p.Notes = append(p.Notes, fmt.Sprintf("%s %s: %s: %s", f.Condition, state, f.Where, f.Why))
	}
	return p
}
