package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAMDFacts(t *testing.T) {
	device := "sys/bus/pci/devices/0000:05:00.0/"
	root := tree(t, map[string]string{
		"opt/rocm/.info/version":               "6.4.1-83\n",
		device + "vbios_version":               "113-M3000100-102\n",
		device + "fw_version/smc_fw_version":   "0x00556700\n",
		device + "fw_version/uvd_fw_version":   "0x00000000\n",
		device + "hwmon/hwmon4/power1_cap":     "650000000\n",
		device + "hwmon/hwmon4/power1_cap_max": "750000000\n",
		device + "hwmon/hwmon4/power1_cap_min": "0\n",
	})
	box := Inventory{GPUs: []Device{{Vendor: AMD, PCI: "0000:05:00.0"}, {Index: 1, Vendor: AMD, PCI: "0000:06:00.0"}}}
	box.addFacts(root)
	want := &Facts{
		VBIOS: new("113-M3000100-102"), Firmware: map[string]string{"smc": "0x00556700"},
		PowerLimitW: new(650.0), PowerMaxW: new(750.0), PowerMinW: new(0.0),
	}
	if diff := cmp.Diff(want, box.GPUs[0].Facts); diff != "" {
		t.Errorf("facts differ (-want +got):\n%s", diff)
	}
	if box.GPUs[1].Facts != nil || box.ROCm == nil || *box.ROCm != "6.4.1-83" || len(box.Notes) != 0 {
		t.Errorf("inventory = %s", jsonText(t, box))
	}
}

func TestUnknownFactsAreNoted(t *testing.T) {
	box := Inventory{GPUs: []Device{{Vendor: NVIDIA, UUID: "GPU-1", Facts: &Facts{VBIOS: new("1")}}, {Vendor: AMD}}}
	box.addFacts(t.TempDir())
	want := []string{
		"GPU-1: not known: power limit, ecc, compute mode, persistence mode",
	}
	if diff := cmp.Diff(want, box.Notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
}

func TestSMIFacts(t *testing.T) {
	run := func(_ context.Context, argv []string) ([]byte, error) {
		switch {
		case len(argv) == 1:
			return []byte("| NVIDIA-SMI 590.48.01    Driver Version: 590.48.01    CUDA Version: 13.1     |\n"), nil
		case argv[1] == "-L":
			return []byte(capture(t, "nvidia-smi-h100-mig-590.48.01-L.txt")), nil
		case strings.HasPrefix(argv[1], "--query-gpu="):
			return []byte("index, vbios_version, compute_cap, enforced.power.limit [W], power.min_limit [W], ecc.mode.current, compute_mode, mig.mode.current, persistence_mode\n" +
				"0, 96.00.89.00.01, 9.0, 700.00 W, [N/A], Enabled, Exclusive_Process, Enabled, Disabled\n"), nil
		}
		return nil, errors.New("exit status 2")
	}
	devices := []Device{{Index: 0, Vendor: NVIDIA}}
	cuda := smiFacts(t.Context(), run, devices)
	if cuda == nil || *cuda != "13.1" {
		t.Errorf("CUDA = %v, want 13.1", jsonText(t, cuda))
	}
	want := &Facts{
		VBIOS: new("96.00.89.00.01"), Architecture: new("sm_90"), PowerLimitW: new(700.0), ECC: new(true),
		ComputeMode: new("exclusive-process"), MIG: new(true), Persistence: new(false),
	}
	if diff := cmp.Diff(want, devices[0].Facts); diff != "" {
		t.Errorf("facts differ (-want +got):\n%s", diff)
	}
	if parts := devices[0].Parts; len(parts) != 4 || parts[1].Name != "2g.20gb" || parts[1].Index != 1 || parts[1].UUID != "MIG-00000001-0000-0000-0000-000000000001" {
		t.Errorf("parts = %s", jsonText(t, parts))
	}
}

func TestParseSMIListComputeInstances(t *testing.T) {
	listed := parseSMIList([]byte(capture(t, "nvidia-smi-h200-mig-590.48.01-L.txt")))
	if len(listed) != 6 || listed[1].part == nil || listed[1].part.Name != "1c.3g.71gb" || listed[0].part != nil {
		t.Errorf("parseSMIList = %s", jsonText(t, listed))
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
