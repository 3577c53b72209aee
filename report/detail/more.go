package detail

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printMore prints the figures of a step that vLLM's block has no lines for.
func printMore(p *table.Printer, f *results.Figures) {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if l := f.Lengths; l != nil && l.Share != 1 {
		add("answers have %.1f of the requested %.1f output tokens on average (%.1f %%); %.1f %% stopped early by "+
			"themselves",
			l.ReceivedMean, l.AskedMean, 100*l.Share, 100*l.EarlyEOS)
	}

	if per := f.TokensPerChunk; per != nil && *per > 1 {
		add("%.2f tokens per chunk; time between chunks: median %s ms", *per, table.Milliseconds(f.ICL.Median))
	}

	if s := f.Steady; s != nil {
		add("steady state from %.2f s to %.2f s (n %d): %.2f req/s, %s output tok/s, median TTFT %s ms, TPOT %s ms, "+
			"E2EL %s ms",
			s.FromS, s.ToS, s.N, s.RequestThroughput, text.Number(s.OutputThroughput, 1, 1),
			table.Milliseconds(s.TTFT.Median), table.Milliseconds(s.TPOT.Median), table.Milliseconds(s.E2EL.Median))
	}

	if s := f.Series; s != nil {
		add("busiest second: %s answered, %s output tokens", text.Count(s.PeakRequests, "request"),
			text.Number(s.PeakOutputTokens, 1, 0))
	}

	if f.Images != nil {
		add("%s in the prompts, %s images/s", text.Count(*f.Images, "image"), text.Number(f.ImageThroughput, 1, 2))
	}

	if f.AudioS != nil {
		add("%s s of audio in %s, RTFx %s", text.Number(f.AudioS, 1, 1), text.Count(f.Completed, "request"),
			text.Number(f.RTFx, 1, 2))
	}

	lines = append(lines, upperBoundLines(f.UpperBounds)...)
	for _, b := range f.Prompts {
		add("prompts of %d to %d tokens (n %d): median TTFT %s ms, TPOT %s ms", b.From, b.To, b.N,
			table.Milliseconds(b.TTFT.Median), table.Milliseconds(b.TPOT.Median))
	}

	if a := f.Answers; a != nil {
		add("%s", strings.Join(answerParts(a), ", "))
	}

	if len(lines) == 0 {
		return
	}

	p.Section("More figures")
	for _, line := range lines {
		p.Wrapped("  ", line)
	}
}

// upperBoundLines say how high the percentiles can be, a line for each latency.
func upperBoundLines(bounds []results.UpperBound) []string {
	var lines []string
	for i, b := range bounds {
		name := metrics.PercentileName(b.P) + " " + strings.ToUpper(b.Latency)
		part := fmt.Sprintf("%s at most %s ms", name, table.Milliseconds(b.AtMostS))
		if b.MoreRequests > 0 {
			part = fmt.Sprintf("%s not yet known: %d more requests", name, b.MoreRequests)
		}
		if i > 0 && bounds[i-1].Latency == b.Latency {
			lines[len(lines)-1] += "; " + part
			continue
		}
		lines = append(lines, "at 95 % confidence: "+part)
	}
	return lines
}

func answerParts(a *results.Answers) []string {
	parts := []string{text.Count(a.N, "answer")}
	for _, count := range []struct {
		n    int
		what string
	}{{a.Empty, "empty"}, {valueOr(a.Repetitive), "repetitive"}, {a.Identical, "identical to another"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	if a.SHA256 != nil {
		parts = append(parts, "hash of all "+(*a.SHA256)[:min(12, len(*a.SHA256))])
	}
	return parts
}

func valueOr(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
