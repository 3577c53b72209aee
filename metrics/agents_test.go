package metrics

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestWarnAgentClock(t *testing.T) {
	for _, c := range []struct {
		bounds []float64
		median *float64
		want   string // "": no warning
	}{
		{nil, new(0.1), ""},
		{[]float64{0.004, 0.005}, new(0.1), ""},
		{[]float64{0.004, 0.0051}, new(0.1), "agent b is known within 5.10 ms only"},
		{[]float64{0.004, 1}, nil, ""},
		{[]float64{0.0051}, new(0.1), ""}, // alone
	} {
		e := Evidence{Client: &results.ClientReport{}}
		e.Figures.TTFT.Median = c.median
		for i, bound := range c.bounds {
			e.Client.Agents = append(e.Client.Agents, results.AgentReport{
				Name:         string(rune('a' + i)),
				OffsetBoundS: bound,
			})
		}
		w := warnAgentClock(e)
		if (w == nil) != (c.want == "") || w != nil && !strings.Contains(w.Message, c.want) {
			t.Errorf("warnAgentClock(%v of %v) = %v, want %q", c.bounds, c.median, w, c.want)
		}
	}
}

// An agent can be busy while the sums of all look idle.
func TestAgentIsBusy(t *testing.T) {
	agent := func(name string, cpu, lag, late float64) results.AgentReport {
		return results.AgentReport{Name: name, CPUs: 2, CPUSeconds: &cpu, LagP99S: &lag, LateP99S: &late}
	}
	for _, c := range []struct {
		name   string
		agents []results.AgentReport
		want   []string // in the order of codes: busy, late; "": no warning
	}{
		{"none", []results.AgentReport{agent("a", 2, 0.001, 0.001), agent("b", 17.9, 0.001, 0.002)}, []string{"", ""}},
		{
			"one is busy",
			[]results.AgentReport{agent("a", 2, 0.001, 0.001), agent("b", 18.1, 0.001, 0.002)},
			[]string{"agent b used 91 % of its 2 cores", ""},
		},
		{
			"one sends late",
			[]results.AgentReport{agent("a", 2, 0.001, 0.001), agent("b", 2, 0.001, 0.02)},
			[]string{"", "agent b was too slow"},
		},
		{"cores unknown", []results.AgentReport{{Name: "a", CPUSeconds: new(18.1)}}, []string{"", ""}},
	} {
		e := Evidence{Client: &results.ClientReport{DurationS: 10, CPUs: 4, CPUSeconds: new(20.1), Agents: c.agents}}
		for _, a := range c.agents {
			if a.LateP99S != nil && (e.Client.LateP99S == nil || *a.LateP99S > *e.Client.LateP99S) {
				e.Client.LateP99S = a.LateP99S
			}
		}
		for i, check := range []func(Evidence) *results.Warning{warnClientBusy, warnClientLate} {
			if w := check(e); (w == nil) != (c.want[i] == "") || w != nil && !strings.Contains(w.Message, c.want[i]) {
				t.Errorf("%s: %v, want %q", c.name, w, c.want[i])
			}
		}
	}
}
