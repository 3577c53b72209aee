package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// drafting is how a server was told to speculate.
type drafting struct {
	k     int    // tokens drafted at once; 0: not known
	draft string // model or method; "": not known
}

// draftingOf reads it from the arguments of the engines.
func draftingOf(s results.Server) drafting {
	args := argumentsOf(s.Argv, func(text string) string { return text })
	var d drafting
	var config struct {
		Tokens int    `json:"num_speculative_tokens"`
		Model  string `json:"model"`
		Method string `json:"method"`
	}
	if json.Unmarshal([]byte(args["--speculative-config"]), &config) == nil {
		d = drafting{config.Tokens, cmp.Or(config.Model, config.Method)}
	}
	for _, name := range []string{"--num-speculative-tokens", "--draft-max", "--draft", "--draft-n", "--speculative-num-draft-tokens", "--speculate", "--sim-spec-tokens"} {
		if n, err := strconv.Atoi(args[name]); err == nil && d.k == 0 {
			d.k = n
		}
	}
	for _, name := range []string{"--speculative-model", "--model-draft", "-md", "--speculative-draft-model-path", "--speculative-draft-model", "--speculative-algorithm"} {
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
	efficiency  *float64
	perPosition []float64
	logLines    []string
}

// acceptanceOf is nil for a cell that drafted nothing.
func acceptanceOf(c metrics.Cell) *acceptance {
	var servers []results.Server
	for _, r := range c.Counted {
		servers = append(servers, r.Servers...)
	}
	at := slices.IndexFunc(servers, func(s results.Server) bool { return s.Speculation != nil && s.Speculation.Rate != nil })
	spec := results.SpeculationOf(servers)
	if spec == nil && at < 0 {
		return nil
	}
	a := &acceptance{drafting: draftingOf(servers[0])}
	if at >= 0 {
		told := servers[at].Speculation
		a.source, a.rate, a.length, a.efficiency, a.perPosition, a.logLines = told.Source, told.Rate, told.Length, told.Efficiency, told.AtPosition, told.LogLines
		if told.Tokens != nil {
			a.k = *told.Tokens
		}
	}
	if spec != nil { // counts, over all servers and repeats
		a.source, a.rate, a.efficiency, a.perPosition = spec.Source, &spec.AcceptanceRate, spec.SystemEfficiency, spec.PerPosition
		if spec.Drafts > 0 {
			a.length = &spec.AcceptanceLength
		}
	}
	return a
}

func speculationParts(run *results.Run) []Piece {
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
	c := Table{Columns: []Column{
		{"variant", "", true},
		{"point", "", true},
		{"draft", "", true},
		{"k", "", false},
		{"acceptance", "%", false},
		{"length", "mean", false},
		{"efficiency", "%", false},
		{"output", "tok/s", false},
	}, Keys: []int{0, 1}}
	for i := range positions {
		c.Columns = append(c.Columns, Column{"position", strconv.Itoa(i) + ", %", false})
	}
	c.Columns = append(c.Columns, Column{"source", "", true})
	var notes []string
	for i, cell := range cells {
		c.Rows = append(c.Rows, Row{Cells: acceptanceCells(cell, found[i], positions)})
		if found[i] != nil {
			for _, line := range found[i].logLines {
				notes = append(notes, fmt.Sprintf("%s, %s, log: %s", text.Clean(cell.Variant), text.Clean(cell.Point), text.Clean(line)))
			}
		}
		if found[i] != nil && randomPrompts(cell) {
			notes = append(notes, fmt.Sprintf("WARNING: %s, %s: prompts are random token ids, which no draft model foresees as it does text: acceptance says nothing of real use", text.Clean(cell.Variant), text.Clean(cell.Point)))
		}
	}
	c.Legend = []string{
		"acceptance: accepted / drafted tokens; length: 1 + accepted / drafts, the tokens a step of the large model; efficiency: emitted / (drafted tokens + drafts), emitted as the engine counts them, else accepted + drafts; all over the measured pass",
	}
	if slices.ContainsFunc(cells, func(c metrics.Cell) bool { return extrapolationOf(c) != nil }) {
		c.Legend = append(c.Legend, extrapolatedLegend)
	}
	if slices.ContainsFunc(cells, isSimulated) {
		c.Legend = append(c.Legend, simLegend)
	}
	return []Piece{{Title: "Speculative decoding", Table: c, Notes: notes}}
}

func acceptanceCells(cell metrics.Cell, a *acceptance, positions int) []Cell {
	cells := []Cell{{Text: variantName(cell)}, {Text: text.Clean(cell.Point)}}
	output := cell.Mean(func(f *results.Figures) *float64 { return f.OutputThroughput })
	rate := formatNumber(output, 1)
	if extrapolationOf(cell) != nil {
		rate = extrapolatedMark + rate
	}
	if a == nil {
		cells = append(cells, Cell{Text: "none"}, Cell{Text: missing}, Cell{Text: missing}, Cell{Text: missing}, Cell{Text: missing}, Cell{Text: rate})
		for range positions {
			cells = append(cells, Cell{Text: missing})
		}
		return append(cells, Cell{Text: missing})
	}
	k := missing
	if a.k > 0 {
		k = strconv.Itoa(a.k)
	}
	cells = append(
		cells, Cell{Text: cmp.Or(text.Clean(a.draft), missing)}, Cell{Text: k}, Cell{Text: share(a.rate)},
		Cell{Text: formatNumber(a.length, studyDigits)}, Cell{Text: share(a.efficiency)}, Cell{Text: rate},
	)
	for i := range positions {
		text := missing
		if i < len(a.perPosition) {
			text = share(&a.perPosition[i])
		}
		cells = append(cells, Cell{Text: text})
	}
	return append(cells, Cell{Text: string(a.source)})
}

// share is a part of one as a percentage without its sign.
func share(v *float64) string {
	if v == nil {
		return missing
	}
	return formatNumber(new(100**v), 1)
}

// randomPrompts reports whether a step's prompts are tokens drawn at random.
func randomPrompts(c metrics.Cell) bool {
	return slices.ContainsFunc(c.Counted, func(r *results.Result) bool {
		return strings.HasPrefix(r.Asked.Dataset, "random") || r.Asked.Dataset == "fixed"
	})
}
