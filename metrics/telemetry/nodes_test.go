package telemetry

import (
	"testing"

	"github.com/benchrig/bench/results"
)

// Energy of some of the GPUs is not that of the server.
func TestEnergyElsewhere(t *testing.T) {
	steady := results.GPUWindow{EnergyJ: new(1.0), PowerMeanW: new(1.0), BusyMean: new(0.5)}
	sum := results.GPUFigures{Pass: results.GPUWindow{EnergyJ: new(2.0), PowerMedianW: new(1.0)}, Steady: &steady}
	notAll(&sum, "")
	if sum.Pass.EnergyJ == nil {
		t.Error("notAll without a reason took the energy away")
	}
	notAll(&sum, "n2 is not sampled")
	for name, w := range map[string]results.GPUWindow{"pass": sum.Pass, "steady": steady} {
		if w.EnergyJ != nil || w.PowerMeanW != nil || w.PowerMedianW != nil || w.NoEnergy != "n2 is not sampled" {
			t.Errorf("%s = %+v, want no energy, no power and the reason", name, w)
		}
	}
	if steady.BusyMean == nil {
		t.Error("notAll took away more than power and energy")
	}
}
