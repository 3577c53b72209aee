package detail

import (
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// partFigure is a column of the tables by part.
type partFigure struct {
	head, unit string
	digits     int
	figure     catalog.Figure
}

// partFigures are the figures of a part that tables show. high is the percentile
// beside the median.
func partFigures(high float64) []partFigure {
	var all []partFigure
	for _, sample := range []string{"TTFT", "ITL", "E2EL"} {
		for _, stat := range []string{"median", metrics.PercentileName(high)} {
			f := catalog.Must(stat + "_" + strings.ToLower(sample) + "_s")
			all = append(all, partFigure{sample, stat + " " + f.Unit, 1, f})
		}
	}
	return append(all,
		partFigure{"requests", "req/s", 2, catalog.Must("request_throughput")},
		partFigure{"goodput", "req/s", 2, catalog.Must("request_goodput")},
		partFigure{"output", "tok/s", 1, catalog.Must("output_throughput")})
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

	for _, column := range partFigures(highPercentile(rows)) {
		known := false
		texts := make([]string, len(rows))
		for i, r := range rows {
			mean := meanOf(r.Figures, column.figure)
			known = known || mean != nil
			texts[i] = table.Scaled(mean, column.figure.Scale, column.digits)
		}
		if !known {
			continue
		}
		t.Columns = append(t.Columns, table.Numbers(column.head, column.unit))
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
func meanOf(all []results.Figures, figure catalog.Figure) *float64 {
	var values []float64
	for i := range all {
		if v := figure.Of(&results.Result{Figures: &all[i]}); v != nil {
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
