package telemetry

import (
	"math"
	"slices"
	"strings"
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

// Memory, power and energy are those of all nodes of a server, also where GPUs have
// the same names, and a node that falls silent takes the energy away.
func TestSummarizeOverNodes(t *testing.T) {
	var samples []results.TelemetrySample
	read := func(node string, at, watts float64, bytes int64) {
		samples = append(samples, results.TelemetrySample{Node: node, AtS: at, GPU: &results.GPUReading{
			Device: "a", PowerW: &watts, PowerKind: "instant", VRAMUsedBytes: &bytes,
		}})
	}
	for at := -1.0; at <= 11; at++ {
		read("", at, 100, 10)
		read("n2", at, 300, 20)
		if at < 5 {
			read("n3", at, 1000, 40)
		}
	}
	half := &results.HostReading{CPUBusy: new(0.5)}
	samples = append(samples, results.TelemetrySample{Node: "n2", AtS: 5, Host: half})

	w := Watched{Devices: devices("a"), ToS: 10, Figures: &results.Figures{TotalOutputTokens: new(int64(1000))}}
	w.Nodes = []WatchedNode{{Name: "n2", Devices: devices("a")}}
	got := Summarize(slices.Values(samples), w)
	if got.Sum.Pass.EnergyJ == nil || math.Abs(*got.Sum.Pass.EnergyJ-4000) > 1e-6 || *got.Sum.VRAMPeak != 30 ||
		math.Abs(*got.Efficiency.JPerOutputToken-4) > 1e-9 {
		t.Errorf("sum = %+v, want 4000 J, 30 bytes and 4 J a token", got.Sum)
	}
	if len(got.GPUs) != 1 || *got.GPUs[0].Pass.EnergyJ != 1000 || got.Host != nil {
		t.Errorf("this node = %+v, host %v, want its own GPU alone with 1000 J, and no host", got.GPUs, got.Host)
	}
	if n := got.Nodes[0]; n.Node != "n2" || *n.GPUs[0].Pass.EnergyJ != 3000 || *n.Host.CPUBusyMean != 0.5 {
		t.Errorf("n2 = %+v, want 3000 J and a host that is half busy", n)
	}

	w.Nodes = append(w.Nodes, WatchedNode{Name: "n3", Devices: devices("a")})
	got = Summarize(slices.Values(samples), w)
	if why := got.Sum.Pass.NoEnergy; got.Sum.Pass.EnergyJ != nil || !strings.Contains(why, "on n3: ") {
		t.Errorf("with a silent node: energy %v, %q, want none and the node's name", got.Sum.Pass.EnergyJ, why)
	}
}
