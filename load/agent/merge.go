package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/results"
)

// spans are the times between which requests were in flight.
type spans struct {
	edges []edge
	last  float64 // seconds
}

type edge struct {
	at   float64
	step int
}

func (s *spans) add(r *results.Record) {
	s.last = max(s.last, r.EndS)
	if r.SentS != nil {
		s.edges = append(s.edges, edge{*r.SentS, 1}, edge{r.EndS, -1})
	}
}

// peak is the most requests in flight at once.
func (s *spans) peak() int {
	slices.SortFunc(s.edges, func(a, b edge) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return a.step - b.step
	})

	now, most := 0, 0
	for _, e := range s.edges {
		now += e.step
		most = max(most, now)
	}

	return most
}

// report is the report of all agents as of one client: sums of what adds up,
// and of latenesses the worst, for they cannot be put together.
func (r *distributedRun) report(ctx context.Context, zero time.Time) results.ClientReport {
	out := results.ClientReport{
		StartTime: zero.Format(time.RFC3339Nano), DurationS: r.records.last, PeakInFlight: r.records.peak(),
	}

	var transports, stamps []string
	for i := range r.parts {
		p := r.parts[i]
		out.Agents = append(out.Agents, p.describe())
		if p.report == nil {
			continue
		}
		out.DurationS = max(out.DurationS, p.report.DurationS)
		out.CPUSeconds, out.GCPauseS = sum(out.CPUSeconds, p.report.CPUSeconds), sum(out.GCPauseS, p.report.GCPauseS)
		out.LateP50S, out.LateP99S, out.LateMaxS = worst(out.LateP50S, p.report.LateP50S), worst(out.LateP99S,
			p.report.LateP99S), worst(out.LateMaxS, p.report.LateMaxS)
		out.LagP50S, out.LagP99S, out.LagMaxS = worst(out.LagP50S, p.report.LagP50S), worst(out.LagP99S,
			p.report.LagP99S), worst(out.LagMaxS, p.report.LagMaxS)
		out.StarvedMaxS = worst(out.StarvedMaxS, p.report.StarvedMaxS)
		out.StarvedS = worst(out.StarvedS, p.report.StarvedS)
		out.StealS = worst(out.StealS, p.report.StealS)
		out.CPUPressureS = worst(out.CPUPressureS, p.report.CPUPressureS)
		out.ClockStepS = worst(out.ClockStepS, p.report.ClockStepS)
		out.CPUs += p.report.CPUs
		out.ConnectionsNo += p.report.ConnectionsNo
		out.SharedReads += p.report.SharedReads
		transports, stamps = append(transports, p.report.Transport), append(stamps, p.report.Stamps)
	}

	out.Transport, out.Stamps = alike(transports), alike(stamps)
	switch {
	case r.err != nil:
		out.Interrupted = r.err.Error()
	case ctx.Err() != nil && r.cutShort():
		out.Interrupted = context.Cause(ctx).Error()
	}

	return out
}

// cutShort reports whether an agent did not make all its requests, or has not
// said that it did.
func (r *distributedRun) cutShort() bool {
	return slices.ContainsFunc(r.parts, func(p *part) bool {
		if p.report == nil {
			return !p.complete()
		}
		return p.report.Interrupted != ""
	})
}

// alike joins the different ones of words.
func alike(words []string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ", ")
}

func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		return notNil(a, b)
	}
	return new(*a + *b)
}

func worst(a, b *float64) *float64 {
	if a == nil || b == nil {
		return notNil(a, b)
	}
	return new(max(*a, *b))
}

func notNil(a, b *float64) *float64 {
	if a == nil {
		return b
	}
	return a
}

// describe is what is known of one agent.
func (p *part) describe() results.AgentReport {
	out := results.AgentReport{
		Name: p.peer.name, Host: p.peer.hello.Host, Requests: p.requests, MaxConcurrency: p.job.MaxConcurrency,
		OffsetS: p.before.offset.Seconds(), OffsetBoundS: p.before.bound.Seconds(), Telemetry: p.host,
	}
	if p.after.known {
		drift := (p.after.offset - p.before.offset).Seconds()
		out.DriftS, out.OffsetBoundS = &drift, max(out.OffsetBoundS, p.after.bound.Seconds()+max(drift, -drift))
	}
	if p.report != nil {
		out.CPUSeconds, out.CPUs, out.GCPauseS = p.report.CPUSeconds, p.report.CPUs, p.report.GCPauseS
		out.StarvedMaxS, out.StealS, out.CPUPressureS = p.report.StarvedMaxS, p.report.StealS, p.report.CPUPressureS
		out.LateP99S, out.LagP99S, out.Calibration = p.report.LateP99S, p.report.LagP99S, p.report.Calibration
	}
	return out
}
