package load

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
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

// arrivalCase is a plan of vLLM's own client.
type arrivalCase struct {
	N          int       `json:"num_requests"`
	Rate       maybeInf  `json:"request_rate"`
	Burstiness maybeInf  `json:"burstiness"`
	Seed       uint32    `json:"seed"`
	At         []float64 `json:"send_time_s"`
	Strategy   string    `json:"ramp_up_strategy"`
	Start      float64   `json:"ramp_up_start_rps"`
	End        float64   `json:"ramp_up_end_rps"`
}

func arrivalCases(t *testing.T, path string) []arrivalCase {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []arrivalCase }
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) < 2 {
		t.Fatalf("%s: %d cases, %v", path, len(file.Cases), err)
	}
	return file.Cases
}

// sameTimes compares up to the rounding of the libraries' logarithms.
func sameTimes(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d times, want %d", name, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12*max(1, want[i]) {
			t.Errorf("%s: time %d is %v, want %v", name, i, got[i], want[i])
			return
		}
	}
}

// TestArrivalsReference compares with the send times that both generations of
// vLLM's own client planned.
func TestArrivalsReference(t *testing.T) {
	for _, c := range arrivalCases(t, "testdata/arrivals-newest.json") {
		name, rng := fmt.Sprintf("newest %+v", c.N), prng.NewNumpy(uint64(c.Seed))
		if c.Strategy == "" {
			sameTimes(t, name, Arrivals(c.N, float64(c.Rate), float64(c.Burstiness), rng), c.At)
			continue
		}
		got, _, err := ArrivalsRamp(c.N, spec.Ramp{Strategy: c.Strategy, Start: c.Start, End: c.End},
			float64(c.Burstiness), rng)
		if err != nil {
			t.Error(err)
		}
		sameTimes(t, name+c.Strategy, got, c.At)
	}
	for _, c := range arrivalCases(t, "testdata/arrivals-v06.json") {
		got := ArrivalsV06(c.N, float64(c.Rate), float64(c.Burstiness), prng.NewNumpy(uint64(c.Seed)))
		sameTimes(t, fmt.Sprintf("v06 %d", c.N), got, c.At)
	}
}

// TestRampReference compares rates and times with the reference's own.
func TestRampReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/arrivals-ramp.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Strategy   string
			Start, End float64
			Seed       uint32
			Burstiness maybeInf
			Rates, Cum []float64
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		ramp := spec.Ramp{Strategy: c.Strategy, Start: c.Start, End: c.End}
		got, _, err := ArrivalsRamp(len(c.Cum), ramp, float64(c.Burstiness), prng.NewNumpy(uint64(c.Seed)))
		if err != nil {
			t.Fatal(err)
		}
		sameTimes(t, c.Strategy, got, c.Cum)
		for i, want := range c.Rates {
			if rate := rampRate(ramp, i, len(c.Rates)); math.Abs(rate-want) > 1e-12*want {
				t.Errorf("%s: rate(%d) = %v, want %v", c.Strategy, i, rate, want)
			}
		}
	}
}

func TestRampChanges(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name    string
		n       int
		ramp    spec.Ramp
		at      []float64
		changes []results.RateChange
	}{
		{
			"linear", 3,
			spec.Ramp{Strategy: spec.RampLinear, Start: 1, End: 4},
			[]float64{1, 1.4, 1.65},
			[]results.RateChange{{RPS: 1, AtS: 0}, {RPS: 2, AtS: 1.4}, {RPS: 3, AtS: 1.65}, {RPS: 4, AtS: 1.65}},
		},
		{
			"falling", 2,
			spec.Ramp{Strategy: spec.RampLinear, Start: 2, End: 1},
			[]float64{0.5, 1.5},
			[]results.RateChange{{RPS: 2, AtS: 0}},
		},
		{
			"from nothing", 3,
			spec.Ramp{Strategy: spec.RampLinear, Start: 0, End: 2},
			[]float64{0, 1, 1.5},
			[]results.RateChange{{RPS: 0, AtS: 0}, {RPS: 1, AtS: 1}, {RPS: 2, AtS: 1.5}},
		},
		{
			"exponential", 3,
			spec.Ramp{Strategy: spec.RampExponential, Start: 1, End: 4},
			[]float64{1, 1.5, 1.75},
			[]results.RateChange{{RPS: 1, AtS: 0}, {RPS: 2, AtS: 1.5}, {RPS: 3, AtS: 1.75}, {RPS: 4, AtS: 1.75}},
		},
		{
			"one request", 1,
			spec.Ramp{Strategy: spec.RampLinear, Start: 2, End: 8},
			[]float64{0.5},
			[]results.RateChange{{RPS: 2, AtS: 0}},
		},
		{
			"none", 0,
			spec.Ramp{Strategy: spec.RampLinear, Start: 2, End: 8},
			[]float64{},
			[]results.RateChange{{RPS: 2, AtS: 0}},
		},
	}
	for _, tt := range tests {
		at, changes, err := ArrivalsRamp(tt.n, tt.ramp, inf, nil)
		if err != nil || !slices.Equal(at, tt.at) || !slices.Equal(changes, tt.changes) {
			t.Errorf("%s: ArrivalsRamp = %v, %v, %v, want %v, %v", tt.name, at, changes, err, tt.at, tt.changes)
		}
	}
	for _, bad := range []spec.Ramp{
		{Strategy: "", Start: 1, End: 2},
		{
			Strategy: spec.RampExponential, Start: 0,
			End: 2,
		},
		{Strategy: spec.RampLinear, Start: -1, End: 2},
		{Strategy: spec.RampLinear, Start: 1, End: inf},
		{Strategy: spec.RampLinear, Start: math.NaN(), End: 1},
	} {
		if _, _, err := ArrivalsRamp(2, bad, inf, nil); err == nil {
			t.Errorf("ArrivalsRamp(%+v) gave no error", bad)
		}
	}
}

func TestArrivalsUntil(t *testing.T) {
	inf := math.Inf(1)
	want := []float64{0.5, 1, 1.5}
	if got, err := ArrivalsUntil(2, 2, inf, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("ArrivalsUntil(2, 2, +Inf) = %v, %v, want %v", got, err, want)
	}
	for _, rate := range []float64{0, -1, inf, math.NaN()} {
		if got, err := ArrivalsUntil(2, rate, 1, nil); err != nil || got == nil || len(got) != 0 {
			t.Errorf("ArrivalsUntil(2, %v, 1) = %v, %v, want an empty list", rate, got, err)
		}
	}
	if got, err := ArrivalsUntil(2, 1, 1e-9, noGaps{}); err == nil { // gaps of 0 have no end
		t.Errorf("ArrivalsUntil without gaps = %d times, want an error", len(got))
	}
	got, err := ArrivalsUntil(100, 10, 1, prng.NewNumpy(0))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 900 || len(got) > 1100 || got[len(got)-1] >= 100 {
		t.Errorf("ArrivalsUntil(100, 10, 1): %d times up to %v, want about 1000 below 100", len(got), got[len(got)-1])
	}
}

func TestReplay(t *testing.T) {
	tests := []struct {
		times []float64
		speed float64
		want  []float64
		words string
	}{
		{[]float64{10, 11, 11, 14}, 1, []float64{0, 1, 1, 4}, ""},
		{[]float64{10, 12}, 4, []float64{0, 0.5}, ""},
		{nil, 1, []float64{}, ""},
		{[]float64{2, 1}, 1, nil, "time 1 is 1 s after 2 s"},
		{[]float64{0, 2, 1}, 1, nil, "time 2 is 1 s after 2 s"},
		{[]float64{math.NaN()}, 1, nil, "time 0 is NaN"},
		{[]float64{0, math.Inf(1)}, 1, nil, "time 1 is +Inf"},
		{[]float64{1}, 0, nil, "speed is 0"},
		{[]float64{1}, math.NaN(), nil, "speed is NaN"},
	}
	for _, tt := range tests {
		got, err := Replay(tt.times, tt.speed)
		if tt.words != "" {
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("Replay(%v, %v) error = %v, want one with %q", tt.times, tt.speed, err, tt.words)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Replay(%v, %v) = %v, %v, want %v", tt.times, tt.speed, got, err, tt.want)
		}
	}
}

// noGaps draws what a tiny burstiness does.
type noGaps struct{}

func (noGaps) Gamma(float64, float64) float64 { return 0 }

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
