package studies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// drafting is how a server was told to speculate.
type drafting struct {
	K     int    // tokens drafted at once; 0: not known
	draft string // model or method; "": not known
}

// DraftingOf reads it from the arguments of the engines.
func DraftingOf(s results.Server) drafting {
	args := versus.ArgumentsOf(s.Launcher, s.Argv, func(text string) string { return text })
	var d drafting
	var config struct {
		Tokens int    `json:"num_speculative_tokens"`
		Model  string `json:"model"`
		Method string `json:"method"`
	}

	if json.Unmarshal([]byte(args["--speculative-config"]), &config) == nil {
		d = drafting{config.Tokens, cmp.Or(config.Model, config.Method)}
	}

	for _, name := range []string{
		"--num-speculative-tokens", "--spec-draft-n-max", "--draft-max", "--draft", "--draft-n",
		"--speculative-num-draft-tokens", "--speculate", "--sim-spec-tokens",
	} {
		if n, err := strconv.Atoi(args[name]); err == nil && d.K == 0 {
			d.K = n
		}
	}

	for _, name := range []string{
		"--speculative-model", "--spec-draft-model", "--speculative-draft-model-path",
		"--speculative-draft-model", "--speculative-algorithm",
	} {
		d.draft = cmp.Or(d.draft, args[name])
	}

	return d
}

// acceptance is what a cell's servers did with their drafts, under one
// definition for all engines.
type acceptance struct {
	drafting
	source      results.DraftSource
	rate        *float64
	length      *float64
	perStep     *float64
	efficiency  *float64
	perPosition []float64
	logLines    []string
}

// draftsSometimes reports whether many steps had no draft.
func (a *acceptance) draftsSometimes() bool {
	const few = 0.95
	return a != nil && a.length != nil && a.perStep != nil && *a.perStep < few**a.length
}

// acceptanceOf is nil for a cell that drafted nothing.
func acceptanceOf(c compare.Cell) *acceptance {
	var servers []results.Server
	for _, r := range c.Counted {
		servers = append(servers, r.Servers...)
	}

	at := slices.IndexFunc(servers,
		func(s results.Server) bool { return s.Speculation != nil && s.Speculation.Rate != nil })
	spec := results.SpeculationOf(servers)
	if spec == nil && at < 0 {
		return nil
	}

	a := &acceptance{drafting: DraftingOf(servers[0])}
	if at >= 0 {
		told := servers[at].Speculation
		a.source, a.rate, a.length, a.efficiency, a.perPosition, a.logLines = told.Source, told.Rate, told.Length,
			told.Efficiency, told.AtPosition, told.LogLines
		a.perStep = told.PerStep
		if told.Tokens != nil {
			a.K = *told.Tokens
		}
	}

	if spec != nil { // counts, over all servers and repeats
		a.source, a.rate, a.efficiency, a.perPosition = spec.Source, &spec.AcceptanceRate, spec.SystemEfficiency,
			spec.PerPosition
		a.perStep = spec.OutputPerStep
		if spec.Drafts > 0 {
			a.length = &spec.AcceptanceLength
		}
	}

	return a
}

// SpeculationParts are the table of speculative decoding.
func SpeculationParts(run *results.Run) []table.Piece {
	cells := studyCells(run)
	found := make([]*acceptance, len(cells))
	positions := 0
	for i, c := range cells {
		if found[i] = acceptanceOf(c); found[i] != nil {
			positions = max(positions, len(found[i].perPosition))
		}
	}

	if !slices.ContainsFunc(found, func(a *acceptance) bool { return a != nil }) {
		return nil
	}

	c := table.Table{Columns: []table.Column{
		table.Words("variant"),
		table.Words("point"),
		table.Words("draft"),
		table.Numbers("k", ""),
		table.Numbers("acceptance", "%"),
		table.Numbers("length", "mean"),
		table.Numbers("efficiency", "%"),
		table.Numbers("output", "tok/s"),
	}, Keys: []int{0, 1}}

	sometimes := slices.ContainsFunc(found, (*acceptance).draftsSometimes)
	if sometimes {
		c.Columns = append(c.Columns, table.Numbers("per step", "tokens"))
	}
	for i := range positions {
		c.Columns = append(c.Columns, table.Numbers("position", strconv.Itoa(i)+", %"))
	}

	c.Columns = append(c.Columns, table.Words("source"))
	var notes []string
	for i, cell := range cells {
		c.Rows = append(c.Rows, table.Row{Cells: acceptanceCells(cell, found[i], sometimes, positions)})
		if found[i] != nil {
			for _, line := range found[i].logLines {
				notes = append(notes, fmt.Sprintf("%s, %s, log: %s", text.Clean(cell.Variant), text.Clean(cell.Point),
					text.Clean(line)))
			}
		}
		if found[i] != nil && randomPrompts(cell) {
			notes = append(notes, fmt.Sprintf("WARNING: %s, %s: drafts are accepted differently on random tokens than "+
				"on text: acceptance does not predict real use", text.Clean(cell.Variant),
				text.Clean(cell.Point)))
		}
	}

	c.Legend = []string{
		"acceptance: accepted / drafted tokens; length: tokens per step that checked a draft, emitted / drafts, " +
			"or 1 + accepted / drafts where emitted tokens are not counted; " +
			"efficiency: emitted / (drafted tokens + drafts), emitted as the engine counts them, else accepted + " +
			"drafts; all over the measured pass",
	}

	if sometimes {
		c.Legend = append(c.Legend, "per step: output tokens per step of a request, those without a draft included: "+
			"n-gram drafts, for one, are made in some steps only")
	}

	if slices.ContainsFunc(cells, func(c compare.Cell) bool { return c.Extrapolated() != nil }) {
		c.Legend = append(c.Legend, grid.ExtrapolatedLegend)
	}

	if slices.ContainsFunc(cells, compare.Cell.IsSimulated) {
		c.Legend = append(c.Legend, grid.SimLegend)
	}

	return []table.Piece{{Title: "Speculative decoding", Table: c, Notes: notes}}
}

func acceptanceCells(cell compare.Cell, a *acceptance, sometimes bool, positions int) []table.Cell {
	cells := []table.Cell{{Text: grid.VariantName(cell)}, {Text: text.Clean(cell.Point)}}
	output := cell.Mean(func(f *results.Figures) *float64 { return f.OutputThroughput })
	rate := table.Number(output, 1)
	if cell.Extrapolated() != nil {
		rate = grid.ExtrapolatedMark + rate
	}

	if a == nil {
		cells = append(cells, table.Cell{Text: "none"}, table.Cell{Text: table.Missing},
			table.Cell{Text: table.Missing}, table.Cell{Text: table.Missing}, table.Cell{Text: table.Missing},
			table.Cell{Text: rate})
		if sometimes {
			positions++
		}
		for range positions {
			cells = append(cells, table.Cell{Text: table.Missing})
		}
		return append(cells, table.Cell{Text: table.Missing})
	}

	k := table.Missing
	if a.K > 0 {
		k = strconv.Itoa(a.K)
	}

	cells = append(
		cells, table.Cell{Text: cmp.Or(text.Clean(a.draft), table.Missing)}, table.Cell{Text: k},
		table.Cell{Text: share(a.rate)},
		table.Cell{Text: table.Number(a.length, studyDigits)}, table.Cell{Text: share(a.efficiency)},
		table.Cell{Text: rate},
	)
	if sometimes {
		cells = append(cells, table.Cell{Text: table.Number(a.perStep, studyDigits)})
	}

	for i := range positions {
		text := table.Missing
		if i < len(a.perPosition) {
			text = share(&a.perPosition[i])
		}
		cells = append(cells, table.Cell{Text: text})
	}

	return append(cells, table.Cell{Text: string(a.source)})
}

// share is a part of one as a percentage without its sign.
func share(v *float64) string {
	if v == nil {
		return table.Missing
	}
	return table.Number(new(100**v), 1)
}

// randomPrompts reports whether a step's prompts are tokens drawn at random.
func randomPrompts(c compare.Cell) bool {
	return slices.ContainsFunc(c.Counted, func(r *results.Result) bool {
		return strings.HasPrefix(r.Asked.Dataset, "random") || r.Asked.Dataset == "fixed"
	})
}
