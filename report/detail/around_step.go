package detail

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printChanges prints what differed from the run's start when the step ran, and the
// hooks that did not succeed.
func printChanges(p *table.Printer, r *results.Result) {
	if len(r.Changes) > 0 {
		p.Section("Changed since the run began")
		for _, change := range r.Changes {
			p.Wrapped("  ", text.Clean(change))
		}
	}

	var failed []string
	for _, h := range r.Hooks {
		if !h.OK {
			failed = append(failed, hookText(h))
		}
	}

	if len(failed) == 0 {
		return
	}

	p.Section("Hooks that failed")
	for _, text := range failed {
		p.Wrapped("  ", text)
	}
}

func hookText(h results.HookRecord) string {
	return fmt.Sprintf("%s %s, %s: %s (after %.1f s)", text.Clean(h.When), text.Clean(h.Level), text.Clean(h.Name),
		text.Clean(h.Message), h.TookS)
}

// printCache prints the state of the prefix cache.
func printCache(p *table.Printer, c *results.CacheState) {
	if c == nil {
		return
	}
	p.Section("Prefix cache")
	p.Wrapped("  ", cacheText(c))
}

func cacheText(c *results.CacheState) string {
	parts := []string{text.Clean(c.Asked) + " requested"}
	if len(c.How) > 0 {
		parts[0] += " (" + text.Clean(strings.Join(c.How, ", ")) + ")"
	}

	if c.Hits != nil && c.Queries != nil {
		hits := fmt.Sprintf("%.0f of %.0f tokens found", *c.Hits, *c.Queries)
		if c.HitShare != nil {
			hits += fmt.Sprintf(" (%.1f %%)", 100**c.HitShare)
		}
		parts = append(parts, hits)
	}

	if c.CeilingShare != nil {
		most := fmt.Sprintf("at most %.1f %% possible", 100**c.CeilingShare)
		if c.CeilingN != nil {
			most += fmt.Sprintf(" (n %d)", *c.CeilingN)
		}
		parts = append(parts, most)
	}

	switch {
	case c.Verified == nil:
		parts = append(parts, "cannot be verified")
	case *c.Verified:
		parts = append(parts, "verified by "+text.Clean(c.VerifiedHow))
	default:
		parts = append(parts, "NOT as requested, by "+text.Clean(c.VerifiedHow))
	}

	return strings.Join(parts, ", ")
}

// printResent prints what came of the requests that were sent again.
func printResent(p *table.Printer, r *results.Resent) {
	if r == nil {
		return
	}
	p.Section("Sent again, one at a time")
	for _, line := range resentLines(r) {
		p.Wrapped("  ", line)
	}
}

func resentLines(r *results.Resent) []string {
	lines := []string{fmt.Sprintf("%s, %d failed", text.Count(r.Sent, "request"), r.Failed)}
	if r.Answers != nil {
		lines = append(lines, r.Answers.Text())
	}
	if r.TPOT != nil && r.FreshTPOT != nil {
		lines = append(lines, fmt.Sprintf("median %.2f ms per output token, %.2f ms for new prompts of the same words",
			1000**r.TPOT, 1000**r.FreshTPOT))
	}
	if r.AtOnce != nil {
		lines = append(lines, fmt.Sprintf("%d of the answers came immediately, as from a cache of answers", *r.AtOnce))
	}
	return lines
}

// printEvaluation prints the score of the questions with exact answers, and wrong
// answers.
func printEvaluation(p *table.Printer, e *results.Evaluation) {
	if e == nil {
		return
	}

	p.Section("Questions with exact answers")
	parts := []string{fmt.Sprintf("%d of %d right (%.1f %%)", e.Right, e.Asked, 100*e.Score)}
	for _, k := range e.Kinds {
		parts = append(parts, fmt.Sprintf("%s %d of %d", text.Clean(k.Kind), k.Right, k.Asked))
	}
	if e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d without an answer", e.Failed))
	}

	p.Wrapped("  ", strings.Join(parts, ", "))
	for _, w := range e.Wrong {
		p.Wrapped("  ", fmt.Sprintf("%s: %q, want %q", text.Clean(w.Question), text.Clean(w.Got), text.Clean(w.Want)))
	}
}

// printCommandScore prints what came of the evaluation command.
func printCommandScore(p *table.Printer, s *results.CommandScore) {
	if s == nil {
		return
	}

	p.Section("Evaluation by command")
	line := text.Clean(s.Name) + ": "
	if s.Score == nil {
		line += "no score: " + text.Clean(s.Problem)
	} else {
		line += fmt.Sprintf("%.6g", *s.Score)
	}
	if s.Min != nil {
		line += fmt.Sprintf(", at least %.6g is required", *s.Min)
	}
	p.Wrapped("  ", fmt.Sprintf("%s; it took %.1f s", line, s.TookS))
}

// printToolCalls prints the figures of requests that offered tools.
func printToolCalls(p *table.Printer, f *results.ToolFigures) {
	if f == nil {
		return
	}

	p.Section("Tool calls")
	line := fmt.Sprintf("%d of %d answers call a tool", f.WithCall, f.Requests)
	if f.CallShare != nil {
		line += fmt.Sprintf(" (%.1f %%)", 100**f.CallShare)
	}
	if f.ValidShare != nil {
		line += fmt.Sprintf(", %d of these validly (%.1f %%); %s in all", f.Valid, 100**f.ValidShare,
			text.Count(f.Calls, "call"))
	}
	p.Wrapped("  ", line)
	if first := f.FirstCall; first.N > 0 {
		p.Wrapped("  ", fmt.Sprintf("time to the first chunk of a call (n %d): median %s ms, max %s ms", first.N,
			table.Milliseconds(first.Median), table.Milliseconds(first.Max)))
	}
	for _, problem := range f.Problems {
		p.Wrapped("  ", "invalid: "+text.Clean(problem))
	}
}

// printStartup prints what a server said of its own start.
func printStartup(p *table.Printer, s *results.Startup) {
	if s == nil {
		return
	}

	var parts []string
	for _, phase := range s.Phases {
		parts = append(parts, fmt.Sprintf("%s %.1f s", text.Clean(phase.Name), phase.Seconds))
	}

	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}

	add(s.ModelBytes != nil, "weights %s GiB", table.Gibibytes(s.ModelBytes))
	add(s.KVTokens != nil, "KV cache for %s tokens", table.ExactInt(s.KVTokens))
	add(s.MaxConcurrency != nil, "room for %s full-length requests", table.Number(s.MaxConcurrency, 2))
	add(s.ContextLen != nil, "context %s tokens", table.ExactInt(s.ContextLen))
	add(s.Slots != nil, "%s slots", table.ExactInt(s.Slots))
	if len(parts) > 0 {
		p.Wrapped("     ", "start: "+strings.Join(parts, ", "))
	}
}
