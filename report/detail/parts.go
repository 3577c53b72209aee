package detail

import (
	"fmt"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// partFigure is a column of the tables by part.
type partFigure struct {
	head, unit string
	scale      float64
	digits     int
	of         func(*results.Figures) *float64
}

// partFigures are the figures of a part that tables show. high is the percentile
// beside the median.
func partFigures(high float64) []partFigure {
	const ms = 1000
	p := fmt.Sprintf("p%g ms", high)
	tail := func(of func(*results.Figures) results.Dist) func(*results.Figures) *float64 {
		return func(f *results.Figures) *float64 { return metrics.At(of(f), high) }
	}
	ttft := func(f *results.Figures) results.Dist { return f.TTFT }
	itl := func(f *results.Figures) results.Dist { return f.ITL }
	e2el := func(f *results.Figures) results.Dist { return f.E2EL }
	return []partFigure{
		{"TTFT", "median ms", ms, 1, func(f *results.Figures) *float64 { return f.TTFT.Median }},
		{"TTFT", p, ms, 1, tail(ttft)},
		{"ITL", "median ms", ms, 1, func(f *results.Figures) *float64 { return f.ITL.Median }},
		{"ITL", p, ms, 1, tail(itl)},
		{"E2EL", "median ms", ms, 1, func(f *results.Figures) *float64 { return f.E2EL.Median }},
		{"E2EL", p, ms, 1, tail(e2el)},
		{"requests", "req/s", 1, 2, func(f *results.Figures) *float64 { return f.RequestThroughput }},
		{"goodput", "req/s", 1, 2, func(f *results.Figures) *float64 { return f.RequestGoodput }},
		{"output", "tok/s", 1, 1, func(f *results.Figures) *float64 { return f.OutputThroughput }},
	}
}

// PartRow is one part of a step, or of several steps alike.
type PartRow struct {
	Keys    []string // which steps
	Part    string   // PartName
	Figures []results.Figures
}

// PartName is "class chat", or "probes".
func PartName(p results.PartFigures) string {
	if p.By == results.ByProbe {
		return text.Clean(p.Name)
	}
	return string(p.By) + " " + text.Clean(p.Name)
}

// PartTable is a table of parts, one per row. keys are the heads of the columns that
// say which steps; figures are means over these.
func PartTable(keys []string, rows []PartRow) table.Table {
	t := table.Table{}
	for i, head := range append(keys, "part") {
		t.Columns, t.Keys = append(t.Columns, table.Words(head)), append(t.Keys, i)
	}
	t.Columns = append(t.Columns, table.Numbers("n", ""), table.Numbers("failed", ""))
	for _, r := range rows {
		row := table.NewRow(append(append([]string{}, r.Keys...), r.Part)...)
		n, failed := 0, 0
		for _, f := range r.Figures {
			n, failed = n+f.Completed, failed+f.Failed
		}
		row.Cells = append(row.Cells, table.Cell{Text: strconv.Itoa(n)}, table.Cell{Text: strconv.Itoa(failed)})
		t.Rows = append(t.Rows, row)
	}

	for _, figure := range partFigures(highPercentile(rows)) {
		known := false
		texts := make([]string, len(rows))
		for i, r := range rows {
			mean := meanOf(r.Figures, figure.of)
			known = known || mean != nil
			if texts[i] = table.Missing; mean != nil {
				shown := *mean * figure.scale
				texts[i] = table.Number(&shown, figure.digits)
			}
		}
		if !known {
			continue
		}
		t.Columns = append(t.Columns, table.Numbers(figure.head, figure.unit))
		for i := range rows {
			t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: texts[i]})
		}
	}

	return t
}

// highPercentile is the percentile of the tail that the rows have.
func highPercentile(rows []PartRow) float64 {
	var samples []results.Dist
	for _, r := range rows {
		for _, f := range r.Figures {
			samples = append(samples, f.E2EL)
		}
	}
	return metrics.TailOf(samples...)
}

// meanOf is the mean of a figure over those that know it; nil: none does.
func meanOf(all []results.Figures, of func(*results.Figures) *float64) *float64 {
	var values []float64
	for i := range all {
		if v := of(&all[i]); v != nil {
			values = append(values, *v)
		}
	}
	if values == nil {
		return nil
	}
	return new(metrics.Mean(values))
}

// printParts prints the figures of each part of a step.
func printParts(p *table.Printer, parts []results.PartFigures) {
	if len(parts) == 0 {
		return
	}
	rows := make([]PartRow, len(parts))
	for i, part := range parts {
		rows[i] = PartRow{Part: PartName(part), Figures: []results.Figures{part.Figures}}
	}
	p.Section("Parts of the load")
	p.Table(PartTable(nil, rows))
}
