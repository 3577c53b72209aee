package detail

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/results"
)

// blockWidth is the width of vLLM's result block.
const blockWidth = 50

// Block prints the headline figures of a step in the layout of vLLM's newest
// result block: its labels, widths and trailing blanks, in milliseconds.
// Simulated figures are below a line that says so; what is not known is
// "n/a". ITL is the time between chunks, as there. Of the latencies it shows
// those named, "ttft", "tpot", "itl", "e2el"; without names all.
func Block(w io.Writer, r *results.Result, latencies ...string) error {
	f := r.Figures
	if f == nil {
		return fmt.Errorf("print block of step %s: it has no figures", r.Step.ID)
	}

	itl := f.ICL
	if itl.N == 0 {
		itl = f.ITL
	}

	peak := &f.PeakConcurrent
	if !r.MeasuredByBench() && *peak == 0 {
		peak = nil // not known
	}

	return printBlock(w, r, results.VLLM, results.CompatFigures{
		Completed: f.Completed, Failed: f.Failed, DurationS: f.DurationS,
		TotalInputTokens: f.TotalInputTokens, TotalOutputTokens: f.TotalOutputTokens,
		RequestThroughput: f.RequestThroughput, RequestGoodput: f.RequestGoodput,
		OutputThroughput: f.OutputThroughput, TotalTokenThroughput: f.TotalTokenThroughput,
		MaxOutputTokensPerS: f.MaxOutputTokensPerS, MaxConcurrentRequests: peak,
		TTFT: f.TTFT, TPOT: f.TPOT, ITL: itl, E2EL: f.E2EL,
	}, latencies)
}

// CompatBlock prints what the client of generation g would have printed: its
// figures in its layout. latencies are as in Block.
func CompatBlock(w io.Writer, r *results.Result, g results.Generation, latencies ...string) error {
	reading, ok := r.Compat[g]
	if !ok {
		return fmt.Errorf("print block of step %s: it has no reading %q", r.Step.ID, g)
	}
	return printBlock(w, r, g, reading.CompatFigures, latencies)
}

func printBlock(w io.Writer, r *results.Result, g results.Generation, f results.CompatFigures,
	latencies []string,
) error {
	b := &block{}
	newest := g == results.VLLM || g == results.VLLM2605
	if r.Simulated {
		b.out.WriteString(grid.SimulatedLine + "\n")
	}

	if text := extrapolatedLine(r); text != "" {
		b.out.WriteString(text + "\n")
	}

	b.title(" Serving Benchmark Result ", '=')
	b.text("Successful requests:", strconv.Itoa(f.Completed))
	if newest {
		b.text("Failed requests:", strconv.Itoa(f.Failed))
	}

	if g != results.VLLM06 {
		b.asked(r.Asked)
	}

	b.number("Benchmark duration (s):", &f.DurationS)
	b.count("Total input tokens:", f.TotalInputTokens)
	numbers := r.Asked.Numbers()
	if !numbers {
		b.count("Total generated tokens:", f.TotalOutputTokens)
	}
	b.number("Request throughput (req/s):", f.RequestThroughput)
	if f.RequestGoodput != nil {
		b.number("Request goodput (req/s):", f.RequestGoodput)
	}

	if numbers {
		latencies = []string{"e2el"}
	} else {
		b.number("Output token throughput (tok/s):", f.OutputThroughput)
	}
	total := "Total Token throughput (tok/s):"
	if newest {
		b.peaks(f, numbers)
		total = "Total token throughput (tok/s):"
	}

	b.number(total, f.TotalTokenThroughput)
	if newest && r.Figures != nil && r.Figures.RTFx != nil {
		b.number("RTFx (Inverse Real-Time Factor):", r.Figures.RTFx)
	}
	b.latencies(f, latencies)
	if newest {
		b.speculation(results.SpeculationOf(r.Servers))
	}

	b.out.WriteString(strings.Repeat("=", blockWidth) + "\n")
	b.extrapolated(r.Extrapolated)
	_, err := w.Write(b.out.Bytes())

	return err
}

// block collects the lines of a result block.
type block struct{ out bytes.Buffer }

func (b *block) latencies(f results.CompatFigures, shown []string) {
	for _, l := range []struct {
		name, title string
		dist        results.Dist
	}{
		{"ttft", "Time to First Token", f.TTFT},
		{"tpot", "Time per Output Token (excl. 1st token)", f.TPOT},
		{"itl", "Inter-token Latency", f.ITL},
		{"e2el", "End-to-end Latency", f.E2EL},
	} {
		if len(shown) == 0 || slices.Contains(shown, l.name) {
			b.latency(l.title, strings.ToUpper(l.name), l.dist)
		}
	}
}

// asked prints the two settings that are there if they were given.
func (b *block) asked(a results.Asked) {
	if a.MaxConcurrency != nil {
		b.text("Maximum request concurrency:", strconv.Itoa(*a.MaxConcurrency))
	}
	if a.RequestRate != nil {
		b.number("Request rate configured (RPS):", a.RequestRate)
	}
}

func (b *block) peaks(f results.CompatFigures, numbers bool) {
	if !numbers {
		b.number("Peak output token throughput (tok/s):", f.MaxOutputTokensPerS)
	}
	var peak *float64
	if f.MaxConcurrentRequests != nil {
		peak = new(float64(*f.MaxConcurrentRequests))
	}
	b.number("Peak concurrent requests:", peak)
}

// speculation prints what the servers count of speculative decoding, as far
// as they do.
func (b *block) speculation(s *results.Speculation) {
	if s == nil {
		return
	}

	b.title("Speculative Decoding", '-')
	b.number("Acceptance rate (%):", new(s.AcceptanceRate*100))
	if s.Drafts > 0 {
		b.number("Acceptance length:", &s.AcceptanceLength)
		b.count("Drafts:", new(int64(s.Drafts)))
	}
	if s.OutputPerStep != nil {
		b.number("Output tokens per step:", s.OutputPerStep)
	}

	b.count("Draft tokens:", new(int64(s.DraftTokens)))
	b.count("Accepted tokens:", new(int64(s.AcceptedTokens)))
	if s.PerPosition == nil {
		return
	}

	b.out.WriteString("Per-position acceptance (%):\n")
	for i, rate := range s.PerPosition {
		b.number(fmt.Sprintf("  Position %d:", i), new(rate*100))
	}
}

// title centres text; an odd fill character goes to the right.
func (b *block) title(text string, fill rune) {
	room := blockWidth - len(text)
	left := room / 2
	b.out.WriteString(strings.Repeat(string(fill), left) + text + strings.Repeat(string(fill), room-left) + "\n")
}

// text pads label and value as vLLM does, the blanks at the end included.
func (b *block) text(label, value string) { fmt.Fprintf(&b.out, "%-40s %-10s\n", label, value) }

func (b *block) number(label string, v *float64) {
	if v == nil {
		b.text(label, "n/a")
		return
	}
	b.text(label, strconv.FormatFloat(*v, 'f', 2, 64))
}

func (b *block) count(label string, v *int64) {
	if v == nil {
		b.text(label, "n/a")
		return
	}
	b.text(label, strconv.FormatInt(*v, 10))
}

func (b *block) latency(title, name string, d results.Dist) {
	b.title(title, '-')
	b.milliseconds("Mean "+name+" (ms):", d.Mean)
	b.milliseconds("Median "+name+" (ms):", d.Median)
	for _, p := range d.Percentiles {
		b.milliseconds("P"+strconv.FormatFloat(p.P, 'f', -1, 64)+" "+name+" (ms):", p.Value)
	}
}

func (b *block) milliseconds(label string, seconds *float64) {
	if seconds == nil {
		b.text(label, "n/a")
		return
	}
	ms := *seconds * 1000
	b.number(label, &ms)
}

// extrapolated adds to the block of the replica that ran what all would have.
func (b *block) extrapolated(e *results.Extrapolation) {
	if e == nil {
		return
	}
	b.title(fmt.Sprintf(" Extrapolated x%d ", e.Factor), '=')
	b.number("Benchmark duration (s):", &e.DurationS)
	b.number("Request throughput (req/s):", e.RequestThroughput)
	b.number("Output token throughput (tok/s):", e.OutputThroughput)
	b.number("Total token throughput (tok/s):", e.TotalTokenThroughput)
	b.out.WriteString(strings.Repeat("=", blockWidth) + "\n")
}

// extrapolatedLine precedes the figures of a step that are extrapolated.
func extrapolatedLine(r *results.Result) string {
	if r.Extrapolated == nil {
		return ""
	}
	return "EXTRAPOLATED, not measured on all replicas: " + versus.ExtrapolatedText(*r.Extrapolated)
}
