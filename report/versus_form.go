package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
)

// Write prints the comparison for a terminal or as Markdown, and what was
// found of the conditions.
func (c *Comparison) Write(w io.Writer, form Form, findings []Finding, opts Options) error {
	parts := c.parts(findings)
	if form == MarkdownForm {
		out := &bytes.Buffer{}
		markdownParts(out, parts)
		_, err := w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
		return err
	}
	p := &printer{opts: opts}
	p.parts(parts)
	_, err := w.Write(bytes.TrimLeft(p.out.Bytes(), "\n"))
	return err
}

func (c *Comparison) parts(findings []Finding) []Piece {
	base := c.Sides[c.Baseline]
	head := Piece{Title: "Comparison against " + base.Name, Intro: c.simulatedLines(), Table: c.sideTable()}
	parts := []Piece{head}
	if len(findings) > 0 {
		parts = append(parts, findingsPart(findings))
	}
	for _, v := range c.Versus {
		name := c.Sides[v.Side].Name
		parts = append(parts, v.deltaPart(base.Name, name))
		body := Piece{Title: "Differences of " + name, Intro: []string{ruleText(c.Rule, base.Name)}, Notes: v.notes}
		parts = append(parts, body)
		for i := range v.sets {
			s := &v.sets[i]
			s.differ = nil // the configuration stands above, once for all
			piece := s.part(c.figures, base.Name, name)
			piece.Title = text.Clean(s.Candidate.Variant) + ", " + text.Clean(s.Point)
			parts = append(parts, piece)
		}
	}
	return parts
}

func (c *Comparison) simulatedLines() []string {
	for _, s := range c.Sides {
		if s.Run.Manifest.Simulated || anySimulated(s.Run) {
			return []string{simulatedLine + " (of the sides or rows marked" + simulated + ")"}
		}
	}
	return nil
}

// sideTable says what the sides are.
func (c *Comparison) sideTable() Table {
	t := Table{Keys: []int{0}, Columns: []Column{{"run", "", true}, {"scenario", "", true}, {"id", "", true}, {"started", "", true}, {"bench", "", true}, {"steps", "", true}}}
	for i, s := range c.Sides {
		name := s.Name
		if anySimulated(s.Run) {
			name += simulated
		}
		if i == c.Baseline {
			name += " (baseline)"
		}
		m := s.Run.Manifest
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			{Text: name}, {Text: text.Clean(m.Scenario)}, {Text: text.Clean(m.Run)}, {Text: text.Clean(m.StartedAt)}, {Text: text.Clean(m.Bench)}, {Text: countSteps(s.Run)},
		}})
	}
	return t
}

// deltaPart is what differs in configuration, and the warning where that is
// more than one thing.
func (v *Versus) deltaPart(baseline, name string) Piece {
	p := Piece{Title: "CONFIG DELTA of " + name}
	switch v.Things {
	case 0:
		p.Intro = []string{"Nothing that is known differs: arguments, environment, engine, model, GPUs, drivers, kernel, bench, client, load, prompts."}
	case 1:
		p.Intro = []string{"One thing differs."}
	default:
		p.Intro = []string{"WARNING: " + v.manyThings()}
	}
	if len(v.unknown) > 0 {
		p.Intro = append(p.Intro, "Not known of either side, which does not make it equal: "+strings.Join(v.unknown, ", ")+".")
	}
	if len(v.Delta) == 0 {
		return p
	}
	p.Table = Table{Keys: []int{0}, Columns: []Column{{"what", "", true}, {baseline, "", true}, {name, "", true}, {"of", "", true}}}
	for _, d := range v.Delta {
		of := "the run"
		if d.Variants != nil {
			of = text.Few(d.Variants)
		}
		p.Table.Rows = append(p.Table.Rows, Row{Cells: []Cell{{Text: text.Clean(d.What)}, {Text: dash(text.Clean(d.From))}, {Text: dash(text.Clean(d.To))}, {Text: of}}})
	}
	return p
}

// manyThings warns that a difference has more than one possible cause.
func (v *Versus) manyThings() string {
	var names []string
	for _, d := range v.Delta {
		names = text.AppendNew(names, text.Clean(d.What))
	}
	return fmt.Sprintf("%d things differ (%s): what follows cannot be put down to one of them.", v.Things, strings.Join(names, ", "))
}

// Strict is an error if more than one thing differs between a side and the
// baseline.
func (c *Comparison) Strict() error {
	for _, v := range c.Versus {
		if v.Things > 1 {
			return fmt.Errorf("compare %s with %s: %s", c.Sides[v.Side].Name, c.Sides[c.Baseline].Name, v.manyThings())
		}
	}
	return nil
}

func findingsPart(findings []Finding) Piece {
	p := Piece{Title: "Conditions"}
	for _, f := range findings {
		state := "holds"
		if f.Uncertain {
			state = "cannot be told"
		}
		p.Notes = append(p.Notes, fmt.Sprintf("%s %s: %s: %s", f.Condition, state, f.Where, f.Why))
	}
	return p
}
