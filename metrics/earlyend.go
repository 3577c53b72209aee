package metrics

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// warnEarlyEnd says why the pass ended early, and how many requests were not sent.
func warnEarlyEnd(e Evidence) *results.Warning {
	if e.Early == nil {
		return nil
	}

	unsent := ""
	if e.Figures.Unsent > 0 {
		unsent = fmt.Sprintf("; %d of %s were not sent", e.Figures.Unsent, text.Count(e.Figures.Asked, "request"))
	}
	if e.Early.Rule == results.EarlyOverload {
		return Warnf(results.WarnOverloaded, "%s: after %.1f s and %s its queue was growing by %.0f %% of "+
			"the arrivals, so the pass ended%s", results.OverloadedWhy, e.Early.AtS,
			text.Count(e.Early.Ended, "answer"), 100**e.Early.Growth, unsent)
	}
	return Warnf(results.WarnEndedEarly, "the pass ended after %.1f s and %s: %s%s", e.Early.AtS,
		text.Count(e.Early.Ended, "answer"), marginsText(e.Early.Margins), unsent)
}

// warnMargins names percentiles whose margin is wider than requested.
func warnMargins(e Evidence) *results.Warning {
	if len(e.Margins) == 0 {
		return nil
	}
	return Warnf(results.WarnMargin, "the load ended before its percentiles were known well enough: %s",
		marginsText(e.Margins))
}

func marginsText(all []results.MarginFound) string {
	parts := make([]string, len(all))
	for i, m := range all {
		found := "has too few requests"
		switch {
		case m.Share != nil:
			found = fmt.Sprintf("is known within %.2g %%", 100**m.Share)
		case m.N == 0:
			parts[i] = fmt.Sprintf("%s was not looked at, which takes %s at least (target %.4g %%)", m.Figure,
				text.Count(m.First, "request"), 100*m.Asked)
			continue
		}
		parts[i] = fmt.Sprintf("%s %s (target %.4g %%, first %s)", m.Figure, found, 100*m.Asked,
			text.Count(m.N, "request"))
	}
	return strings.Join(parts, ", ")
}
