package step

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// answeredByOthers returns a failure if another process than the servers may have
// answered some requests of a pass.
func answeredByOthers(ctx context.Context, servers []Server) *results.Failure {
	for _, s := range servers {
		if find := s.Abilities().Intruder; find != nil {
			if other := find(ctx); other != nil {
				return other
			}
		}
	}
	return nil
}

// portHolders are those of each server; nil where they cannot be seen.
func portHolders(servers []Server) [][]results.Member {
	all := make([][]results.Member, len(servers))
	for i, s := range servers {
		if holders := s.Abilities().PortHolders; holders != nil {
			all[i] = holders()
		}
	}
	return all
}

// warnReplaced adds a warning for each server behind whose port a process has ended
// during a pass and another has taken its place.
func warnReplaced(result *results.Result, servers []Server, before [][]results.Member) {
	for i, now := range portHolders(servers) {
		without := func(all, others []results.Member) []results.Member {
			return slices.DeleteFunc(slices.Clone(all),
				func(m results.Member) bool { return slices.Contains(others, m) })
		}
		gone, come := without(before[i], now), without(now, before[i])
		if len(gone) == 0 || len(come) == 0 {
			continue
		}
		result.Warnf(results.WarnReplaced, "the process behind %s was replaced during the pass: %s ended, %s took its "+
			"place", servers[i].Info().BaseURL, pids(gone), pids(come))
	}
}

func pids(members []results.Member) string {
	var text strings.Builder
	text.WriteString("pid")
	for i, m := range members {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, " %d", m.PID)
	}
	return text.String()
}
