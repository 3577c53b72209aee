package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// costLegend stands beside every table with a cost in it.
const costLegend = "cost: GPUs x hours of the measured window x price, or energy of the GPUs x price (idle power included, host and cooling not), / tokens of the successful requests"

func costOf(of func(*results.Cost) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if r.Cost == nil {
			return nil
		}
		return of(r.Cost)
	}
}

func perMillionOutput(c *results.Cost) *float64 { return c.PerMillionOutput }
func perMillionTotal(c *results.Cost) *float64  { return c.PerMillionTotal }
func perRequest(c *results.Cost) *float64       { return c.PerRequest }

// costColumn is the cost in the comparison of variants; none where no price is
// known.
func costColumn(cells []compare.Cell) []column {
	currency := versus.CurrencyOf(cells...)
	if currency == "" {
		return nil
	}
	return []column{{
		head: "cost " + currency, unit: "/1M out tok", scale: 1, better: lowerIsBetter, telemetry: costOf(perMillionOutput), money: true,
	}}
}

// compareCosts is the table of costs, one row a cell; it has no rows where no
// price is known.
func compareCosts(run *results.Run) table.Table {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, versus.StepResults(run)), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return r.Cost != nil && r.Figures != nil })
	})
	if len(cells) == 0 {
		return table.Table{}
	}
	c := table.Table{Columns: []table.Column{table.Words("variant"), table.Words("point"), table.Numbers("GPUs", "")}}
	for i, cell := range cells {
		c.Rows = append(c.Rows, table.Row{NewGroup: i > 0 && cell.Point != cells[i-1].Point, Cells: []table.Cell{
			{Text: variantName(cell)}, {Text: text.Clean(cell.Point)}, {Text: paidGPUs(cell)},
		}})
	}
	currency, marks := versus.CurrencyOf(cells...), ""
	for _, col := range []column{
		{head: "GPU-hours", scale: 1, unranked: true, telemetry: costOf(func(c *results.Cost) *float64 { return c.GPUHours })},
		{head: "energy", unit: "kWh", scale: 1, unranked: true, telemetry: costOf(func(c *results.Cost) *float64 { return c.EnergyKWh })},
		{head: currency, unit: "of the pass", scale: 1, unranked: true, telemetry: costOf(func(c *results.Cost) *float64 { return c.Total })},
		{head: currency, unit: "/1M out tok", scale: 1, better: lowerIsBetter, telemetry: costOf(perMillionOutput)},
		{head: currency, unit: "/1M tok", scale: 1, better: lowerIsBetter, telemetry: costOf(perMillionTotal)},
		{head: currency, unit: "/request", scale: 1, better: lowerIsBetter, telemetry: costOf(perRequest)},
	} {
		if !known(col, cells) {
			continue
		}
		c.Columns = append(c.Columns, table.Numbers(col.head, col.unit))
		for i, e := range fill(col, cells) {
			e.Text = e.Mark + e.Text
			marks += e.Mark
			c.Rows[i].Cells = append(c.Rows[i].Cells, e)
		}
	}
	c.Columns = append(c.Columns, table.Words("price"))
	for i, cell := range cells {
		c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: versus.PriceText(cell)})
	}
	c.Legend = append(markLegend(marks), costLegend)
	return c
}

// testCostLegend stands beside the costs of llama-bench's tests.
const testCostLegend = "cost: GPUs x price of an hour / 3600 / (t/s) x 1,000,000; the energy of a single test is not known"

// costsOfTests are the costs of a million tokens of each test, in the order
// given; null where none is known.
func costsOfTests(all []tested) []string {
	texts, any := make([]string, len(all)), false
	for i, t := range all {
		texts[i] = table.Missing
		for _, r := range t.cell.Counted {
			if v := catalog.CostOfTest(r.Cost, t.mean); v != nil {
				texts[i], any = table.Number(v, table.DigitsOf(*v)), true
				break
			}
		}
	}
	if !any {
		return nil
	}
	return texts
}

// costNotes say why costs are not known.
func costNotes(run *results.Run) []string {
	var lines []string
	of := make(map[string][]string)
	for _, s := range run.Steps {
		if r := s.Result; r.Cost != nil && r.Cost.Reason != "" && (r.Figures != nil || len(r.LlamaBench) > 0) {
			lines = text.AppendNew(lines, r.Cost.Reason)
			of[r.Cost.Reason] = append(of[r.Cost.Reason], r.Step.ID)
		}
	}
	for i, why := range lines {
		lines[i] = fmt.Sprintf("no cost of %s: %s", text.Few(of[why]), text.Clean(why))
	}
	return lines
}

// costParts draw the table of costs and what is missing in it.
func costParts(run *results.Run) []table.Piece {
	p := table.Piece{Title: "Cost", Table: compareCosts(run), Notes: costNotes(run)}
	if len(p.Table.Rows) == 0 && len(p.Notes) == 0 {
		return nil
	}
	return []table.Piece{p}
}

func paidGPUs(c compare.Cell) string {
	for _, r := range c.Counted {
		if r.Cost != nil && r.Cost.GPUs != nil {
			return strconv.Itoa(*r.Cost.GPUs)
		}
	}
	return table.Missing
}

// printCost prints what a step cost.
func printCost(p *table.Printer, c *results.Cost) {
	if c == nil {
		return
	}
	p.Section("Cost")
	price := versus.PriceWords(c.Price)
	if c.Reason != "" && c.Total == nil {
		p.Wrapped("  ", fmt.Sprintf("at %s: not known: %s", price, text.Clean(c.Reason)))
		return
	}
	var parts []string
	if c.GPUHours != nil {
		parts = append(parts, fmt.Sprintf("%s for %s GPU-hours (known from %s)", text.Count(*c.GPUs, "GPU"), exactly(c.GPUHours), text.Clean(c.GPUsFrom)))
	}
	if c.EnergyKWh != nil {
		parts = append(parts, fmt.Sprintf("%s kWh by the GPUs, idle power included, host not", exactly(c.EnergyKWh)))
	}
	p.Wrapped("  ", fmt.Sprintf("%s at %s: %s %s", strings.Join(parts, "; "), price, exactly(c.Total), text.Clean(c.Price.Currency)))
	p.Wrapped("  ", fmt.Sprintf("%s a million output tokens, %s a million tokens, %s a request", exactly(c.PerMillionOutput), exactly(c.PerMillionTotal), exactly(c.PerRequest)))
}

// exactly shows four digits that count.
func exactly(v *float64) string {
	if v == nil {
		return table.Missing
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

// costFields are the columns of summary.csv about costs, where a step has any.
func costFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Cost != nil }) {
		return nil
	}
	field := func(name string, of func(*results.Cost) string) csvField {
		return ofPart(name, func(r *results.Result) *results.Cost { return r.Cost }, of)
	}
	number := func(name string, of func(*results.Cost) *float64) csvField {
		return field(name, func(c *results.Cost) string { return exact(of(c)) })
	}
	return []csvField{
		field("cost_currency", func(c *results.Cost) string { return text.Clean(c.Price.Currency) }),
		number("price_per_gpu_hour", func(c *results.Cost) *float64 { return c.Price.PerGPUHour }),
		number("price_per_kwh", func(c *results.Cost) *float64 { return c.Price.PerKWh }),
		field("cost_gpus", func(c *results.Cost) string {
			if c.GPUs == nil {
				return ""
			}
			return strconv.Itoa(*c.GPUs)
		}),
		number("gpu_hours", func(c *results.Cost) *float64 { return c.GPUHours }),
		number("energy_kwh", func(c *results.Cost) *float64 { return c.EnergyKWh }),
		number("cost_total", func(c *results.Cost) *float64 { return c.Total }),
		number("cost_per_million_output_tokens", perMillionOutput),
		number("cost_per_million_total_tokens", perMillionTotal),
		number("cost_per_request", perRequest),
	}
}
