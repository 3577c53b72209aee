package page

import (
	"fmt"
	"math"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// timeline draws the run over time: steps, server starts, hooks, failures, and beneath
// what the GPUs did; nil where the journal has nothing.
func (d *drawer) timeline() (*figure, error) {
	t := curves.TimelineOf(d.run)
	if len(t.Steps)+len(t.Lives) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	var s chart.TimelineSpec
	if len(d.run.Events) > 0 {
		s.Start = d.run.Events[0].Time
	}

	steps := chart.Lane{Name: "steps"}
	for _, span := range t.Steps {
		steps.Spans = append(steps.Spans, d.span(span))
	}

	servers := chart.Lane{Name: "servers"}
	for _, span := range t.Lives {
		servers.Spans = append(servers.Spans, d.span(span))
	}

	s.Lanes = append(s.Lanes, steps, servers)
	if len(t.Hooks) > 0 {
		hooks := chart.Lane{Name: "hooks"}
		for _, span := range t.Hooks {
			hooks.Spans = append(hooks.Spans, d.span(span))
		}
		s.Lanes = append(s.Lanes, hooks)
	}

	events := chart.Lane{Name: "events"}
	for _, m := range t.Marks {
		events.Marks = append(events.Marks, d.mark(m))
	}

	s.Lanes = append(s.Lanes, events)
	s.Curves = d.machineCurves()
	caption := "Wall clock, for orientation only: figures are measured on the monotonic clock. Each step links to " +
		"its details."
	if len(s.Curves) > 0 {
		caption += " Curves: total power of the GPUs in use and the hottest of them, while steps were measured."
	}

	f, err := drawBoth("night", size{width: wideChart}, size{width: phoneChart},
		func(h chart.Head, _ float64) (chart.SVG, error) {
			s.Head = h
			s.Title = "Timeline of the run"

			return chart.Timeline(s)
		})
	if f != nil {
		f.Caption = caption
	}

	return f, err
}

func (d *drawer) span(span curves.TimelineSpan) chart.Span {
	out := chart.Span{FromS: span.FromS, ToS: span.ToS, Open: span.Open, Label: text.Clean(span.Name)}
	title := text.Clean(span.Name)
	switch span.Phase {
	case curves.PhaseStep:
		out.Class = stepClass(span)
		title += ": " + string(span.Verdict)
	case curves.PhaseStarting:
		out.Class = chart.Starting
		title += ": starting"
	case curves.PhaseServing:
		out.Class = chart.Serving
		title += ": serving"
	case curves.PhaseStopping:
		out.Class = chart.Stopping
		title += ": stopping"
	default:
		out.Class = chart.Hook
	}

	if span.Failure != nil {
		title += ", " + text.Clean(span.Failure.Error())
	}

	title += fmt.Sprintf(", %.1f s", span.ToS-span.FromS)
	out.Ref = chart.Ref{Title: title, Step: text.Clean(span.Step), Variant: text.Clean(span.Variant)}
	if link := d.links[span.Step]; link != "" {
		out.Href = "#" + link
	}

	return out
}

func stepClass(span curves.TimelineSpan) chart.Class {
	switch span.Verdict {
	case results.OK:
		return chart.OK
	case results.Suspect:
		return chart.Suspect
	case results.Failed:
		return chart.Failed
	case results.NotRun:
		return chart.NotRun
	}
	return chart.Running
}

func (d *drawer) mark(m curves.TimelineMark) chart.Mark {
	out := chart.Mark{AtS: m.AtS, Class: chart.Plain, Label: text.Clean(string(m.Kind))}
	title := string(m.Kind)
	if m.Step != "" {
		title += " " + m.Step
	} else if m.Life != "" {
		title += " " + m.Life
	}

	switch {
	case m.Failure != nil:
		out.Class, out.Label = chart.Failed, text.Clean(string(m.Failure.Class))
		title += ": " + m.Failure.Error()
	case m.Message != "":
		title += ": " + m.Message
	}

	out.Ref = chart.Ref{Title: text.Clean(title), Step: text.Clean(m.Step)}
	if link := d.links[m.Step]; link != "" {
		out.Href = "#" + link
	}

	return out
}

// timelineMoments is how many moments of the curves a run has in total.
const timelineMoments = 1500

// machineCurves are power and temperature of each step, one after the other.
func (d *drawer) machineCurves() []chart.Panel {
	power, heat := chart.LineSeries{Name: "power"}, chart.LineSeries{Name: "hottest"}
	per := max(timelineMoments/max(len(d.run.Steps), 1), 4)
	for _, s := range d.run.Steps {
		p := d.passes.of[s.Result.Step.ID]
		if p == nil || s.Result.Client == nil {
			continue
		}
		start, ok := curves.StartOf(d.run, s.Result.Client.StartTime)
		if !ok {
			continue
		}
		watts, degrees := telemetry.Together(s.Result.Telemetry, p.devices, per)
		power.Points = append(power.Points, placed(watts, start)...)
		heat.Points = append(heat.Points, placed(degrees, start)...)
	}

	var panels []chart.Panel
	if len(power.Points) > 0 {
		panels = append(panels, chart.Panel{
			Y:      chart.Axis{Label: "power", Unit: "W", Zero: true},
			Series: []chart.LineSeries{power},
		})
	}

	if len(heat.Points) > 0 {
		panels = append(panels, chart.Panel{
			Y:      chart.Axis{Label: "temperature", Unit: "°C"},
			Series: []chart.LineSeries{heat},
		})
	}

	return panels
}

// placed moves a curve of a pass to its place in the run, with a gap behind.
func placed(points []telemetry.CurvePoint, start float64) []chart.LinePoint {
	var out []chart.LinePoint
	for _, p := range points {
		out = append(out, chart.LinePoint{X: start + p.AtS, Y: p.Value})
	}
	if out != nil {
		out = append(out, chart.LinePoint{X: out[len(out)-1].X, Y: math.NaN()})
	}
	return out
}
