package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

const gib = 1 << 30

// sumOf is what the GPUs of a step did together; null where there were none.
func sumOf(r *results.Result) *results.GPUFigures {
	if r.Telemetry == nil {
		return nil
	}
	return r.Telemetry.Sum
}

// gpuColumns are the columns about GPUs of the comparison, of what at least
// one cell knows.
func gpuColumns(cells []compare.Cell) []column {
	all := []column{
		{head: "VRAM", unit: "peak GiB", scale: 1.0 / gib, unranked: true, telemetry: ofSum(memoryPeak)},
		{head: "power", unit: "mean W", scale: 1, unranked: true, power: true, telemetry: ofSum(meanPower)},
		{head: "energy", unit: "J/output tok", scale: 1, better: lowerIsBetter, power: true, telemetry: joulesPerToken},
	}
	return slices.DeleteFunc(all, func(c column) bool { return !known(c, cells) })
}

func known(c column, cells []compare.Cell) bool {
	return slices.ContainsFunc(cells, func(cell compare.Cell) bool { return c.of(cell) != nil })
}

// ofSum reads a figure of the GPUs together.
func ofSum(figure func(*results.GPUFigures) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if sum := sumOf(r); sum != nil {
			return figure(sum)
		}
		return nil
	}
}

func memoryPeak(g *results.GPUFigures) *float64     { return bytesOf(memoryOf(g).peak) }
func memoryLoaded(g *results.GPUFigures) *float64   { return bytesOf(memoryOf(g).loaded) }
func memoryBaseline(g *results.GPUFigures) *float64 { return bytesOf(memoryOf(g).baseline) }
func meanPower(g *results.GPUFigures) *float64      { return g.Pass.PowerMeanW }

// memory is what a GPU had in use: video memory, or where it has none of its
// own, the host's as well.
type memory struct{ baseline, loaded, peak *int64 }

func memoryOf(g *results.GPUFigures) memory {
	if g.Unified && g.MemoryPeak != nil {
		return memory{g.MemoryBase, g.MemoryLoaded, g.MemoryPeak}
	}
	return memory{g.VRAMBaseline, g.VRAMLoaded, g.VRAMPeak}
}

func bytesOf(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return new(float64(*v))
}

func efficiency(r *results.Result, figure func(*results.Efficiency) *float64) *float64 {
	if r.Telemetry == nil || r.Telemetry.Efficiency == nil {
		return nil
	}
	return figure(r.Telemetry.Efficiency)
}

func joulesPerToken(r *results.Result) *float64 {
	return efficiency(r, func(e *results.Efficiency) *float64 { return e.JPerOutputToken })
}

// throttled reports whether a GPU of the step slowed down for another reason
// than its power limit.
func throttled(r *results.Result) bool {
	sum := sumOf(r)
	if sum == nil {
		return false
	}
	for reason, share := range sum.Pass.Throttle {
		if reason != results.ThrottlePower && share > 0 {
			return true
		}
	}
	return false
}

// throttleText lists reasons with their share of time, the largest first.
func throttleText(shares map[string]float64) string {
	reasons := slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		if shares[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %%", text.Clean(reason), strconv.FormatFloat(100*shares[reason], 'f', 1, 64)))
		}
	}
	return strings.Join(parts, ", ")
}

// compareGPUs is the table of what the GPUs did, one row a cell; it has no
// rows where no step has any.
func compareGPUs(run *results.Run) table.Table {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, versus.StepResults(run)), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return sumOf(r) != nil })
	})
	if len(cells) == 0 {
		return table.Table{}
	}
	c := table.Table{Columns: []table.Column{table.Words("variant"), table.Words("point"), table.Numbers("GPUs", "")}}
	for i, cell := range cells {
		c.Rows = append(c.Rows, table.Row{NewGroup: i > 0 && cell.Point != cells[i-1].Point, Cells: []table.Cell{
			{Text: variantName(cell)}, {Text: text.Clean(cell.Point)}, {Text: strconv.Itoa(gpusOf(cell))},
		}})
	}
	for _, col := range gpuTableColumns() {
		if !known(col, cells) {
			continue
		}
		c.Columns = append(c.Columns, table.Numbers(col.head, col.unit))
		for i, e := range fill(col, cells) {
			c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: e.Mark + e.Text})
		}
	}
	c.Columns = append(c.Columns, table.Column{Head: "throttling", Unit: "share of time", Text: true})
	for i, cell := range cells {
		c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: throttlingOf(cell)})
	}
	return c
}

// gpuTableColumns are the figures of the table of GPUs. Those of the steps'
// own reports and of summary.csv are more.
func gpuTableColumns() []column {
	figure := func(head, unit string, scale float64, of func(*results.GPUFigures) *float64) column {
		return column{head: head, unit: unit, scale: scale, unranked: true, telemetry: ofSum(of)}
	}
	work := func(head, unit string, of func(*results.Efficiency) *float64) column {
		return column{head: head, unit: unit, scale: 1, unranked: true, telemetry: func(r *results.Result) *float64 { return efficiency(r, of) }}
	}
	return []column{
		figure("VRAM GiB", "before", 1.0/gib, memoryBaseline),
		figure("VRAM GiB", "loaded", 1.0/gib, memoryLoaded),
		figure("VRAM GiB", "peak", 1.0/gib, memoryPeak),
		figure("power W", "idle", 1, func(g *results.GPUFigures) *float64 { return g.IdleW }),
		figure("power W", "mean", 1, meanPower),
		figure("power W", "max", 1, func(g *results.GPUFigures) *float64 { return g.Pass.PowerMaxW }),
		figure("power W", "limit", 1, func(g *results.GPUFigures) *float64 { return g.PowerLimitW }),
		figure("energy", "J", 1, func(g *results.GPUFigures) *float64 { return g.Pass.EnergyJ }),
		work("J/tok", "all", func(e *results.Efficiency) *float64 { return e.JPerTotalToken }),
		work("J/req", "", func(e *results.Efficiency) *float64 { return e.JPerRequest }),
		work("output", "tok/s/W", func(e *results.Efficiency) *float64 { return e.TokensPerSPerW }),
		figure("hottest", "C", 1, func(g *results.GPUFigures) *float64 { return g.Pass.TempMaxC }),
	}
}

func gpusOf(c compare.Cell) int {
	most := 0
	for _, r := range c.Counted {
		if r.Telemetry != nil {
			most = max(most, len(r.Telemetry.GPUs))
		}
	}
	return most
}

// throttlingOf is the worst of the cell's steps.
func throttlingOf(c compare.Cell) string {
	worst := map[string]float64{}
	told := false
	for _, r := range c.Counted {
		if sum := sumOf(r); sum != nil && sum.Pass.Throttle != nil {
			told = true
			for reason, share := range sum.Pass.Throttle {
				worst[reason] = max(worst[reason], share)
			}
		}
	}
	if !told {
		return table.Missing
	}
	return cmp.Or(throttleText(worst), "none")
}

// printGPUTable prints the table of GPUs.
func printGPUTable(p *table.Printer, c table.Table) {
	if len(c.Rows) == 0 {
		return
	}
	p.Section("GPUs")
	p.Table(c)
}
