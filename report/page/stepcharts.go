package page

import (
	"fmt"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/results"
)

// chartsOf draws the pass of a step: its requests, what was in flight, and what
// the GPUs did.
func chartsOf(r *results.Result, p *pass) ([]*figure, error) {
	if p == nil {
		return nil, nil
	}
	var all []*figure
	for _, draw := range []func(string, *pass) (*figure, error){requestsChart, inFlightChart, devicesChart} {
		f, err := draw(text.Clean(r.Step.ID), p)
		if err != nil {
			return nil, err
		}
		if f != nil {
			all = append(all, f)
		}
	}
	return all, nil
}

func requestsChart(step string, p *pass) (*figure, error) {
	if len(p.requests) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}
	svg, err := chart.Requests(chart.RequestsSpec{
		Head: chart.Head{ID: "requests-" + step, Title: "Requests of " + step}, Rows: p.requests, Total: p.total,
	})
	caption := "The only request."
	if p.total > 1 {
		caption = fmt.Sprintf("All %d requests, in the order of their planned send times.", p.total)
	}
	if n := len(p.requests); n < p.total {
		caption = fmt.Sprintf("%d of %d requests, in the order of their planned send times: the slowest and failed "+
			"ones, and an even sample of the others.", n, p.total)
	}
	return &figure{SVG: svg, Wide: true, Caption: caption}, err
}

func inFlightChart(step string, p *pass) (*figure, error) {
	if len(p.inFlight) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	s := chart.InFlightSpec{
		Head: chart.Head{ID: "inflight-" + step, Title: "In flight during " + step},
		Panels: []chart.Panel{
			{
				Y:      chart.Axis{Label: "requests in flight", Zero: true},
				Series: []chart.LineSeries{{Name: "requests", Slot: 1, Points: chart.Levels(p.inFlight)}},
			},
			{
				Y:      chart.Axis{Label: "tokens in flight", Zero: true},
				Series: []chart.LineSeries{{Name: "tokens", Slot: 2, Points: chart.Levels(p.tokensInHand)}},
			},
		},
	}

	svg, err := chart.InFlight(s)
	return &figure{SVG: svg, Wide: true, Caption: "Requests and tokens in flight. Tokens: prompts plus answers " +
		"received so far, a lower bound of what the KV cache holds."}, err
}

// devicesChart draws video memory, power and temperature of each GPU.
func devicesChart(step string, p *pass) (*figure, error) {
	s := chart.TimelineSpec{Head: chart.Head{ID: "gpus-" + step, Title: "GPUs during " + step}}
	for _, kind := range []struct {
		axis chart.Axis
		of   func(telemetry.DeviceCurves) []telemetry.CurvePoint
	}{
		{
			chart.Axis{Label: "VRAM", Unit: chart.Bytes, Zero: true},
			func(d telemetry.DeviceCurves) []telemetry.CurvePoint { return d.VRAMBytes },
		},
		{
			chart.Axis{Label: "power", Unit: "W", Zero: true},
			func(d telemetry.DeviceCurves) []telemetry.CurvePoint { return d.PowerW },
		},
		{
			chart.Axis{Label: "temperature", Unit: "°C"},
			func(d telemetry.DeviceCurves) []telemetry.CurvePoint { return d.CoreC },
		},
	} {
		panel := chart.Panel{Y: kind.axis}
		for i, d := range p.devices {
			series := chart.LineSeries{Name: text.Clean(d.Device), Slot: i%slots + 1}
			for _, at := range kind.of(d) {
				series.Points = append(series.Points, chart.LinePoint{X: at.AtS, Y: at.Value})
			}
			if series.Points != nil {
				panel.Series = append(panel.Series, series)
			}
		}
		if panel.Series != nil {
			s.Curves = append(s.Curves, panel)
		}
	}

	if s.Curves == nil {
		return nil, nil //nolint:nilnil // there is nothing to draw, which is not an error
	}

	svg, err := chart.Timeline(s)
	return &figure{SVG: svg, Wide: true, Caption: "Readings of each GPU; seconds since the pass began. Long curves " +
		"show the lowest and highest reading of each interval."}, err
}
