package telemetry

import "github.com/benchrig/bench/results"

// notAll takes power and energy out of sums that are not those of all the GPUs
// that did the work.
func notAll(sum *results.GPUFigures, why string) {
	if why == "" {
		return
	}
	for _, w := range []*results.GPUWindow{&sum.Pass, sum.Steady} {
		if w != nil {
			w.NoEnergy = why
			w.EnergyJ, w.AboveIdleJ, w.CounterJ, w.Disagreement = nil, nil, nil, nil
			w.PowerMeanW, w.PowerMedianW, w.PowerMaxW = nil, nil, nil
		}
	}
}
