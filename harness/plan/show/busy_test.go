package show

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func TestBusy(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	devices := []device.Device{
		{Vendor: device.NVIDIA, UUID: "GPU-a", VRAMBytes: new(int64(80 * gib))},
		{Vendor: device.NVIDIA, Index: 1, UUID: "GPU-b", VRAMBytes: new(int64(80 * gib))},
		{Vendor: device.NVIDIA, Index: 2, UUID: "GPU-c", VRAMBytes: new(int64(80 * gib))},
	}
	sc := &scenarios.Scenario{Variants: []scenarios.Variant{{Name: "v", Server: scenarios.Server{Launcher: "vllm"}}}}
	p := &plan.Plan{Lives: []plan.Life{{Variant: "v", Servers: []plan.PlannedServer{{GPUs: []int{0, 1}}}}}}

	used := map[string]int64{"GPU-a": 40 * gib, "GPU-b": 2 * gib, "GPU-c": 70 * gib}
	lines := Busy(sc, p, devices, used)
	if len(lines) != 2 || !strings.Contains(lines[0],
		"GPU 0 has 40.0 of 80.0 GiB in use, and a server requests 90 %: it cannot start") ||
		!strings.HasPrefix(lines[1], "GPU 1 has 2.0 of 80.0 GiB in use; ") {
		t.Errorf("Busy = %q, want GPU 0 as refused and GPU 1 as in use", lines)
	}
	if lines := Busy(sc, p, devices, map[string]int64{"GPU-a": gib / 2}); lines != nil {
		t.Errorf("Busy = %q with what a driver holds, want nothing", lines)
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	sc := &scenarios.Scenario{
		RunDeadline: time.Hour, StepDeadline: 10 * time.Minute,
		Points: []scenarios.Load{{Label: "c8"}},
	}
	p := &plan.Plan{LeastS: 3599, Lives: []plan.Life{{Steps: []plan.Step{{StepRef: results.StepRef{
		Variant: "v",
		Point:   "c1",
	}, EstimateS: 600}}}}}
	if lines := deadlines(sc, p); lines != nil {
		t.Errorf("deadlines that suffice: %q, want nothing", lines)
	}

	p.LeastS, p.Lives[0].Steps[0].EstimateS, sc.Points[0].Duration = 7200, 900, 20*time.Minute
	want := []string{
		"the run takes about 2h0m0s, but deadlines.run is 1h0m0s", "v c1 (about 15m0s)",
		"point c8 sends for 20m0s, but deadlines.step is 10m0s",
	}
	lines := deadlines(sc, p)
	if len(lines) != len(want) {
		t.Fatalf("deadlines = %q, want %d lines", lines, len(want))
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("line %q, want %q in it", lines[i], want[i])
		}
	}
}
