package chart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/benchrig/bench/metrics/curves"
)

// CDFSpec overlays cumulative distributions.
type CDFSpec struct {
	Head
	X      Axis
	Series []CDFSeries
}

// CDFSeries is one distribution.
type CDFSeries struct {
	Name     string
	Slot     int                // 1 to 8: colour, dash and marker; 0: by position
	Vertices []curves.CDFVertex // rising
	N        int                // number of values behind Vertices
	Hollow   bool               // its marks are drawn hollow
}

// CDF draws the share of values at or below each value, with marks at the
// median, the 90th and the 99th percentile.
func CDF(s CDFSpec) (SVG, error) {
	xs := newSpan(s.X)
	var entries []entry
	for i, series := range s.Series {
		for _, v := range series.Vertices {
			xs.add(v.X)
		}
		entries = append(entries, seriesEntry(series.Name, series.Slot, i, true, true))
	}

	share := Axis{
		Label: "share of values at or below", Unit: Share,
		Ticks: []float64{0, 0.25, 0.5, 0.75, 0.9, 1},
	}
	x, y := newScale(s.X, xs, s.ticks(), tight), newScale(share, &span{lo: 0, hi: 1}, 5, tight)
	f := s.plot(s.X, share, x, y, s.legendOf(entries), edge+16, min(280, s.width()*0.65))
	if xs.empty() {
		f.nothing("nothing was measured")
	}

	var says []string
	for i, series := range s.Series {
		s.drawCurve(f, lookOf(series.Slot, i), series)
		if i < describedSeries {
			says = append(says, s.curveWords(series))
		}
	}

	for i, series := range s.Series {
		s.drawMarks(f, lookOf(series.Slot, i), series)
	}

	if len(s.Series) > describedSeries {
		says = append(says, fmt.Sprintf("%d more distributions.", len(s.Series)-describedSeries))
	}

	if len(s.Series) == 0 {
		says = []string{"Nothing was measured."}
	}

	return f.c.drawing(s.Head, "cdf", says)
}

func (s CDFSpec) drawCurve(f *frame, l look, series CDFSeries) {
	points := make([]LinePoint, len(series.Vertices))
	for i, v := range series.Vertices {
		points[i] = LinePoint{X: v.X, Y: v.P}
	}
	f.drawLine(l, LineSeries{Name: series.Name, Points: points}, true)
}

func (s CDFSpec) drawMarks(f *frame, l look, series CDFSeries) {
	for _, p := range []float64{0.5, 0.9, 0.99} {
		x := atShare(series.Vertices, p)
		if !f.shows(XY{x, p}) {
			continue
		}
		name := cmp.Or(series.Name, s.X.Label, "values")
		title := fmt.Sprintf("%s: p%s %s", name, figures(p*100, 3), s.X.Unit.words(x))
		at := f.at(XY{x, p})
		f.c.mark(Ref{Title: title}, func() {
			f.c.target(at, 9)
			f.c.marker(l, at, 3.6, series.Hollow)
		}, "data-x", raw(x), "data-y", raw(p))
	}
}

// atShare is the value on the curve at a share; NaN where it has none.
func atShare(curve []curves.CDFVertex, p float64) float64 {
	for i, v := range curve {
		if v.P < p {
			continue
		}
		if i == 0 || v.P == curve[i-1].P {
			return v.X
		}
		before := curve[i-1]
		return before.X + float64((v.X-before.X)*((p-before.P)/(v.P-before.P)))
	}
	return math.NaN()
}

func (s CDFSpec) curveWords(series CDFSeries) string {
	name, curve := cmp.Or(series.Name, s.X.Label, "values"), series.Vertices
	if len(curve) == 0 {
		return name + ": nothing was measured."
	}
	words := fmt.Sprintf("%s: %s, median %s", name, count(series.N, "value", "values"),
		s.X.Unit.words(atShare(curve, 0.5)))
	return words + fmt.Sprintf(", p90 %s, p99 %s, largest %s.",
		s.X.Unit.words(atShare(curve, 0.9)), s.X.Unit.words(atShare(curve, 0.99)),
		s.X.Unit.words(curve[len(curve)-1].X))
}
