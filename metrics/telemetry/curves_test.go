package telemetry

import (
	"math"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestCurveSet(t *testing.T) {
	var set CurveSet
	set.Add(&results.TelemetrySample{AtS: 1, Host: &results.HostReading{}})
	for i := range 20 {
		if i > 7 && i < 13 {
			continue // no reading for six seconds
		}
		set.Add(&results.TelemetrySample{AtS: float64(i), GPU: &results.GPUReading{
			Device: "b",
			PowerW: new(100.0 + float64(i)), EdgeC: new(40.0),
		}})
	}
	set.Add(&results.TelemetrySample{AtS: 3, GPU: &results.GPUReading{Device: "a", VRAMUsedBytes: new(int64(7))}})
	got := set.Devices()
	if len(got) != 2 || got[0].Device != "a" || got[1].Device != "b" {
		t.Fatalf("Devices() = %v", got)
	}
	if len(got[0].VRAMBytes) != 1 || got[0].VRAMBytes[0] != (CurvePoint{3, 7}) || got[0].PowerW != nil {
		t.Errorf("a: %+v", got[0])
	}
	power := got[1].PowerW
	if len(power) != 16 || !math.IsNaN(power[8].Value) || power[8].AtS != 10 || power[9] != (CurvePoint{13, 113}) {
		t.Errorf("b: power %v, want a gap between 7 and 13 s", power)
	}
	if len(got[1].CoreC) != 16 || got[1].VRAMBytes != nil {
		t.Errorf("b: core %v, VRAM %v", got[1].CoreC, got[1].VRAMBytes)
	}
}

// A quantity that some readings lack has gaps there, though others came.
func TestCurveOfMissingReadings(t *testing.T) {
	var set CurveSet
	for i := range 20 {
		r := &results.GPUReading{Device: "a", PowerW: new(1.0)}
		if i < 5 || i >= 15 {
			r.VRAMUsedBytes = new(int64(i))
		}
		set.Add(&results.TelemetrySample{AtS: float64(i), GPU: r})
	}
	gaps := 0
	for _, p := range set.Devices()[0].VRAMBytes {
		if math.IsNaN(p.Value) {
			gaps++
		}
	}
	if gaps != 1 {
		t.Errorf("%d gaps, want 1", gaps)
	}
	if got := new(CurveSet).Devices(); got != nil {
		t.Errorf("Devices() of no sample = %v", got)
	}
}
