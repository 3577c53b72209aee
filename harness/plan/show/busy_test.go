package show

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
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
	if len(lines) != 2 || !strings.Contains(lines[0], "GPU 0 has 40.0 of 80.0 GiB in use, and a server asks for 90 %: it will be refused") ||
		!strings.HasPrefix(lines[1], "GPU 1 has 2.0 of 80.0 GiB in use; ") {
		t.Errorf("Busy = %q, want GPU 0 as refused and GPU 1 as in use", lines)
	}
	if lines := Busy(sc, p, devices, map[string]int64{"GPU-a": gib / 2}); lines != nil {
		t.Errorf("Busy = %q with what a driver holds, want nothing", lines)
	}
}
