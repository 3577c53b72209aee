package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// readJSON decodes a file of testdata.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// The vectors were made by numpy; ours must be the same to the last bit.
func TestStatisticsEqualNumpy(t *testing.T) {
	var cases []struct {
		X                 []float64
		Mean, Median, Std float64
		Percentiles       map[string]float64
	}
	readJSON(t, "numpy-stats.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no vectors")
	}
	for _, c := range cases {
		sorted := Ascending(c.X)
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"Mean", Mean(c.X), c.Mean}, {"Median", Median(sorted), c.Median}, {"Std", stdDev(c.X), c.Std},
		} {
			if f.got != f.want {
				t.Errorf("%s(%d values) = %v, want %v", f.name, len(c.X), f.got, f.want)
			}
		}
		for text, want := range c.Percentiles {
			p, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := Percentile(sorted, p); got != want {
				t.Errorf("Percentile(%d values, %v) = %v, want %v", len(c.X), p, got, want)
			}
		}
	}
}

func TestStatisticsOfAnEmptySample(t *testing.T) {
	for name, got := range map[string]float64{
		"Mean": Mean(nil), "Std": stdDev(nil), "Median": Median(nil), "Percentile": Percentile(nil, 99),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s(nil) = %v, want NaN", name, got)
		}
	}
}

func TestPercentileProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x := make([]float64, 1+rng.IntN(400))
		for i := range x {
			x[i] = math.Exp(rng.NormFloat64() * 5)
		}
		x = Ascending(x)
		lo, hi := x[0], x[len(x)-1]
		before := lo
		for p := 0.0; p <= 100; p += 0.5 {
			v := Percentile(x, p)
			if v < before || v > hi {
				t.Fatalf("Percentile(%d values, %v) = %v, want it from %v to %v", len(x), p, v, before, hi)
			}
			before = v
		}
		if before != hi || Percentile(x, 0) != lo {
			t.Fatalf("p0, p100 = %v, %v, want min %v and max %v", Percentile(x, 0), before, lo, hi)
		}
		if m := Mean(x); m < lo-1e-9*lo || m > hi+1e-9*hi {
			t.Fatalf("Mean = %v, want it from %v to %v", m, lo, hi)
		}
	}
}

func FuzzPercentile(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 99.9)
	f.Fuzz(func(t *testing.T, a, b, c, p float64) {
		for _, v := range []float64{a, b, c, p} {
			if math.IsNaN(v) || math.Abs(v) > 1e300 {
				t.Skip()
			}
		}
		p = math.Abs(math.Mod(p, 100))
		x := Ascending([]float64{a, b, c})
		if got := Percentile(x, p); got < x[0] || got > x[2] {
			t.Errorf("Percentile(%v, %v) = %v, want it within the sample", x, p, got)
		}
	})
}

func TestSamplesFor(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		want int
	}{{0, 0}, {50, 0}, {75, 40}, {90, 100}, {95, 200}, {99, 1000}, {99.9, 10000}, {100, 0}} {
		if got := SamplesFor(tt.p); got != tt.want {
			t.Errorf("SamplesFor(%v) = %d, want %d", tt.p, got, tt.want)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 100_000)
	for i := range x {
		x[i] = rng.ExpFloat64()
	}
	b.ReportAllocs()
	for b.Loop() {
		Describe(x, []float64{50, 90, 99})
	}
}
