package telemetry

import (
	"math"
	"slices"
	"testing"

	"github.com/benchrig/bench/results"
)

func readings(values ...float64) []CurvePoint {
	var all []CurvePoint
	for i, v := range values {
		all = append(all, CurvePoint{AtS: float64(i), Value: v})
	}
	return all
}

// A long curve keeps its extremes and its gaps.
func TestThin(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = 100
	}
	values[333], values[700], values[901] = 500, 1, math.NaN()
	d := DeviceCurves{PowerW: readings(values...), CoreC: readings(40, 50)}
	d.Thin(50)
	if len(d.PowerW) > 75 || len(d.CoreC) != 2 {
		t.Errorf("%d and %d readings are left", len(d.PowerW), len(d.CoreC))
	}
	for _, want := range []float64{500, 1} {
		if !slices.ContainsFunc(d.PowerW, func(p CurvePoint) bool { return p.Value == want }) {
			t.Errorf("%v is lost", want)
		}
	}
	if !slices.ContainsFunc(d.PowerW, func(p CurvePoint) bool { return math.IsNaN(p.Value) }) {
		t.Error("the gap is lost")
	}
}

// Where a device is silent, the sum is not known; a device whose power is counted
// with another's is not counted twice.
func TestTogether(t *testing.T) {
	devices := []DeviceCurves{
		{Device: "a", PowerW: readings(100, 100, 100, 100), CoreC: readings(40, 40, 40, 60)},
		{Device: "b", PowerW: readings(200, math.NaN(), 200, 200), CoreC: readings(50, 50, 50, 50)},
		{Device: "a.1", PowerW: readings(100, 100, 100, 100), CoreC: readings(90, 90, 90, 90)},
	}
	pass := &results.Telemetry{GPUs: []results.GPUFigures{
		{Device: "a"}, {Device: "b"}, {Device: "a.1", CountedWith: "a"},
	}}
	watts, degrees := Together(pass, devices, 4)
	if got := []float64{watts[0].Value, watts[1].Value, watts[2].Value}; len(watts) != 3 ||
		!slices.Equal(got, []float64{300, 300, 300}) || watts[1].AtS < 1.5 {
		t.Errorf("power %v, want 300 W but in the second stretch", watts)
	}
	if len(degrees) != 4 || degrees[0].Value != 50 || degrees[3].Value != 60 {
		t.Errorf("hottest %v, want 50 to 60", degrees)
	}
	if watts, degrees := Together(nil, nil, 4); watts != nil || degrees != nil {
		t.Errorf("without devices %v, %v", watts, degrees)
	}
}
