package grid

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

// Gib is the bytes of a GiB.
const Gib = 1 << 30

// SumOf is what the GPUs of a step did together; null where there were none.
func SumOf(r *results.Result) *results.GPUFigures {
	if r.Telemetry == nil {
		return nil
	}
	return r.Telemetry.Sum
}

// gpuColumns are the columns about GPUs of the comparison, of what at least
// one cell knows.
func gpuColumns(cells []compare.Cell) []Column {
	all := []Column{
		{Head: "VRAM", Unit: "peak GiB", Scale: 1.0 / Gib, unranked: true, telemetry: OfSum(MemoryPeak)},
		{Head: "power", Unit: "mean W", Scale: 1, unranked: true, power: true, telemetry: OfSum(MeanPower)},
		{Head: "energy", Unit: "J/output tok", Scale: 1, Better: LowerIsBetter, power: true, telemetry: joulesPerToken},
	}
	return slices.DeleteFunc(all, func(c Column) bool { return !known(c, cells) })
}

func known(c Column, cells []compare.Cell) bool {
	return slices.ContainsFunc(cells, func(cell compare.Cell) bool { return c.Of(cell) != nil })
}

// OfSum reads a figure of the GPUs together.
func OfSum(figure func(*results.GPUFigures) *float64) func(*results.Result) *float64 {
	return func(r *results.Result) *float64 {
		if sum := SumOf(r); sum != nil {
			return figure(sum)
		}
		return nil
	}
}

// MemoryPeak is the most memory that was in use, in bytes.
func MemoryPeak(g *results.GPUFigures) *float64     { return bytesOf(MemoryOf(g).Peak) }
func memoryLoaded(g *results.GPUFigures) *float64   { return bytesOf(MemoryOf(g).Loaded) }
func memoryBaseline(g *results.GPUFigures) *float64 { return bytesOf(MemoryOf(g).Baseline) }

// MeanPower is the mean power of the pass in watts.
func MeanPower(g *results.GPUFigures) *float64 { return g.Pass.PowerMeanW }

// memory is what a GPU had in use: video memory, or where it has none of its
// own, the host's as well.
type memory struct{ Baseline, Loaded, Peak *int64 }

// MemoryOf is the memory that figures of GPUs are about.
func MemoryOf(g *results.GPUFigures) memory {
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

// Efficiency is a figure of a step's energy; null where it is not known.
func Efficiency(r *results.Result, figure func(*results.Efficiency) *float64) *float64 {
	if r.Telemetry == nil || r.Telemetry.Efficiency == nil {
		return nil
	}
	return figure(r.Telemetry.Efficiency)
}

func joulesPerToken(r *results.Result) *float64 {
	return Efficiency(r, func(e *results.Efficiency) *float64 { return e.JPerOutputToken })
}

// throttled reports whether a GPU of the step slowed down for another reason
// than its power limit.
func throttled(r *results.Result) bool {
	sum := SumOf(r)
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

// ThrottleText lists reasons with their share of time, the largest first.
func ThrottleText(shares map[string]float64) string {
	reasons := slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		if shares[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %%", text.Clean(reason),
				strconv.FormatFloat(100*shares[reason], 'f', 1, 64)))
		}
	}
	return strings.Join(parts, ", ")
}

// CompareGPUs is the table of what the GPUs did, one row a cell; it has no
// rows where no step has any.
func CompareGPUs(run *results.Run) table.Table {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, versus.StepResults(run)), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return SumOf(r) != nil })
	})

	if len(cells) == 0 {
		return table.Table{}
	}

	c := table.Table{Columns: []table.Column{table.Words("variant"), table.Words("point"), table.Numbers("GPUs", "")}}
	for i, cell := range cells {
		c.Rows = append(c.Rows, table.Row{NewGroup: i > 0 && cell.Point != cells[i-1].Point, Cells: []table.Cell{
			{Text: VariantName(cell)}, {Text: text.Clean(cell.Point)}, {Text: strconv.Itoa(gpusOf(cell))},
		}})
	}

	for _, col := range gpuTableColumns() {
		if !known(col, cells) {
			continue
		}
		c.Columns = append(c.Columns, table.Numbers(col.Head, col.Unit))
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
func gpuTableColumns() []Column {
	figure := func(head, unit string, scale float64, of func(*results.GPUFigures) *float64) Column {
		return Column{Head: head, Unit: unit, Scale: scale, unranked: true, telemetry: OfSum(of)}
	}

	work := func(head, unit string, of func(*results.Efficiency) *float64) Column {
		return Column{
			Head: head, Unit: unit, Scale: 1, unranked: true,
			telemetry: func(r *results.Result) *float64 { return Efficiency(r, of) },
		}
	}

	return []Column{
		figure("VRAM GiB", "before", 1.0/Gib, memoryBaseline),
		figure("VRAM GiB", "loaded", 1.0/Gib, memoryLoaded),
		figure("VRAM GiB", "peak", 1.0/Gib, MemoryPeak),
		figure("power W", "idle", 1, func(g *results.GPUFigures) *float64 { return g.IdleW }),
		figure("power W", "mean", 1, MeanPower),
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
		if sum := SumOf(r); sum != nil && sum.Pass.Throttle != nil {
			told = true
			for reason, share := range sum.Pass.Throttle {
				worst[reason] = max(worst[reason], share)
			}
		}
	}
	if !told {
		return table.Missing
	}
	return cmp.Or(ThrottleText(worst), "none")
}
