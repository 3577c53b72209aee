package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchrig/results"
)

// blockWidth is the width of vLLM's result block.
const blockWidth = 50

// Block prints the figures of a step in the layout of vLLM's result block:
// its labels, widths and trailing blanks, in milliseconds. Simulated figures
// stand below a line that says so; what is not known is "n/a".
func Block(w io.Writer, r *results.Result) error {
	f := r.Figures
	if f == nil {
		return fmt.Errorf("print block of step %s: it has no figures", r.Step.ID)
	}
	b := &block{}
	if r.Simulated {
		b.out.WriteString(simulatedLine + "\n")
	}
	b.title(" Serving Benchmark Result ", '=')
	b.text("Successful requests:", strconv.Itoa(f.Completed))
	b.text("Failed requests:", strconv.Itoa(f.Failed))
	if r.Asked.MaxConcurrency != nil {
		b.text("Maximum request concurrency:", strconv.Itoa(*r.Asked.MaxConcurrency))
	}
	if r.Asked.RequestRate != nil {
		b.number("Request rate configured (RPS):", r.Asked.RequestRate)
	}
	b.number("Benchmark duration (s):", &f.DurationS)
	b.count("Total input tokens:", f.TotalInputTokens)
	b.count("Total generated tokens:", f.TotalOutputTokens)
	b.number("Request throughput (req/s):", f.RequestThroughput)
	if f.RequestGoodput != nil {
		b.number("Request goodput (req/s):", f.RequestGoodput)
	}
	b.number("Output token throughput (tok/s):", f.OutputThroughput)
	b.number("Peak output token throughput (tok/s):", f.MaxOutputTokensPerS)
	peak := float64(f.PeakConcurrent)
	b.number("Peak concurrent requests:", &peak)
	b.number("Total token throughput (tok/s):", f.TotalTokenThroughput)
	b.latency("Time to First Token", "TTFT", f.TTFT)
	b.latency("Time per Output Token (excl. 1st token)", "TPOT", f.TPOT)
	b.latency("Inter-token Latency", "ITL", f.ITL)
	b.latency("End-to-end Latency", "E2EL", f.E2EL)
	b.out.WriteString(strings.Repeat("=", blockWidth) + "\n")
	_, err := w.Write(b.out.Bytes())
	return err
}

// block collects the lines of a result block.
type block struct{ out bytes.Buffer }

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
