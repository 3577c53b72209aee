package page

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// timeline draws the night: steps, server starts, hooks, failures, and beneath
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

	f, err := twice("night", size{width: wideChart}, size{width: phoneChart},
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

// timelineMoments is how many moments of the curves a night has in all.
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
		watts, degrees := together(ownPower(s.Result, p.devices), per)
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

// ownPower leaves out the power of devices that is counted with another's.
func ownPower(r *results.Result, devices []telemetry.DeviceCurves) []telemetry.DeviceCurves {
	if r.Telemetry == nil {
		return devices
	}
	var own []telemetry.DeviceCurves
	for _, d := range devices {
		at := slices.IndexFunc(r.Telemetry.GPUs, func(g results.GPUFigures) bool { return g.Device == d.Device })
		if at >= 0 && r.Telemetry.GPUs[at].CountedWith == "" {
			own = append(own, d)
		}
	}
	return own
}

// placed moves a curve of a pass to its place in the night, with a gap behind.
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

// together sums the power of devices and takes the hottest, in so many
// stretches of the pass. A stretch in which a device is silent has no sum.
func together(devices []telemetry.DeviceCurves, stretches int) (watts, degrees []telemetry.CurvePoint) {
	from, to := math.Inf(1), math.Inf(-1)
	for _, d := range devices {
		for _, curve := range [][]telemetry.CurvePoint{d.PowerW, d.CoreC} {
			if n := len(curve); n > 0 {
				from, to = min(from, curve[0].AtS), max(to, curve[n-1].AtS)
			}
		}
	}

	if !(from <= to) {
		return nil, nil
	}

	width := max((to-from)/float64(stretches), 1e-9)
	sum, hot := binned(stretches), binned(stretches)
	for _, d := range devices {
		mean := meansIn(d.PowerW, from, width, stretches)
		most := meansIn(d.CoreC, from, width, stretches)
		for i := range stretches {
			sum[i] += mean[i] // NaN stays NaN
			if !math.IsNaN(most[i]) {
				hot[i] = max(hot[i], most[i])
			}
		}
	}

	for i := range stretches {
		at := from + (float64(i)+0.5)*width
		if !math.IsNaN(sum[i]) {
			watts = append(watts, telemetry.CurvePoint{AtS: at, Value: sum[i]})
		}
		if hot[i] > 0 {
			degrees = append(degrees, telemetry.CurvePoint{AtS: at, Value: hot[i]})
		}
	}

	return watts, degrees
}

func binned(n int) []float64 { return make([]float64, n) }

// meansIn are the means of a curve in each stretch; NaN where it has none.
func meansIn(curve []telemetry.CurvePoint, from, width float64, stretches int) []float64 {
	sums, counts := make([]float64, stretches), make([]int, stretches)
	for _, p := range curve {
		if math.IsNaN(p.Value) {
			continue
		}
		i := min(max(int((p.AtS-from)/width), 0), stretches-1)
		sums[i] += p.Value
		counts[i]++
	}

	for i := range sums {
		if counts[i] == 0 {
			sums[i] = math.NaN()
			continue
		}
		sums[i] /= float64(counts[i])
	}

	return sums
}
