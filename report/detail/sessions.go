package detail

import (
	"fmt"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printSessions prints the figures of sessions, and those of their requests by turn.
func printSessions(p *table.Printer, s *results.Sessions) {
	if s == nil {
		return
	}

	p.Section("Sessions")
	line := fmt.Sprintf("%s of several requests, %d complete", text.Count(s.N, "session"), s.Complete)
	if s.Complete > 0 {
		line += fmt.Sprintf("; duration: median %s s, max %s s", text.Number(s.Duration.Median, 1, 2),
			text.Number(s.Duration.Max, 1, 2))
	}
	p.Wrapped("  ", line)

	for _, turn := range s.Turns {
		p.Wrapped("  ", turnLine(turn))
	}
}

func turnLine(t results.TurnFigures) string {
	name := fmt.Sprintf("turn %d", t.From)
	if t.To > t.From {
		name = fmt.Sprintf("turns %d to %d", t.From, t.To)
	}

	tail := metrics.TailOf(t.TTFT)
	line := fmt.Sprintf("%s (n %d): median TTFT %s ms, %s %s ms, E2EL %s ms", name, t.N,
		table.Milliseconds(t.TTFT.Median),
		metrics.PercentileName(tail), table.Milliseconds(metrics.At(t.TTFT, tail)), table.Milliseconds(t.E2EL.Median))
	if t.InputTokensMean != nil {
		line += fmt.Sprintf("; %s input tokens on average", text.Number(t.InputTokensMean, 1, 1))
	}
	if t.CachedShare != nil {
		line += fmt.Sprintf(", %.1f %% from the prefix cache", 100**t.CachedShare)
	}
	if t.Failed > 0 {
		line += fmt.Sprintf("; %d failed", t.Failed)
	}
	return line
}
