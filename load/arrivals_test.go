package load

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"benchrig/dataset/prng"
)

// maybeInf is a number that the reference client writes as "inf" at times.
type maybeInf float64

func (m *maybeInf) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*m = maybeInf(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(m))
}

// TestArrivalsReference compares with the send times that vLLM's own client
// planned.
func TestArrivalsReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/arrivals-newest.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			N          int       `json:"num_requests"`
			Rate       maybeInf  `json:"request_rate"`
			Burstiness maybeInf  `json:"burstiness"`
			Seed       uint32    `json:"seed"`
			At         []float64 `json:"send_time_s"`
			Ramp       string    `json:"ramp_up_strategy"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range file.Cases {
		if c.Ramp != "" {
			continue // ramps are not planned here
		}
		compared++
		got := Arrivals(c.N, float64(c.Rate), float64(c.Burstiness), prng.NewNumpy(c.Seed))
		if len(got) != len(c.At) {
			t.Fatalf("Arrivals(%d, %v, %v, seed %d) gave %d times, want %d", c.N, c.Rate, c.Burstiness, c.Seed, len(got), len(c.At))
		}
		for i := range got {
			if math.Abs(got[i]-c.At[i]) > 1e-12*max(1, c.At[i]) {
				t.Errorf("Arrivals(%d, %v, %v, seed %d)[%d] = %v, want %v", c.N, c.Rate, c.Burstiness, c.Seed, i, got[i], c.At[i])
				break
			}
		}
	}
	if compared < 8 {
		t.Errorf("compared %d cases, want at least 8", compared)
	}
}

// fixedGamma draws from a list and notes what was asked.
type fixedGamma struct {
	draws []float64
	asked [][2]float64
}

func (g *fixedGamma) Gamma(shape, scale float64) float64 {
	g.asked = append(g.asked, [2]float64{shape, scale})
	return g.draws[len(g.asked)-1]
}

func TestArrivals(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name       string
		n          int
		rate, b    float64
		draws      []float64
		want       []float64
		wantScales []float64
	}{
		{"none", 0, 5, 1, nil, []float64{}, nil},
		{"negative", -1, 5, 1, nil, []float64{}, nil},
		{"all at once", 3, inf, 1, nil, []float64{0, 0, 0}, nil},
		{"constant", 4, 2, inf, nil, []float64{0.5, 1, 1.5, 2}, nil},
		{"stretched to n/rate", 2, 1, 0.5, []float64{1, 3}, []float64{0.5, 2}, []float64{2, 2}},
		{"all draws zero", 2, 4, 2, []float64{0, 0}, []float64{0, 0}, []float64{0.125, 0.125}},
	}
	for _, tt := range tests {
		g := &fixedGamma{draws: tt.draws}
		got := Arrivals(tt.n, tt.rate, tt.b, g)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: Arrivals(%d, %v, %v) = %v, want %v", tt.name, tt.n, tt.rate, tt.b, got, tt.want)
		}
		for i, a := range g.asked {
			if a != [2]float64{tt.b, tt.wantScales[i]} {
				t.Errorf("%s: draw %d asked for shape and scale %v, want %v %v", tt.name, i, a, tt.b, tt.wantScales[i])
			}
		}
		if len(g.asked) != len(tt.wantScales) {
			t.Errorf("%s: %d draws, want %d", tt.name, len(g.asked), len(tt.wantScales))
		}
	}
}
