package chart

import (
	"html/template"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// SparklineSpec is a line the size of a word.
type SparklineSpec struct {
	Head
	Values    []float64 // NaN: a gap
	Low, High []float64 // intervals, in step with Values; empty: none
	Unit      Unit
	Slot      int // 1 to 8: colour; 0: the first
}

// Sparkline draws values without axes, the last one marked.
func Sparkline(s SparklineSpec) (template.HTML, error) {
	c := newCanvas(120, 24)
	xs, ys := newSpan(Axis{}), newSpan(Axis{})
	series := LineSeries{}
	for i, v := range s.Values {
		p := LinePoint{X: float64(i), Y: v}
		if i < len(s.Low) && i < len(s.High) {
			p.Low, p.High = &s.Low[i], &s.High[i]
		}
		series.Points = append(series.Points, p)
	}

	drawn := addSeries(series, xs, ys)
	if drawn == 0 {
		c.text(vg.Point{X: 60, Y: 8}, "middle", "t", "no data")
		return c.drawing(s.Head, "sparkline", []string{"Nothing was measured."})
	}

	lo, hi := limits(Axis{}, ys)
	f := newFrame(c, scale{min: 0, max: math.Max(float64(len(s.Values)-1), 1)}, scale{min: lo, max: hi}, 4, 5, 4, 4)
	l := lookOf(max(s.Slot, 1), 0)
	l.dash = nil
	f.drawBands(l, series)
	f.drawLine(l, series, false)
	for i, v := range slices.Backward(s.Values) {
		if finite(v) {
			c.marker(look{paint: l.paint}, f.at(XY{float64(i), v}), 2.4, false)
			break
		}
	}

	return c.drawing(s.Head, "sparkline", s.says())
}

func (s SparklineSpec) says() []string {
	series := LineSeries{Name: "Values"}
	for i, v := range s.Values {
		series.Points = append(series.Points, LinePoint{X: float64(i + 1), Y: v})
	}
	return []string{seriesWords(Axis{}, Axis{Unit: s.Unit}, series)}
}
