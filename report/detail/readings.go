package detail

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// shownGenerations are the readings that the step report shows beside ours;
// result.json has all.
func shownGenerations() []results.Generation {
	return []results.Generation{results.VLLM, results.VLLM06}
}

// beside is a figure of the headline next to that of vLLM's client.
type beside struct {
	name     string
	decimals int
	ours     func(*results.Figures) *float64
	theirs   func(results.CompatReading) *float64
}

func besides() []beside {
	float := func(n int) *float64 { return new(float64(n)) }
	all := []beside{
		{
			"successful requests", 0, func(f *results.Figures) *float64 { return float(f.Completed) },
			func(c results.CompatReading) *float64 { return float(c.Completed) },
		},
		{
			"output tokens", 0, func(f *results.Figures) *float64 { return OfInt(f.TotalOutputTokens) },
			func(c results.CompatReading) *float64 { return OfInt(c.TotalOutputTokens) },
		},
		{
			"request throughput (req/s)", 2, func(f *results.Figures) *float64 { return f.RequestThroughput },
			func(c results.CompatReading) *float64 { return c.RequestThroughput },
		},
		{
			"output throughput (tok/s)", 2, func(f *results.Figures) *float64 { return f.OutputThroughput },
			func(c results.CompatReading) *float64 { return c.OutputThroughput },
		},
	}

	for _, m := range []struct {
		name   string
		ours   func(*results.Figures) results.Dist
		theirs func(results.CompatReading) results.Dist
	}{
		{"TTFT", grid.Ttft, func(c results.CompatReading) results.Dist { return c.TTFT }},
		{"TPOT", grid.Tpot, func(c results.CompatReading) results.Dist { return c.TPOT }},
		{"ITL", grid.Itl, func(c results.CompatReading) results.Dist { return c.ITL }},
		{"E2EL", grid.E2el, func(c results.CompatReading) results.Dist { return c.E2EL }},
	} {
		all = append(all,
			beside{
				"median " + m.name + " (ms)", 2, func(f *results.Figures) *float64 { return inMS(m.ours(f).Median) },
				func(c results.CompatReading) *float64 { return inMS(m.theirs(c).Median) },
			},
			beside{"p99 " + m.name + " (ms)", 2, func(f *results.Figures) *float64 {
				return inMS(metrics.At(m.ours(f),
					99))
			}, func(c results.CompatReading) *float64 { return inMS(metrics.At(m.theirs(c), 99)) }},
		)
	}

	return all
}

// OfInt is a count as a figure; null stays null.
func OfInt(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func inMS(seconds *float64) *float64 {
	if seconds == nil {
		return nil
	}
	return new(*seconds * 1000)
}

// rounding is the share by which figures may differ and still be called the
// same.
const rounding = 0.001

// differs reports whether a reader would see two figures.
func (b beside) differs(f *results.Figures, c results.CompatReading) bool {
	ours, theirs := b.ours(f), b.theirs(c)
	if ours == nil || theirs == nil {
		return ours != nil && *ours != 0 || theirs != nil && *theirs != 0 // vLLM prints 0 for nothing
	}
	return table.Number(ours, b.decimals) != table.Number(theirs, b.decimals) &&
		math.Abs(*ours-*theirs) > rounding*math.Abs(*ours)
}

// ReadingDiffers reports whether a generation would have shown other figures.
func ReadingDiffers(r *results.Result, g results.Generation) bool {
	c, ok := r.Compat[g]
	if !ok || r.Figures == nil {
		return false
	}
	for _, b := range besides() {
		if b.differs(r.Figures, c) {
			return true
		}
	}
	return false
}

// printReadings prints the figures of vLLM's clients beside ours where they differ,
// and why.
func printReadings(p *table.Printer, r *results.Result) {
	var shown []results.Generation
	for _, g := range shownGenerations() {
		if ReadingDiffers(r, g) {
			shown = append(shown, g)
		}
	}

	if len(shown) == 0 {
		return
	}

	p.Section("What vLLM's client would have shown")
	heads := []string{"here"}
	for _, g := range shown {
		heads = append(heads, string(g))
	}

	printReadingRow(p, "", heads)
	for _, b := range besides() {
		values := []string{table.Number(b.ours(r.Figures), b.decimals)}
		for _, g := range shown {
			values = append(values, table.Number(b.theirs(r.Compat[g]), b.decimals))
		}
		printReadingRow(p, b.name, values)
	}

	for _, g := range shown {
		for _, d := range r.Compat[g].Differences {
			p.Wrapped("  ", fmt.Sprintf("%s: %s, %s: %s", g, d.Code, text.Count(d.Count, "case"), text.Clean(d.Effect)))
		}
		for _, why := range r.Compat[g].Unknown {
			p.Wrapped("  ", fmt.Sprintf("%s: not known: %s", g, text.Clean(why)))
		}
	}
}

// printReadingRow prints a line of the table of readings.
func printReadingRow(p *table.Printer, name string, values []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-28s", name)
	for _, v := range values {
		fmt.Fprintf(&b, " %12s", v)
	}
	p.Line(b.String())
}
