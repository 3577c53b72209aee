package metrics

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/results"
)

// warnClientLimit is the verdict that the client, or an agent of it, was the
// limit: it read late what had arrived, or used up its cores.
func warnClientLimit(e Evidence) *results.Warning {
	if e.Client == nil {
		return nil
	}

	var reasons []string
	limit := lagLimit(e)
	for _, s := range senders(e.Client) {
		if s.lag != nil && *s.lag > limit {
			reasons = append(reasons, fmt.Sprintf("%s read bytes %.1f ms after they arrived (p99; "+
				"%.1f ms is the limit)", s.name, *s.lag*1000, limit*1000))
		}
		if all := e.Client.DurationS * float64(s.cpus); s.cpu != nil && all > 0 && *s.cpu > busyShare*all {
			reasons = append(reasons, fmt.Sprintf("%s used %.0f %% of %s", s.name, 100**s.cpu/all, cores(s.cpus)))
		}
	}

	if reasons == nil {
		return nil
	}

	return Warnf(results.WarnClientLimit, "the client was the limit: %s", strings.Join(reasons, ", and "))
}

// lagLimit is the lag that the figures can bear: with the kernel's stamps it
// is in no time, as long as chunks are read one by one.
func lagLimit(e Evidence) float64 {
	least, share := lagS, lagOfGap
	if e.Client.Stamps == "kernel" {
		least, share = kernelLagS, kernelLagOfGap
	}
	if gap := e.Figures.ICL.Median; gap != nil {
		return max(least, share**gap)
	}
	return least
}

func cores(n int) string {
	if n == 1 {
		return "its core"
	}
	return fmt.Sprintf("its %d cores", n)
}

func warnBuffered(e Evidence) *results.Warning {
	share := e.Figures.BurstGaps
	if share == nil || *share < burstShare || e.Figures.ICL.N < enoughForBursts {
		return nil
	}
	return Warnf(results.WarnBuffered, "%.1f %% of the gaps between chunks are below %.1f ms: chunks arrive in "+
		"bursts, through a proxy that buffers or from a server that sends several at once; TTFT and ITL are those of "+
		"the bursts",
		100**share, shortestGapS*1000)
}

func warnAnswers(e Evidence) *results.Warning {
	a := e.Figures.Answers
	if a == nil || a.N < enoughForAnswers {
		return nil
	}

	var found []string
	note := func(n int, share float64, what string) {
		if float64(n) >= share*float64(a.N) {
			found = append(found, fmt.Sprintf("%d %s", n, what))
		}
	}

	note(a.Empty, oddAnswersShare, "are empty")
	if a.Repetitive != nil {
		note(*a.Repetitive, oddAnswersShare, "repeat one word")
	}

	note(a.Identical, sameAnswersShare, "equal another one")
	if found == nil {
		return nil
	}

	return Warnf(results.WarnAnswers, "of %d answers %s: check the quality of the output", a.N,
		strings.Join(found, ", "))
}
