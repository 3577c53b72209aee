package nvidia

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

func TestSMIFacts(t *testing.T) {
	run := func(_ context.Context, argv []string) ([]byte, error) {
		switch {
		case len(argv) == 1:
			return []byte("| NVIDIA-SMI 590.48.01    Driver Version: 590.48.01    CUDA Version: 13.1     |\n"), nil
		case argv[1] == "-L":
			return []byte(capture(t, "nvidia-smi-h100-mig-590.48.01-L.txt")), nil
		case strings.HasPrefix(argv[1], "--query-gpu="):
			return []byte("index, vbios_version, compute_cap, enforced.power.limit [W], power.min_limit [W], " +
				"ecc.mode.current, compute_mode, mig.mode.current, persistence_mode\n" +
				"0, 96.00.89.00.01, 9.0, 700.00 W, [N/A], Enabled, Exclusive_Process, Enabled, Disabled\n"), nil
		}
		return nil, errors.New("exit status 2")
	}
	devices := []device.Device{{Index: 0, Vendor: device.NVIDIA}}
	cuda := AddSMIFacts(t.Context(), run, devices)
	if cuda == nil || *cuda != "13.1" {
		t.Errorf("CUDA = %v, want 13.1", fakegpu.JSON(t, cuda))
	}
	want := &device.Facts{
		VBIOS: new("96.00.89.00.01"), Architecture: new("sm_90"), PowerLimitW: new(700.0), ECC: new(true),
		ComputeMode: new("exclusive-process"), MIG: new(true), Persistence: new(false),
	}
	if diff := cmp.Diff(want, devices[0].Facts); diff != "" {
		t.Errorf("facts differ (-want +got):\n%s", diff)
	}
	if parts := devices[0].Parts; len(parts) != 4 || parts[1].Name != "2g.20gb" || parts[1].Index != 1 ||
		parts[1].UUID != "MIG-00000001-0000-0000-0000-000000000001" {
		t.Errorf("parts = %s", fakegpu.JSON(t, parts))
	}
}

func TestParseSMIListComputeInstances(t *testing.T) {
	listed := parseSMIList([]byte(capture(t, "nvidia-smi-h200-mig-590.48.01-L.txt")))
	if len(listed) != 6 || listed[1].part == nil || listed[1].part.Name != "1c.3g.71gb" || listed[0].part != nil {
		t.Errorf("parseSMIList = %s", fakegpu.JSON(t, listed))
	}
}

func FuzzSMIList(f *testing.F) {
	f.Add([]byte("GPU 0: NVIDIA H100 (UUID: GPU-0)\n  MIG 3g.40gb     Device  0: (UUID: MIG-0)\n"))
	f.Add([]byte("MIG 3g.40gb     Device  0: (UUID: MIG-0)\nGPU 99999999999999999999: x (UUID: GPU-1)"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range parseSMIList(text) {
			if l.uuid == "" || l.part != nil && l.gpu < 0 {
				t.Errorf("listed %+v", l)
			}
		}
	})
}
