package chart_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/report/chart"
)

// drawn is one picture of the gallery.
type drawn struct {
	name string
	make func() (chart.SVG, error)
}

// gallery is every kind of chart with data as a night of measuring has them.
func gallery() []drawn {
	return []drawn{
		{"scatter", func() (chart.SVG, error) { return chart.Scatter(scatterSpec()) }},
		{"scatter-crowded", func() (chart.SVG, error) { return chart.Scatter(crowdedSpec()) }},
		{"lines", func() (chart.SVG, error) { return chart.Lines(sweepSpec()) }},
		{"lines-telemetry", func() (chart.SVG, error) { return chart.Lines(telemetrySpec()) }},
		{"lines-eight", func() (chart.SVG, error) { return chart.Lines(eightSpec()) }},
		{"cdf", func() (chart.SVG, error) { return chart.CDF(cdfSpec()) }},
		{"bars", func() (chart.SVG, error) { return chart.Bars(barsSpec()) }},
		{"bars-deltas", func() (chart.SVG, error) { return chart.Bars(deltasSpec()) }},
		{"timeline", func() (chart.SVG, error) { return chart.Timeline(nightSpec(10, 5)) }},
		{"requests", func() (chart.SVG, error) { return chart.Requests(requestsSpec(64)) }},
		{"requests-many", func() (chart.SVG, error) { return chart.Requests(requestsSpec(3000)) }},
		{"in-flight", func() (chart.SVG, error) { return chart.InFlight(inFlightSpec()) }},
	}
}

func dice() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

func head(id, title string) chart.Head {
	return chart.Head{ID: id, Title: title}
}

func scatterSpec() chart.ScatterSpec {
	s := chart.ScatterSpec{
		Head: head("pareto", "Throughput of a GPU against speed for a user"),
		X:    chart.Axis{Label: "output speed for one user", Unit: "tok/s", Zero: true},
		Y:    chart.Axis{Label: "output throughput of one GPU", Unit: "tok/s", Zero: true}, Better: "up and right",
	}
	var all []curves.ParetoPoint
	for v, name := range []string{"fp16", "fp8", "fp8 + spec", "int4-awq"} {
		series := chart.PointSeries{Name: name}
		for i := range 8 {
			load := math.Pow(2, float64(i))
			rate := (300 + 90*float64(v)) * load / (1 + load/(28+6*float64(v)))
			p := chart.Point{
				X: rate / load / (1 + 0.02*float64(v)), Y: rate / 4, Label: fmt.Sprintf("%s c%d", name, int(load)),
				Hollow: v == 3 && i == 7, Ref: chart.Ref{
					Href: fmt.Sprintf("#step-%d-%d", v, i),
					Step: fmt.Sprintf("%s_c%d_r1", name, int(load)), Variant: name,
				},
			}
			series.Points = append(series.Points, p)
			all = append(all, curves.ParetoPoint{X: p.X, Y: p.Y})
		}
		s.Series = append(s.Series, series)
	}
	for _, i := range curves.ParetoFront(all) {
		s.Front = append(s.Front, chart.XY{X: all[i].X, Y: all[i].Y})
	}
	return s
}

func crowdedSpec() chart.ScatterSpec {
	r := dice()
	s := chart.ScatterSpec{
		Head: head("crowd", "Throughput against the tail of TTFT"),
		X:    chart.Axis{Label: "p99 TTFT", Unit: chart.Seconds, Log: true},
		Y:    chart.Axis{Label: "output throughput", Unit: "tok/s"},
	}
	for v := range 3 {
		series := chart.PointSeries{Name: fmt.Sprintf("a variant with a rather long name, number %d", v+1)}
		for i := range 60 {
			series.Points = append(series.Points, chart.Point{
				X: 0.02 * math.Exp(r.Float64()*6), Y: 1000 + 9000*r.Float64(),
				Label: fmt.Sprintf("step %d of %d", i, v),
			})
		}
		s.Series = append(s.Series, series)
	}
	return s
}

func sweepSpec() chart.LinesSpec {
	s := chart.LinesSpec{
		Head: head("sweep", "Output throughput over concurrency"),
		X:    chart.Axis{Label: "requests at a time", Log: true},
		Y:    chart.Axis{Label: "output throughput", Unit: "tok/s", Zero: true},
	}
	for v, name := range []string{"vllm 0.11", "sglang 0.5", "llama.cpp b6700"} {
		series := chart.LineSeries{Name: name}
		for i := range 9 {
			load := math.Pow(2, float64(i))
			y := (110 - 22*float64(v)) * load / (1 + load/(40-9*float64(v)))
			p := chart.LinePoint{
				X: load, Y: y, Low: new(y * 0.94), High: new(y * 1.05),
				Ref: chart.Ref{Href: fmt.Sprintf("#s%d%d", v, i), Step: fmt.Sprintf("s%d-c%d", v, i), Variant: name},
			}
			if v == 1 && i == 6 {
				p = chart.LinePoint{X: load, Y: math.NaN()}
			}
			series.Points = append(series.Points, p)
		}
		s.Series = append(s.Series, series)
	}
	return s
}

func telemetrySpec() chart.LinesSpec {
	r := dice()
	s := chart.LinesSpec{
		Head: head("vram", "VRAM in use"), X: chart.Axis{Label: "time since the pass began", Unit: chart.Seconds},
		Y: chart.Axis{Label: "VRAM in use", Unit: chart.Bytes, Zero: true}, Height: 160,
	}
	for g := range 2 {
		series := chart.LineSeries{Name: fmt.Sprintf("gpu%d", g)}
		for i := range 2400 {
			y := (60 + 12*math.Tanh(float64(i-300)/250) + r.Float64()) * (1 << 30)
			if i > 900 && i < 1100 && g == 1 {
				y = math.NaN()
			}
			series.Points = append(series.Points, chart.LinePoint{X: float64(i) / 10, Y: y})
		}
		s.Series = append(s.Series, series)
	}
	return s
}

func eightSpec() chart.LinesSpec {
	s := chart.LinesSpec{
		Head: head("eight", "Eight variants"), X: chart.Axis{Label: "requests per second"},
		Y: chart.Axis{Label: "median TPOT", Unit: chart.Seconds},
	}
	for v := range 8 {
		series := chart.LineSeries{Name: fmt.Sprintf("variant %d", v+1)}
		for i := range 6 {
			series.Points = append(series.Points,
				chart.LinePoint{X: float64(i + 1), Y: 0.012 + 0.003*float64(v) + 0.0004*float64(i*i)})
		}
		s.Series = append(s.Series, series)
	}
	return s
}

func cdfSpec() chart.CDFSpec {
	r := dice()
	s := chart.CDFSpec{
		Head: head("ttft", "Time to first token"),
		X:    chart.Axis{Label: "TTFT", Unit: chart.Seconds, Log: true},
	}
	for v, name := range []string{"vllm 0.11", "sglang 0.5", "llama.cpp b6700"} {
		values := make([]float64, 5000)
		if v == 2 {
			values = values[:40]
		}
		for i := range values {
			values[i] = 0.05 * math.Exp(r.NormFloat64()*(0.4+0.15*float64(v))) * (1 + float64(v)*0.5)
		}
		s.Series = append(s.Series, chart.CDFSeries{Name: name, Vertices: vertices(values), N: len(values)})
	}
	return s
}

// vertices are those of the distribution of values.
func vertices(values []float64) []curves.CDFVertex {
	var all curves.Sketch
	for _, v := range values {
		all.Add(v)
	}
	return all.Vertices()
}

func barsSpec() chart.BarsSpec {
	s := chart.BarsSpec{
		Head:  head("bars", "Output throughput at c32"),
		Value: chart.Axis{Label: "output throughput", Unit: "tok/s"}, Reference: new(1840.0),
	}
	for i, name := range []string{"fp16", "fp8", "fp8 with speculative decoding and a very long name", "int4-awq"} {
		v := 1840 + 410*float64(i)
		s.Bars = append(s.Bars, chart.Bar{
			Label: name, Slot: i + 1, Value: v, Low: new(v * 0.95), High: new(v * 1.06),
			Hollow: i == 3, Ref: chart.Ref{Href: "#v" + fmt.Sprint(i), Variant: name},
		})
	}
	s.Bars = append(s.Bars, chart.Bar{Label: "broken", Value: math.NaN()})
	return s
}

func deltasSpec() chart.BarsSpec {
	s := chart.BarsSpec{
		Head:  head("deltas", "Change against the baseline"),
		Value: chart.Axis{Label: "change of output throughput", Unit: chart.Share},
	}
	for i, v := range []float64{0.12, 0.034, -0.002, -0.081} {
		s.Bars = append(s.Bars, chart.Bar{
			Label: fmt.Sprintf("variant %d", i+1), Value: v, Low: new(v - 0.02),
			High: new(v + 0.03),
		})
	}
	return s
}

// nightSpec is a run of servers and steps with everything that can happen.
func nightSpec(servers, steps int) chart.TimelineSpec {
	r := dice()
	s := chart.TimelineSpec{
		Head:  head("night", "The night"),
		Start: time.Date(2026, 11, 27, 22, 13, 5, 0, time.UTC),
		Lanes: []chart.Lane{{Name: "servers"}, {Name: "steps"}, {Name: "hooks"}},
	}
	temperature := chart.LineSeries{Name: "gpu0"}
	power := []chart.LineSeries{{Name: "gpu0"}, {Name: "gpu1"}}
	at := 0.0
	span := func(lane int, from, to float64, class chart.Class, label string, ref chart.Ref) {
		s.Lanes[lane].Spans = append(s.Lanes[lane].Spans,
			chart.Span{FromS: from, ToS: to, Class: class, Label: label, Ref: ref})
	}
	for life := range servers {
		name := fmt.Sprintf("%02d-variant-%d", life+1, life%4)
		span(2, at, at+12, chart.Hook, "", chart.Ref{Title: "hook drop-caches"})
		at += 12
		span(0, at, at+140, chart.Starting, "", chart.Ref{Title: name + " starts"})
		begin := at + 140
		at = begin + 3
		for step := range steps {
			length := 180 + 240*r.Float64()
			class := chart.OK
			switch {
			case life == 3 && step == 2:
				class = chart.Failed
			case life == 5 && step > 2:
				class = chart.NotRun
			case r.Float64() < 0.1:
				class = chart.Suspect
			}
			span(1, at, at+length, class, fmt.Sprintf("c%d", 1<<step),
				chart.Ref{
					Href: fmt.Sprintf("#l%ds%d", life, step), Step: fmt.Sprintf("l%ds%d", life, step),
					Variant: name,
				})
			for t := 0.0; t < length; t += 20 {
				temperature.Points = append(temperature.Points,
					chart.LinePoint{X: at + t, Y: 55 + 20*math.Tanh(t/120) + r.Float64()})
				for g := range power {
					power[g].Points = append(power[g].Points,
						chart.LinePoint{X: at + t, Y: 480 + 150*r.Float64() - 60*float64(g)})
				}
			}
			at += length
		}
		span(0, begin, at, chart.Serving, name, chart.Ref{Variant: name, Href: "#life-" + name})
		span(0, at, at+20, chart.Stopping, "", chart.Ref{Title: name + " stops"})
		at += 25
		for g := range power {
			power[g].Points = append(power[g].Points, chart.LinePoint{X: at, Y: math.NaN()})
		}
		temperature.Points = append(temperature.Points, chart.LinePoint{X: at, Y: math.NaN()})
	}
	s.Lanes[0].Marks = append(s.Lanes[0].Marks, chart.Mark{AtS: at / 3, Class: chart.Failed, Label: "server exited"},
		chart.Mark{AtS: at / 2, Label: "run resumed"})
	s.Curves = []chart.Panel{
		{Y: chart.Axis{Label: "hottest core", Unit: "°C"}, Series: []chart.LineSeries{temperature}},
		{Y: chart.Axis{Label: "power", Unit: "W", Zero: true}, Series: power},
	}
	return s
}

func requestsSpec(n int) chart.RequestsSpec {
	r := dice()
	var drawn curves.Waterfall
	for i := range n {
		at := float64(i) * 0.11
		row := curves.RequestSpan{Index: i, IntendedS: at, InputTokens: new(512), OutputTokens: new(128)}
		sent := at + max(0, r.NormFloat64()*0.4)
		first := sent + 0.2 + 0.5*r.Float64()
		last := first + 2 + r.Float64()
		row.SentS, row.EndS = &sent, last+0.001
		if i%23 == 7 {
			row.Failure, row.EndS = "stall-timeout", last
			row.LastS, row.FirstS = new(first+0.4), &first
		} else {
			row.FirstS, row.LastS = &first, &last
		}
		drawn.AddSpan(row)
	}
	return chart.RequestsSpec{Head: head("requests", "Requests of fp8_c16_r1"), Rows: drawn.Rows(), Total: n}
}

func inFlightSpec() chart.InFlightSpec {
	var requests, tokens []curves.Level
	for i := range 300 {
		t := float64(i) / 5
		n := math.Round(32*math.Tanh(t/4)*math.Min(1, (60-t)/6) + 1.5*math.Sin(t))
		requests = append(requests, curves.Level{AtS: t, Value: max(n, 0)})
		tokens = append(tokens, curves.Level{AtS: t, Value: max(n, 0) * (700 + 120*math.Sin(t/3))})
	}
	return chart.InFlightSpec{
		Head: head("flight", "In flight"),
		Panels: []chart.Panel{
			{
				Y:      chart.Axis{Label: "requests in flight", Zero: true},
				Series: []chart.LineSeries{{Name: "requests", Points: chart.Levels(requests)}},
			},
			{
				Y:      chart.Axis{Label: "tokens in flight", Unit: "tok", Zero: true},
				Series: []chart.LineSeries{{Name: "tokens", Points: chart.Levels(tokens)}},
			},
		},
	}
}

// draw fails the test where a chart cannot be drawn.
func draw(t testing.TB, d drawn) string {
	t.Helper()
	svg, err := d.make()
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return string(svg)
}
