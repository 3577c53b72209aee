package chart_test

import (
	"math"
	"testing"

	"github.com/benchrig/bench/report/chart"
)

// large are the cases that a long run brings.
func large() []struct {
	drawn
	most int // bytes
} {
	r := dice()
	values := make([]float64, 2_000_000)
	for i := range values {
		values[i] = math.Exp(r.NormFloat64())
	}
	var curve []chart.LinePoint
	for i := range 100_000 {
		curve = append(curve, chart.LinePoint{X: float64(i), Y: r.Float64()})
	}
	var points []chart.Point
	for i := range 10_000 {
		points = append(points, chart.Point{
			X: r.Float64(), Y: r.Float64(), Label: "p",
			Ref: chart.Ref{Href: "#p", Step: "p", Variant: "v"}, Hollow: i%9 == 0,
		})
	}
	night := nightSpec(100, 5)
	requests := requestsSpec(20_000)
	h := head("x", "x")
	type one = struct {
		drawn
		most int
	}
	return []one{
		{drawn{"cdf of 2 million", func() (chart.SVG, error) {
			return chart.CDF(chart.CDFSpec{
				Head: h, X: chart.Axis{Unit: chart.Seconds},
				Series: []chart.CDFSeries{{Name: "a", Vertices: vertices(values), N: len(values)}},
			})
		}}, 8 << 10},
		{drawn{"line of 100,000", func() (chart.SVG, error) {
			return chart.Lines(chart.LinesSpec{Head: h, Series: []chart.LineSeries{{Points: curve}}})
		}}, 40 << 10},
		{drawn{"scatter of 10,000", func() (chart.SVG, error) {
			return chart.Scatter(chart.ScatterSpec{Head: h, Series: []chart.PointSeries{{Points: points}}})
		}}, 5 << 20},
		{drawn{"timeline of 500 steps", func() (chart.SVG, error) { return chart.Timeline(night) }}, 400 << 10},
		{drawn{"20,000 requests", func() (chart.SVG, error) { return chart.Requests(requests) }}, 60 << 10},
	}
}

func TestLargeDrawings(t *testing.T) {
	for _, l := range large() {
		t.Run(l.name, func(t *testing.T) {
			svg := draw(t, l.drawn)
			t.Logf("%d bytes", len(svg))
			if len(svg) > l.most {
				t.Errorf("%d bytes, want at most %d", len(svg), l.most)
			}
		})
	}
}

func BenchmarkDrawings(b *testing.B) {
	for _, l := range large() {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				draw(b, l.drawn)
			}
		})
	}
}
