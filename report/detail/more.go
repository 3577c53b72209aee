package detail

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
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
		add("%.2f tokens per chunk; time between chunks: median %s ms", *per, formatMS(f.ICL.Median))
	}

	if s := f.Steady; s != nil {
		add("steady state from %.2f s to %.2f s (n %d): %.2f req/s, %s output tok/s, median TTFT %s ms, TPOT %s ms, "+
			"E2EL %s ms",
			s.FromS, s.ToS, s.N, s.RequestThroughput, text.Number(s.OutputThroughput, 1, 1),
			formatMS(s.TTFT.Median), formatMS(s.TPOT.Median), formatMS(s.E2EL.Median))
	}

	if s := f.Series; s != nil {
		add("busiest second: %s answered, %s output tokens", text.Count(s.PeakRequests, "request"),
			text.Number(s.PeakOutputTokens, 1, 0))
	}

	for _, b := range f.Prompts {
		add("prompts of %d to %d tokens (n %d): median TTFT %s ms, TPOT %s ms", b.From, b.To, b.N,
			formatMS(b.TTFT.Median), formatMS(b.TPOT.Median))
	}

	if a := f.Answers; a != nil {
		add("%s", strings.Join(answerParts(a), ", "))
	}

	if len(lines) == 0 {
		return
	}

	p.Section("More")
	for _, line := range lines {
		p.Wrapped("  ", line)
	}
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
