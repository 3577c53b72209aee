package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// namedTable is a table that scenarios and users ask for by name.
type namedTable struct {
	name string
	what string
	draw func(*results.Run) []table.Piece
}

func namedTables() []namedTable {
	return []namedTable{
		{"differences", "every variant compared with the baseline: change, interval, verdict", differenceParts},
		{"search", "limits that searches found, and each search step", studies.SearchParts},
		{"tune", "the best variant of a tuning, its evidence and its command line", studies.TuneParts},
		{"blame", "effects of the settings in which two variants differ", studies.BlameParts},
		{"bisect", "with which version a figure changed", studies.BisectParts},
		{"parts", "figures of each class of requests, adapter, stage and probe of a load", studies.PartParts},
		{"repeats", "one table per variant, one row per repeat", studies.RepeatParts},
		{"concurrency", "model by concurrency", studies.ConcurrencyParts},
		{"sizes", "concurrency, with the sizes of the models", studies.SizeParts},
		{"backends", "engines and quantizations side by side, one table per load point", studies.BackendParts},
		{"two-pass", "figures of method sqzb, with the pass that each comes from", studies.PassParts},
		{"speculation", "speculative decoding: acceptance and system efficiency", studies.SpeculationParts},
		{"measures", "figures of methods that send no requests", studies.MeasureParts},
		{"llama-bench", "tests of llama-bench, sweeps, environment switches", studies.LlamaBenchParts},
		{"appendix", "each step as vLLM's client prints it", studies.AppendixParts},
	}
}

// TableNames are the tables that can be asked for.
func TableNames() []string {
	var names []string
	for _, t := range namedTables() {
		names = append(names, t.name)
	}
	return names
}

// TableHelp says what each named table shows, one per line.
func TableHelp() string {
	var b strings.Builder
	for _, t := range namedTables() {
		fmt.Fprintf(&b, "  %-12s %s\n", t.name, t.what)
	}
	return b.String()
}

// Tables prints named tables of a run and nothing else but what must stand
// above all figures.
func Tables(w io.Writer, run *results.Run, names []string, form table.Format, opts table.Options) error {
	parts, err := tablesOf(run, names)
	if err != nil {
		return err
	}

	if len(parts) == 0 {
		parts = []table.Piece{{Intro: []string{"The run has no data for " + strings.Join(names, ", ") + "."}}}
	}

	loud := headlineOf(run).simulated
	if form == table.ForMarkdown {
		out := &bytes.Buffer{}
		if loud != "" {
			fmt.Fprintf(out, "**%s**\n", table.Escape(loud))
		}
		table.MarkdownPieces(out, parts)
		_, err = w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
		return err
	}

	p := table.NewPrinter(opts)
	if loud != "" {
		p.Line(p.Loud(loud))
	}

	p.Pieces(parts)

	return p.Flush(w)
}

func tablesOf(run *results.Run, names []string) ([]table.Piece, error) {
	var parts []table.Piece
	for _, name := range names {
		at := slices.IndexFunc(namedTables(), func(t namedTable) bool { return t.name == name })
		if at < 0 {
			return nil, fmt.Errorf("table %q: want one of %s", name, strings.Join(TableNames(), ", "))
		}
		parts = append(parts, namedTables()[at].draw(run)...)
	}
	return parts, nil
}

// scenarioParts are the tables that the scenario asks for, and those that its
// method needs.
func scenarioParts(run *results.Run) []table.Piece {
	names := slices.Clone(run.Manifest.Tables)
	if export.HasParts(run) {
		names = text.AppendNew(names, "parts")
	}
	switch run.Manifest.Method {
	case results.MethodSQZB:
		names = text.AppendNew(names, "two-pass")
	case results.MethodLlamaBench:
		names = text.AppendNew(names, "llama-bench")
	case "", results.MethodServing:
	default:
		names = text.AppendNew(names, "measures")
	}

	var parts []table.Piece
	for _, name := range names {
		drawn, err := tablesOf(run, []string{name})
		if err != nil {
			drawn = []table.Piece{{Intro: []string{text.Clean(err.Error())}}}
		}
		inEvery := []string{"differences", "search", "tune", "blame", "bisect"} // report
		if !slices.Contains(inEvery, name) {
			parts = append(parts, drawn...)
		}
	}

	return parts
}
