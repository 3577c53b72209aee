package curves

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// sampleKinds are distributions that a line of few corners could get wrong.
func sampleKinds(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	out := map[string][]float64{}
	for name, draw := range map[string]func() float64{
		"normal":      r.NormFloat64,
		"long tail":   func() float64 { return math.Exp(2 * r.NormFloat64()) },
		"two heaps":   func() float64 { return float64(r.IntN(2))*1000 + r.Float64() },
		"few values":  func() float64 { return float64(r.IntN(3)) },
		"one outlier": func() float64 { return 0.1 },
		"below zero":  func() float64 { return -math.Exp(r.NormFloat64()) },
	} {
		x := make([]float64, n)
		for i := range x {
			x[i] = draw()
		}
		if name == "one outlier" {
			x[n-1] = 1e6
		}
		slices.Sort(x)
		out[name] = x
	}
	return out
}

// shareBetween is where a line through vertices may lie at x: its lowest and
// highest share there.
func shareBetween(vertices []CDFVertex, x float64) (lo, hi float64) {
	from := sort.Search(len(vertices), func(i int) bool { return vertices[i].X >= x })
	to := sort.Search(len(vertices), func(i int) bool { return vertices[i].X > x })
	if from == to { // between two corners
		a, b := vertices[from-1], vertices[from]
		at := a.P + (b.P-a.P)*(x-a.X)/(b.X-a.X)
		return at, at
	}
	return vertices[from].P, vertices[to-1].P
}

// apart is how far the line lies from the distribution of sorted at most, at
// all its values.
func apart(vertices []CDFVertex, sorted []float64) float64 {
	worst, n := 0.0, float64(len(sorted))
	for i, x := range sorted {
		lo, hi := shareBetween(vertices, x)
		below := float64(sort.SearchFloat64s(sorted, x)) / n
		upTo := float64(i+1) / n
		worst = max(worst, lo-upTo, below-hi)
	}
	return worst
}

func TestSketch(t *testing.T) {
	for _, n := range []int{1, 300, 100_000} {
		for name, sorted := range sampleKinds(n) {
			var s Sketch
			for _, v := range sorted {
				s.Add(v)
			}
			s.Add(math.NaN())
			s.Add(math.Inf(1))
			if s.N() != n {
				t.Errorf("%s: N() = %d, want %d", name, s.N(), n)
			}
			vertices := s.Vertices()
			if len(vertices) > maxCDFVertices || vertices[0].P != 0 ||
				vertices[len(vertices)-1] != (CDFVertex{sorted[n-1], 1}) {
				t.Errorf("%s: %d vertices from %v to %v", name, len(vertices), vertices[0], vertices[len(vertices)-1])
			}
			for _, p := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
				want := sorted[max(int(math.Ceil(p*float64(n))), 1)-1]
				low := sorted[max(int(math.Ceil((p-cdfError)*float64(n))), 1)-1]
				high := sorted[min(max(int(math.Ceil((p+cdfError)*float64(n))), 1), n)-1]
				got, slack := s.Quantile(p), SketchError*1.01
				if got < low-slack*math.Abs(low)-1e-9 || got > high+slack*math.Abs(high)+1e-9 {
					t.Errorf("%s, %d values: Quantile(%g) = %g, want %g (%g to %g)", name, n, p, got, want, low, high)
				}
			}
		}
	}
	var empty Sketch
	if empty.Vertices() != nil || !math.IsNaN(empty.Quantile(0.5)) {
		t.Error("an empty sketch has vertices")
	}
}

// The line of a sketch rises where values are, not across gaps.
func TestSketchVerticesStayClose(t *testing.T) {
	for _, n := range []int{10, 96, 300, 5000, 200_000} {
		for name, sorted := range sampleKinds(n) {
			var s Sketch
			middles := make([]float64, n)
			for i, v := range sorted {
				s.Add(v)
				switch {
				case v > sketchFloor:
					middles[i] = middleOf(rangeOf(v))
				case v < -sketchFloor:
					middles[i] = -middleOf(rangeOf(-v))
				}
				middles[i] = min(max(middles[i], sorted[0]), sorted[n-1])
			}
			got := s.Vertices()
			if len(got) > maxCDFVertices {
				t.Errorf("%s, %d values: %d vertices", name, n, len(got))
			}
			for i := 1; i < len(got); i++ {
				if got[i].X < got[i-1].X || got[i].P < got[i-1].P {
					t.Errorf("%s, %d values: %v after %v", name, n, got[i], got[i-1])
				}
			}
			if off := apart(got, middles); off > SketchLineError {
				t.Errorf("%s, %d values: %g apart, want at most %g", name, n, off, SketchLineError)
			}
		}
	}
}

// A sketch holds ranges, not values: two million of them leave it small.
func TestSketchIsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s Sketch
	for range 2_000_000 {
		s.Add(math.Exp(1.5 * r.NormFloat64()))
	}
	if n := cap(s.above.counts) + cap(s.below.counts); n > 8000 {
		t.Errorf("%d counts after two million values, want at most 8000", n)
	}
}

func BenchmarkSketch(b *testing.B) {
	var s Sketch
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(0.01 + float64(i%100_000)*1e-5)
	}
}

// The tails keep ranks that even steps would jump over.
func TestRanksKeepTails(t *testing.T) {
	const n = 1_000_000
	beyond := 0
	for _, rank := range cdfRanks(n) {
		if float64(rank) > 0.9999*n {
			beyond++
		}
	}
	if beyond < 10 {
		t.Errorf("%d ranks beyond the share 0.9999 of a million values, want at least 10", beyond)
	}
}
