package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
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
		{"successful requests", 0, func(f *results.Figures) *float64 { return float(f.Completed) }, func(c results.CompatReading) *float64 { return float(c.Completed) }},
		{"output tokens", 0, func(f *results.Figures) *float64 { return ofInt(f.TotalOutputTokens) }, func(c results.CompatReading) *float64 { return ofInt(c.TotalOutputTokens) }},
		{"request throughput (req/s)", 2, func(f *results.Figures) *float64 { return f.RequestThroughput }, func(c results.CompatReading) *float64 { return c.RequestThroughput }},
		{"output throughput (tok/s)", 2, func(f *results.Figures) *float64 { return f.OutputThroughput }, func(c results.CompatReading) *float64 { return c.OutputThroughput }},
	}
	for _, m := range []struct {
		name   string
		ours   func(*results.Figures) results.Dist
		theirs func(results.CompatReading) results.Dist
	}{
		{"TTFT", ttft, func(c results.CompatReading) results.Dist { return c.TTFT }},
		{"TPOT", tpot, func(c results.CompatReading) results.Dist { return c.TPOT }},
		{"ITL", itl, func(c results.CompatReading) results.Dist { return c.ITL }},
		{"E2EL", e2el, func(c results.CompatReading) results.Dist { return c.E2EL }},
	} {
		all = append(all,
			beside{"median " + m.name + " (ms)", 2, func(f *results.Figures) *float64 { return inMS(m.ours(f).Median) }, func(c results.CompatReading) *float64 { return inMS(m.theirs(c).Median) }},
			beside{"p99 " + m.name + " (ms)", 2, func(f *results.Figures) *float64 { return inMS(metrics.At(m.ours(f), 99)) }, func(c results.CompatReading) *float64 { return inMS(metrics.At(m.theirs(c), 99)) }},
		)
	}
	return all
}

func ofInt(n *int64) *float64 {
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
	return table.Number(ours, b.decimals) != table.Number(theirs, b.decimals) && math.Abs(*ours-*theirs) > rounding*math.Abs(*ours)
}

// readingDiffers reports whether a generation would have shown other figures.
func readingDiffers(r *results.Result, g results.Generation) bool {
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
		if readingDiffers(r, g) {
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

// notes are the lines of a run's report about other readings, about answers
// that should be the same, and about the starts of servers.
func notes(run *results.Run) []string {
	return slices.Concat(readingNotes(run), answerNotes(run), startNotes(run))
}

func readingNotes(run *results.Run) []string {
	var steps []string
	var codes []string
	for _, s := range run.Steps {
		r := s.Result
		if !readingDiffers(r, results.VLLM) {
			continue
		}
		steps = append(steps, r.Step.ID)
		for _, d := range r.Compat[results.VLLM].Differences {
			codes = text.AppendNew(codes, string(d.Code))
		}
	}
	if len(steps) == 0 {
		return nil
	}
	why := ""
	if len(codes) > 0 {
		why = ": " + strings.Join(codes, ", ")
	}
	return []string{fmt.Sprintf("vllm bench serve would have shown other figures in %s (%s)%s. The step report shows both.", text.Count(len(steps), "step"), text.Few(steps), why)}
}

// answerNotes compares the answers of variants to the same prompts at
// temperature 0, each with the first variant that can be compared.
func answerNotes(run *results.Run) []string {
	type prompts struct {
		point, sha256 string
		repeat        int
	}
	first := make(map[prompts]*results.Result)
	var lines []string
	for _, s := range run.Steps {
		r := s.Result
		if r.Figures == nil || r.Asked.DatasetSHA256 == "" || r.Simulated {
			continue
		}
		key := prompts{r.Step.Point, r.Asked.DatasetSHA256, r.Step.Repeat}
		base := first[key]
		if base == nil {
			if _, _, comparable := metrics.AnswersDiffer(r.Figures, r.Figures); comparable {
				first[key] = r
			}
			continue
		}
		differ, n, comparable := metrics.AnswersDiffer(base.Figures, r.Figures)
		if !comparable || differ == 0 || base.Step.Variant == r.Step.Variant {
			continue
		}
		lines = append(lines, fmt.Sprintf("Answers of %s differ from those of %s at %s of %d prompts (point %s, temperature 0).",
			text.Clean(r.Step.Variant), text.Clean(base.Step.Variant), strconv.Itoa(differ), n, text.Clean(r.Step.Point)))
	}
	return lines
}
