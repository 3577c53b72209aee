package metrics

import (
	"strings"
	"testing"

	"benchrig/results"
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
		{[]float64{1}, nil, ""},
	} {
		e := Evidence{Client: &results.ClientReport{}}
		e.Figures.TTFT.Median = c.median
		for i, bound := range c.bounds {
			e.Client.Agents = append(e.Client.Agents, results.AgentReport{Name: string(rune('a' + i)), OffsetBoundS: bound})
		}
		w := warnAgentClock(e)
		if (w == nil) != (c.want == "") || w != nil && !strings.Contains(w.Message, c.want) {
			t.Errorf("warnAgentClock(%v of %v) = %v, want %q", c.bounds, c.median, w, c.want)
		}
	}
}
