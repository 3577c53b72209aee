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
	parts := []string{"asked " + text.Clean(c.Asked)}
	if len(c.How) > 0 {
		parts = append(parts, "by "+text.Clean(strings.Join(c.How, ", ")))
	}

	if c.Hits != nil && c.Queries != nil {
		hits := fmt.Sprintf("%.0f of %.0f tokens found", *c.Hits, *c.Queries)
		if c.HitShare != nil {
			hits += fmt.Sprintf(" (%.1f %%)", 100**c.HitShare)
		}
		parts = append(parts, hits)
	}

	switch {
	case c.Verified == nil:
		parts = append(parts, "cannot be verified")
	case *c.Verified:
		parts = append(parts, "verified by "+text.Clean(c.VerifiedHow))
	default:
		parts = append(parts, "NOT as asked, by "+text.Clean(c.VerifiedHow))
	}

	return strings.Join(parts, ", ")
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

	add(s.ModelBytes != nil, "weights %s GiB", gibText(s.ModelBytes))
	add(s.KVTokens != nil, "KV cache for %s tokens", table.ExactInt(s.KVTokens))
	add(s.MaxConcurrency != nil, "room for %s full-length requests", table.Number(s.MaxConcurrency, 2))
	add(s.ContextLen != nil, "context %s tokens", table.ExactInt(s.ContextLen))
	add(s.Slots != nil, "%s slots", table.ExactInt(s.Slots))
	if len(parts) > 0 {
		p.Wrapped("     ", "start: "+strings.Join(parts, ", "))
	}
}
