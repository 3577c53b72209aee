package report

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// OneLine is a step's outcome in a line.
func OneLine(r *results.Result) string { return Outcome(r, nil) }

// Outcome is OneLine for readers who know the details of one failure already:
// of that it says the class only.
func Outcome(r *results.Result, known *results.Failure) string {
	line := string(r.Verdict)
	if f := r.Figures; f != nil {
		line += fmt.Sprintf(", %d/%d requests in %.1f s", f.Completed, f.Asked, f.DurationS)
		if f.OutputThroughput != nil {
			line += fmt.Sprintf(", %.1f output tok/s", *f.OutputThroughput)
		}
		if e := r.Extrapolated; e != nil {
			line += fmt.Sprintf(" of one replica, which stands for %d", e.Factor)
		}
	}

	line += llamaBenchTests(r.LlamaBench) + measuresText(r.Measures)
	if s := r.SQZB; s != nil && s.GenerationThroughput != nil {
		line += fmt.Sprintf(", without the prefill %.1f", *s.GenerationThroughput)
	}

	switch r.Failure {
	case nil:
	case known:
		line += ": " + string(r.Failure.Class)
	default:
		line += ": " + r.Failure.Error()
	}

	return line
}

// measuresText are the first figures of a method that sends no requests.
func measuresText(measures []results.Measure) string {
	const few = 2
	var line strings.Builder
	for _, m := range measures[:min(few, len(measures))] {
		fmt.Fprintf(&line, ", %s %s %s", text.Clean(m.Title), table.Number(m.Value, 2), text.Clean(m.Unit))
	}
	return line.String()
}

// llamaBenchTests are the results of llama-bench, where they are few, else their number.
func llamaBenchTests(rows []results.LlamaBenchRow) string {
	const few = 4
	if len(rows) > few {
		return fmt.Sprintf(", %d tests", len(rows))
	}
	var line strings.Builder
	settings := catalog.TestSettings(rows)
	for _, row := range rows {
		fmt.Fprintf(&line, ", %s %.1f tok/s", text.Clean(catalog.TestText(row.Test, settings(row), "")), row.TokensPerS)
	}
	return line.String()
}
