package telemetry

import (
	"iter"

	"github.com/benchrig/bench/results"
)

// OfNode computes the figures of another host that took part in a pass, from the
// samples that carry its name.
func OfNode(samples iter.Seq[results.TelemetrySample], node WatchedNode, w Watched) results.NodeTelemetry {
	figures, _ := summarizeNode(samples, node, w)
	return figures
}

func summarizeNode(samples iter.Seq[results.TelemetrySample], node WatchedNode, w Watched) (results.NodeTelemetry,
	[]power,
) {
	w.Devices = node.Devices
	in := collect(ofNode(samples, node.Name), w)
	out := results.NodeTelemetry{Node: node.Name, Host: in.hostFigures(), GPUs: []results.GPUFigures{}}

	powers := powersOf(in, w)
	for i, d := range w.Devices {
		g := figuresOf(in.track(d.ID), powers[i], d, spansOf(w), w)
		for _, window := range []*results.GPUWindow{&g.Pass, g.Steady} {
			if window != nil && window.NoEnergy != "" {
				window.NoEnergy = "on " + node.Name + ": " + window.NoEnergy
			}
		}
		out.GPUs = append(out.GPUs, g)
	}
	return out, powers
}

// ofNode are the samples of one node; "" is that on which bench ran.
func ofNode(samples iter.Seq[results.TelemetrySample], node string) iter.Seq[results.TelemetrySample] {
	return func(yield func(results.TelemetrySample) bool) {
		for s := range samples {
			if s.Node == node && !yield(s) {
				return
			}
		}
	}
}

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
