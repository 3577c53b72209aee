package chart

import (
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

// CDFSeries is one distribution, given by one of Values and Vertices.
type CDFSeries struct {
	Name     string
	Slot     int                // 1 to 8: colour, dash and marker; 0: by position
	Values   []float64          // ascending; reduced to at most metrics.MaxCDFVertices
	Vertices []curves.CDFVertex // of a distribution that was reduced before, rising
	N        int                // number of values behind Vertices
	Doubt    bool               // its marks are drawn hollow
	Ref                         // of its marks
}

// cdfMarks are the shares that each curve has a marker at.
func cdfMarks() []float64 { return []float64{0.5, 0.9, 0.99} }

// CDF draws the share of values at or below each value, with marks at the
// median, the 90th and the 99th percentile.
func CDF(s CDFSpec) (SVG, error) {
	xs := newSpan(s.X)
	curves := make([][]curves.CDFVertex, len(s.Series))
	for i, series := range s.Series {
		curves[i] = series.curve(s.X.Log)
		for _, v := range curves[i] {
			xs.add(v.X)
		}
	}

	share := Axis{
		Label: "share of values at or below", Unit: Share, Min: new(0.0), Max: new(1.0),
		Ticks: []float64{0, 0.25, 0.5, 0.75, 0.9, 1},
	}
	x, y := newScale(s.X, xs, s.ticks(), tight), newScale(share, &span{lo: 0, hi: 1}, 5, tight)
	legend := s.legendOf(s.entries(), s.width()-20)
	top, bottom := legend.height()+rowSize+8, tickRoom+rowSize+2
	c := newCanvas(s.width(), min(280, s.width()*0.65)+top+bottom)
	f := newFrame(c, x, y, leftRoom(y), edge+16, bottom, top)
	f.grid()
	f.bottomAxis(x.title(s.X))
	f.leftTitle(y.title(share))
	legend.draw(c, f.area.Min.X, c.h-2)
	if xs.empty() {
		f.nothing("nothing was measured")
	}

	var says []string
	for i, series := range s.Series {
		s.drawCurve(f, lookOf(series.Slot, i), series, curves[i])
		if i < describedSeries {
			says = append(says, s.curveWords(series, curves[i]))
		}
	}

	for i, series := range s.Series {
		s.drawMarks(f, lookOf(series.Slot, i), series, curves[i])
	}

	if len(s.Series) > describedSeries {
		says = append(says, fmt.Sprintf("%d more distributions.", len(s.Series)-describedSeries))
	}

	if len(s.Series) == 0 {
		says = []string{"Nothing was measured."}
	}

	return c.drawing(s.Head, "cdf", says)
}

// curve are the vertices that can be drawn.
func (s CDFSeries) curve(log bool) []curves.CDFVertex {
	vertices := s.Vertices
	if vertices == nil {
		var numbers []float64
		for _, v := range s.Values {
			if finite(v) {
				numbers = append(numbers, v)
			}
		}
		vertices = curves.CDFVertices(numbers)
	}

	var out []curves.CDFVertex
	for _, v := range vertices {
		if finite(v.X) && finite(v.P) && !(log && v.X <= 0) {
			out = append(out, v)
		}
	}

	return out
}

func (s CDFSeries) n() int {
	if s.Vertices != nil {
		return s.N
	}
	return len(s.Values)
}

func (s CDFSpec) entries() []entry {
	var out []entry
	for i, series := range s.Series {
		out = append(out, entry{
			name: series.Name, look: lookOf(series.Slot, i), line: true, sign: true, rest: series.Slot == Rest,
		})
	}
	return out
}

func (s CDFSpec) drawCurve(f *frame, l look, series CDFSeries, curve []curves.CDFVertex) {
	points := make([]LinePoint, len(curve))
	for i, v := range curve {
		points[i] = LinePoint{X: v.X, Y: v.P}
	}
	f.drawLine(l, LineSeries{Name: series.Name, Points: points}, true)
}

func (s CDFSpec) drawMarks(f *frame, l look, series CDFSeries, curve []curves.CDFVertex) {
	for _, p := range cdfMarks() {
		x := atShare(curve, p)
		if !f.shows(XY{x, p}) {
			continue
		}
		ref := series.Ref
		ref.Title = fmt.Sprintf("%s: p%s %s", orWord(series.Name, s.X.Label), figures(p*100, 3), s.X.Unit.words(x))
		at := f.at(XY{x, p})
		f.c.mark(ref, func() {
			f.c.target(at, 9)
			f.c.marker(l, at, 3.6, series.Doubt)
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

func (s CDFSpec) curveWords(series CDFSeries, curve []curves.CDFVertex) string {
	name := orWord(series.Name, s.X.Label)
	if len(curve) == 0 {
		return name + ": nothing was measured."
	}
	words := fmt.Sprintf("%s: %s, median %s", name, count(series.n(), "value", "values"),
		s.X.Unit.words(atShare(curve, 0.5)))
	return words + fmt.Sprintf(", p90 %s, p99 %s, largest %s.",
		s.X.Unit.words(atShare(curve, 0.9)), s.X.Unit.words(atShare(curve, 0.99)),
		s.X.Unit.words(curve[len(curve)-1].X))
}

// orWord is the first word that is not empty.
func orWord(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return "values"
}
