package telemetry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
)

func TestOfComponents(t *testing.T) {
	t.Parallel()
	gpu := func(index int, peak int64, watts *float64) results.GPUFigures {
		return results.GPUFigures{Index: index, VRAMPeak: &peak, Pass: results.GPUWindow{PowerMeanW: watts}}
	}
	servers := []results.Server{
		{Component: "prefill", GPUs: []int{0}, Counters: map[string]float64{"output_tokens_total": 4, "other": 1}},
		{Component: "prefill", GPUs: []int{1}, Counters: map[string]float64{"output_tokens_total": 3}},
		{Component: "decode", GPUs: []int{2}, Counters: map[string]float64{"output_tokens_total": 100}},
		{Component: "far", GPUs: []int{7}},
		{Component: "router", Counters: nil},
		{Component: "spread", GPUs: []int{2}},
		{Component: "spread", GPUs: []int{2}, Node: "n2"},
	}
	got := telemetry.OfComponents(servers, &results.Telemetry{GPUs: []results.GPUFigures{
		gpu(0, 10, new(100.0)), gpu(1, 20, new(150.0)), gpu(2, 30, nil),
	}, Nodes: []results.NodeTelemetry{{Node: "n2", GPUs: []results.GPUFigures{gpu(2, 5, nil), gpu(3, 7, nil)}}}})
	want := []results.ComponentFigures{
		{
			Component: "prefill", Servers: 2, GPUs: []int{0, 1}, VRAMPeak: new(int64(30)), PowerMeanW: new(250.0),
			Counters: map[string]float64{"output_tokens_total": 7},
		},
		{
			Component: "decode", Servers: 1, GPUs: []int{2}, VRAMPeak: new(int64(30)),
			Counters: map[string]float64{"output_tokens_total": 100},
		},
		{Component: "far", Servers: 1, GPUs: []int{7}, Counters: map[string]float64{}},
		{Component: "router", Servers: 1, GPUs: []int{}, Counters: map[string]float64{}},
		{
			Component: "spread", Servers: 2, GPUs: []int{2, 2}, Nodes: []string{"n2"}, VRAMPeak: new(int64(35)),
			Counters: map[string]float64{},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components differ (-want +got):\n%s", diff)
	}
	if got := telemetry.OfComponents([]results.Server{{GPUs: []int{0}}}, nil); got != nil {
		t.Errorf("OfComponents() of a whole server = %v, want none", got)
	}
}
