package metrics

import "github.com/benchrig/bench/results"

// clockShare is the part of the median time to first token that the doubt about
// an agent's clock may come to.
const clockShare = 0.05

// warnAgentClock names load agents whose clocks were not known well enough
// to compare their send times with those of others; one that is alone has nothing to
// be compared with.
func warnAgentClock(e Evidence) *results.Warning {
	if e.Client == nil || len(e.Client.Agents) < 2 || e.Figures.TTFT.Median == nil {
		return nil
	}

	var worst results.AgentReport
	for _, a := range e.Client.Agents {
		if a.OffsetBoundS > worst.OffsetBoundS {
			worst = a
		}
	}

	if worst.OffsetBoundS <= clockShare**e.Figures.TTFT.Median {
		return nil
	}

	return Warnf(results.WarnAgentClock, "the clock of agent %s is known within %.2f ms only, more than %.0f %% of "+
		"the median time to first token: requests of different agents may be off by that relative to each other; "+
		"latencies are not affected",
		worst.Name, worst.OffsetBoundS*1000, clockShare*100)
}

// sender is who sent requests: the client, or one of its agents.
type sender struct {
	name string // as the subject of a sentence
	cpu  *float64
	cpus int
}

// senders are the agents, each of which can be busy while the others idle,
// or the client itself.
func senders(c *results.ClientReport) []sender {
	if len(c.Agents) == 0 {
		return []sender{{"the client", c.CPUSeconds, c.CPUs}}
	}
	var all []sender
	for _, a := range c.Agents {
		all = append(all, sender{"agent " + a.Name, a.CPUSeconds, a.CPUs})
	}
	return all
}

// latest names who sent the latest.
func latest(c *results.ClientReport) string {
	for _, a := range c.Agents {
		if a.LateP99S != nil && *a.LateP99S == *c.LateP99S {
			return "agent " + a.Name
		}
	}
	return "the client"
}
