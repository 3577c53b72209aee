package detail

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
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
	figure   catalog.Figure
}

// besidesOf are the figures that are compared, the tail of latencies as f has it.
func besidesOf(f *results.Figures) []beside {
	tail := metrics.PercentileName(metrics.TailOf(f.E2EL))
	all := []beside{
		{"successful requests", 0, catalog.Must("completed")},
		{"output tokens", 0, catalog.Must("total_output_tokens")},
		{"request throughput (req/s)", 2, catalog.Must("request_throughput")},
		{"output throughput (tok/s)", 2, catalog.Must("output_throughput")},
	}
	for _, sample := range []string{"TTFT", "TPOT", "ITL", "E2EL"} {
		for _, stat := range []string{"median", tail} {
			figure := catalog.Must(stat + "_" + strings.ToLower(sample) + "_s")
			all = append(all, beside{stat + " " + sample + " (ms)", 2, figure})
		}
	}
	return all
}

// of is the figure as it is shown.
func (b beside) of(f *results.Figures) *float64 {
	v := b.figure.InTable(&results.Result{Figures: f})
	if v == nil {
		return nil
	}
	return new(*v * b.figure.Scale)
}

// theirs is the figure by the client of a generation.
func (b beside) theirs(f *results.Figures, c results.CompatReading) *float64 {
	read := c.Over(*f)
	return b.of(&read)
}

// OfInt is a count as a figure; null stays null.
func OfInt(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// rounding is the share by which figures may differ and still be called the
// same.
const rounding = 0.001

// differs reports whether a reader would see two figures.
func (b beside) differs(f *results.Figures, c results.CompatReading) bool {
	ours, theirs := b.of(f), b.theirs(f, c)
	if ours == nil || theirs == nil {
		return ours != nil && *ours != 0 || theirs != nil && *theirs != 0 // vLLM prints 0 for nothing
	}
	return table.Number(ours, b.decimals) != table.Number(theirs, b.decimals) &&
		math.Abs(*ours-*theirs) > rounding*math.Abs(*ours)
}

// ReadingDiffers reports whether a generation would have shown other figures.
func ReadingDiffers(r *results.Result, g results.Generation) bool {
	c, ok := r.Compat[g]
	if !ok || r.Figures == nil || !vllm.Reads(r.Asked.API) {
		return false
	}
	for _, b := range besidesOf(r.Figures) {
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
	for _, b := range besidesOf(r.Figures) {
		values := []string{table.Number(b.of(r.Figures), b.decimals)}
		for _, g := range shown {
			values = append(values, table.Number(b.theirs(r.Figures, r.Compat[g]), b.decimals))
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
